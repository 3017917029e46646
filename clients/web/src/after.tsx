/** How a game ended, whether its deal was fair, and the rematch. */

import type { Fault, Game } from "banqi-client";
import { BanqiError, EndReason, verifyDeal } from "banqi-client";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Question } from "./actions";
import { ending, why } from "./ending";
import { fromHex } from "./hexadecimal";
import { notice, tell, told } from "./notices";
import { gameLink } from "./routes";
import { seatName } from "./seats";
import { service } from "./service";
import type { Session } from "./session";
import type { Key } from "./text";
import { t } from "./text";

export function After({ session }: { session: Session }): JSX.Element | null {
  const game = session.game.value;
  if (!game?.result) {
    return null;
  }
  const calledOff = game.result.reason === EndReason.ABORTED;
  return (
    <section class="after">
      <h2>{ending(session, game)}</h2>
      {calledOff ? null : <p>{why(game.result.reason)}</p>}
      <Rematch session={session} game={game} />
      {game.commitment.length > 0 && session.records.value.length > 0 ? <Fairness session={session} game={game} /> : null}
      {calledOff ? <a href="#/">{t("home")}</a> : null}
    </section>
  );
}

/** How often a rematch that is asked for is looked at, in milliseconds. */
const LOOK = 5_000;

function Rematch({ session, game }: { session: Session; game: Game }): JSX.Element {
  const [over, setOver] = useState(false);
  const next = game.rematchGameId;
  const plays = session.seats.value.length > 0;
  const declined = session.kept.value.declined;
  useEffect(() => {
    if (!next || !plays || declined || over) {
      return undefined;
    }
    // Who asked may take it back.
    const look = setInterval(() => void session.isOver(next).then((is) => is && setOver(true)), LOOK);
    return () => clearInterval(look);
  }, [next, plays, declined, over]);
  const ask = async (): Promise<void> => {
    const id = await session.rematch();
    if (id !== undefined) {
      location.hash = gameLink(id);
    } else if (notice.value?.key === "rematchOver") {
      setOver(true);
    }
  };
  // Who never came is not asked again; and a game has one rematch.
  if (game.seats.some(({ joined }) => !joined)) {
    return <></>;
  }
  if (over || (next && declined)) {
    return (
      <p>
        {t(over ? "rematchOver" : "rematchDeclined")} <a href="#/">{t("home")}</a>
      </p>
    );
  }
  if (next && !plays) {
    return (
      <p>
        <a href={`#${gameLink(next)}`}>{t("rematchWatch")}</a>
      </p>
    );
  }
  if (next) {
    return (
      <Question
        text={t("rematchQuestion", { name: others(session, game) })}
        busy={session.busy.value}
        onAnswer={(accept) => void (accept ? ask() : session.declineRematch())}
      />
    );
  }
  return plays ? (
    <button type="button" class="main" disabled={session.busy.value} onClick={() => void ask()}>
      {t("rematch")}
    </button>
  ) : (
    <></>
  );
}

function others(session: Session, game: Game): string {
  const names = game.seats.filter(({ number }) => !session.seats.value.includes(number));
  return names.map(({ number }) => seatName(game, number)).join(", ");
}

function Fairness({ session, game }: { session: Session; game: Game }): JSX.Element {
  const [faults, setFaults] = useState<readonly Fault[] | undefined>(undefined);
  const kept = session.kept.value;
  const check = async (): Promise<void> => {
    try {
      const proof = await service.games.getFairnessProof({ gameId: game.gameId });
      const entropies = Object.entries(kept.entropies).map(([seat, bytes]) => [Number(seat), fromHex(bytes)] as const);
      const records = session.records.value.map(({ text }) => text);
      setFaults(
        verifyDeal(
          { gameId: game.gameId, ...proof },
          { commitment: fromHex(kept.commitment), entropies: new Map(entropies), records },
        ),
      );
    } catch (thrown) {
      tell(told(BanqiError.from(thrown)));
    }
  };
  if (!faults) {
    return (
      <button type="button" onClick={() => void check()}>
        {t("verify")}
      </button>
    );
  }
  if (faults.includes("UNPROVEN")) {
    return <p>{t("verifyUnproven")}</p>;
  }
  const line = (text: Key, holds: boolean): JSX.Element => (
    <li class={holds ? "holds" : "fails"}>
      <span aria-hidden="true">{holds ? "✓" : "✗"}</span> {t(text)}
    </li>
  );
  const none = (...kinds: Fault[]): boolean => !kinds.some((kind) => faults.includes(kind));
  return (
    <div class="fairness" role="status">
      <p>
        <b>{t(faults.length === 0 ? "verified" : "verifyFailed")}</b>
      </p>
      <ul>
        {line("verifyCommitted", none("COMMITMENT", "KEPT_COMMITMENT", "DEAL"))}
        {Object.keys(kept.entropies).length > 0 ? line("verifyEntropy", none("ENTROPY")) : null}
        {line("verifyTurnedUp", none("TURNED_UP"))}
      </ul>
    </div>
  );
}
