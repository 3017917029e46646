/** What has been played, in words and as a record to copy. */

import type { ActionRecord } from "banqi-client";
import { BanqiError, ExportFormat, RecordKind } from "banqi-client";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { copy } from "./copying";
import { lastLine } from "./ending";
import { pieceName, squareName } from "./names";
import { tell, told } from "./notices";
import { service } from "./service";
import type { Session } from "./session";
import { t } from "./text";

/** What an action did, in words. */
export function inWords(record: ActionRecord): string {
  const square = (number: number): string => squareName(number - 1);
  const [from, to] = [square(record.from), square(record.to)];
  const by = record.piece ? pieceName(record.piece) : "";
  const hit = record.captured ?? record.turnedUp;
  const piece = hit ? pieceName(hit) : "";
  switch (record.kind) {
    case RecordKind.FLIP:
      return t("flipped", { square: from, piece });
    case RecordKind.MOVE:
      return t("moved", { piece: by, from, to });
    case RecordKind.CAPTURE:
      return t("captures", { by, piece, from, to });
    case RecordKind.PROBE:
      return t("probed", { by, piece, from, to });
    case RecordKind.TRADE:
      return t("traded", { by, piece, from, to });
    case RecordKind.BOTH_REMOVED:
      return t("bothRemoved", { by, piece, from, to });
    default:
      return t("chainEnded");
  }
}

export function Record({ session }: { session: Session }): JSX.Element {
  const records = session.records.value;
  const game = session.game.value;
  const end = game?.result ? lastLine(game) : undefined;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [records.length, end]);
  const copyRecord = async (): Promise<void> => {
    try {
      const request = { gameId: session.id, format: ExportFormat.RECORD };
      const { text } = await service.games.exportGame(request, session.credentials);
      await copy(text);
    } catch (thrown) {
      tell(told(BanqiError.from(thrown)));
    }
  };
  return (
    <details class="record" open>
      <summary>{t("record")}</summary>
      {records.length === 0 && end === undefined ? (
        <p class="none">{t("recordEmpty")}</p>
      ) : (
        <ol ref={list} tabIndex={0} aria-label={t("record")}>
          {records.map((record, number) => (
            <li key={number}>
              <span class="turn">{record.turnNumber}.</span> <code>{record.text}</code> <span>{inWords(record)}</span>
            </li>
          ))}
          {end === undefined ? null : <li class="end">{end}</li>}
        </ol>
      )}
      <button type="button" onClick={() => void copyRecord()}>
        {t("copyRecord")}
      </button>
    </details>
  );
}
