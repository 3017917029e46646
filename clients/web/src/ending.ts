/** How games end, in sentences. */

import type { Game } from "banqi-client";
import { EndReason } from "banqi-client";

import { seatName } from "./seats";
import type { Session } from "./session";
import type { Key } from "./text";
import { t } from "./text";

/** Reasons that are of one seat, the one that lost by them. */
const OF_THE_LOSER: readonly EndReason[] = [
  EndReason.NO_LEGAL_TURN,
  EndReason.PERPETUAL_ATTACK,
  EndReason.RESIGNATION,
  EndReason.TIMEOUT,
  EndReason.ABANDONED,
];

/** How a game ended, in a sentence, to whoever looks at it here. */
export function ending(session: Session, game: Game): string {
  const winners = game.result?.winners ?? [];
  const mine = session.seats.value;
  const by = session.calledOffBy.value;
  if (game.series && game.result?.reason === EndReason.ABORTED && by > 0 && session.records.value.length === 0) {
    return mine.includes(by) ? t("rematchWithdrawn") : t("rematchDeclinedBy", { name: seatName(game, by) });
  }
  if (winners.length > 0 && mine.length > 0 && mine.length < game.seats.length) {
    return t(winners.some((seat) => mine.includes(seat)) ? "won" : "lost");
  }
  return outcome(game);
}

/** How a game ended, in a sentence, to anyone. */
function outcome(game: Game): string {
  const winners = game.result?.winners ?? [];
  if (game.result?.reason === EndReason.ABORTED) {
    return t("aborted");
  }
  return winners.length === 0 ? t("draw") : t("wonBy", { name: winners.map((seat) => seatName(game, seat)).join(", ") });
}

/** The last line of a record: why the game ended, and how. */
export function lastLine(game: Game): string {
  const reason = game.result?.reason ?? EndReason.UNSPECIFIED;
  if (reason === EndReason.ABORTED) {
    return outcome(game);
  }
  const losers = game.seats.filter(({ number }) => !game.result?.winners.includes(number));
  const who = losers.length === 1 && losers[0] && OF_THE_LOSER.includes(reason) ? `${seatName(game, losers[0].number)}: ` : "";
  return `${who}${why(reason)} – ${outcome(game)}`;
}

/** Why a game ended, or a seat went out of it. */
export function why(reason: EndReason): string {
  return t(`reason${reason}` as Key);
}
