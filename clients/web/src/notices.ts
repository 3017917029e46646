/** What the page has to say for a moment. */

import type { BanqiError } from "banqi-client";
import { signal } from "@preact/signals";

import type { Key } from "./text";

/** A text, and what goes into it. */
export interface Notice {
  readonly key: Key;
  readonly values?: Readonly<Record<string, string>>;
}

/** How long it is shown, in milliseconds. */
const SHOWN = 8_000;

/** What is said now. */
export const notice = signal<Notice | undefined>(undefined);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Says something for a while. */
export function tell(said: Notice): void {
  notice.value = said;
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = undefined;
  }, SHOWN);
}

/** What is to be said of an error. */
export function told(error: BanqiError): Notice {
  switch (error.reason) {
    case "GAME_NOT_FOUND":
      return { key: "noSuchGame" };
    case "SPECTATORS_HIDDEN":
      return { key: "hidden" };
    case "SEAT_TAKEN":
    case "NO_SEAT_OPEN":
      return { key: "seatTaken" };
    case "SEAT_TOKEN_WRONG":
      return { key: "tokenWrong" };
    case "HISTORY_LOST":
      return { key: "historyLost" };
    case "REMATCH_OVER":
      return { key: "rematchOver" };
    case "DRAW_OFFER_SPENT":
    case "TAKEBACK_SPENT":
    case "NOTHING_TO_TAKE_BACK":
    case "TAKEBACK_REVEALED":
    case "TAKEBACK_SEAT_OUT":
    case "TAKEBACK_LIMIT":
      return { key: "notNow" };
    default:
      return { key: "failed", values: { message: error.rawMessage } };
  }
}
