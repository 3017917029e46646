/** Who plays, with their clocks. */

import type { Colour, Game } from "banqi-client";
import { GameState } from "banqi-client";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { shown, written } from "./clock";
import { colourName } from "./names";
import type { Session } from "./session";
import type { Key } from "./text";
import { t } from "./text";

/** What a seat is called. */
export function seatName(game: Game, seat: number): string {
  const name = game.seats[seat - 1]?.playerId;
  // Isolated, so that a name in another direction does not turn the text around it.
  return name ? `\u2068${name}\u2069` : t("seat", { number: seat });
}

export function Seats({ session }: { session: Session }): JSX.Element | null {
  const game = session.game.value;
  const [, tick] = useState(0);
  const runs = game?.deadline !== undefined;
  useEffect(() => {
    if (runs) {
      const timer = setInterval(() => tick((count) => count + 1), 100);
      return () => clearInterval(timer);
    }
    return undefined;
  }, [runs]);
  if (!game) {
    return null;
  }
  const toMove = game.state === GameState.ACTIVE ? game.position?.toMove : undefined;
  return (
    <ul class="seats">
      {game.seats.map((seat) => {
        const mine = session.seats.value.includes(seat.number);
        // Without a connection nobody knows of the others.
        const here = mine || (session.connection.value !== "lost" && session.present.value.has(seat.number));
        const place = game.result?.placements.find((placement) => placement.seat === seat.number)?.place;
        return (
          <li key={seat.number} class={toMove === seat.number ? "to-move" : ""} aria-current={toMove === seat.number}>
            <span class={`presence ${here ? "here" : ""}`} role="img" aria-label={t(here ? "present" : "absent")} />
            <span class="name">
              {seatName(game, seat.number)}
              {mine && session.seats.value.length < game.seats.length ? <small> ({t("you")})</small> : null}
            </span>
            <span class="colours">
              {seat.colours.length === 0 ? (
                <small>{t("noColour")}</small>
              ) : (
                <Swatches colours={seat.colours} />
              )}
              {seat.out ? <small class="departure"> {departure(game, seat.number)}</small> : null}
              {place === undefined || game.seats.length === 2 ? null : <b class="place"> {t("place", { number: place })}</b>}
            </span>
            <Clock session={session} game={game} seat={seat.number} />
          </li>
        );
      })}
    </ul>
  );
}

/** That a seat is out, and why. */
function departure(game: Game, seat: number): string {
  const reason = game.departures.find((departure) => departure.seat === seat)?.reason;
  return reason === undefined ? t("out") : t("outBecause", { reason: t(`reason${reason}` as Key) });
}

/** The colours of a seat. */
export function Swatches({ colours }: { colours: readonly Colour[] }): JSX.Element {
  return (
    <>
      {colours.map((colour) => (
        <span key={colour} class={`swatch colour-${colour}`}>
          {colourName(colour)}
        </span>
      ))}
    </>
  );
}

function Clock({ session, game, seat }: { session: Session; game: Game; seat: number }): JSX.Element | null {
  const clock = game.clocks.find((clock) => clock.seat === seat);
  if (!clock) {
    return null;
  }
  const { left, periods } = shown(game, clock, Date.now() + session.ahead);
  if (left === undefined) {
    return null;
  }
  return (
    <span class={`clock ${clock.running ? "running" : ""} ${left < 10_000 ? "short" : ""}`} role="timer" aria-label={t("timeLeft")}>
      {written(left)}
      {periods > 0 ? <small title={t("periods", { count: periods })}> ×{periods}</small> : null}
    </span>
  );
}
