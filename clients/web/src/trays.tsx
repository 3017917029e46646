/** What was captured, and what is still face down. */

import type { PieceCount } from "banqi-client";
import type { JSX } from "preact";

import { pieceName } from "./names";
import { FaceUp } from "./piece";
import type { Session } from "./session";
import type { Key } from "./text";
import { t } from "./text";

export function Trays({ session }: { session: Session }): JSX.Element | null {
  const position = session.game.value?.position;
  return position ? (
    <div class="trays">
      <Tray title="taken" counts={position.captured} />
      <Tray title="stillHidden" counts={position.faceDown} />
    </div>
  ) : null;
}

function Tray({ title, counts }: { title: Key; counts: readonly PieceCount[] }): JSX.Element {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class={`tray ${title}`} aria-label={t(title)}>
      <h2>
        {t(title)} <small>{all}</small>
      </h2>
      {all === 0 ? (
        <p class="none">{t("nothing")}</p>
      ) : (
        // A row for each colour.
        [...new Set(counts.map(({ piece }) => piece?.colour))].map((colour) => (
          <ul key={colour}>
            {counts.map(({ piece, count }) =>
              piece && piece.colour === colour ? (
                <li key={piece.kind}>
                  <FaceUp piece={piece} />
                  <span class="hidden">{pieceName(piece)}</span>
                  {count > 1 ? <small>×{count}</small> : <span class="hidden"> ×1</span>}
                </li>
              ) : null,
            )}
          </ul>
        ))
      )}
    </section>
  );
}
