/** What the page has to say for a moment. */

import type { BanqiError } from "banqi-client";
import { Code } from "banqi-client";
import { signal } from "@preact/signals";

import type { Key } from "./text";

/** A text, and what goes into it. */
export interface Notice {
  readonly key: Key;
  readonly values?: Readonly<Record<string, string>>;
  /** Whether it holds only until something happens in the game. */
  readonly passes?: boolean;
}

/** How long it is shown, in milliseconds. */
const SHOWN = 8_000;

/** What is said now, with a number that no other has, so that the same words are heard again. */
export const notice = signal<(Notice & { readonly number: number }) | undefined>(undefined);

let count = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says something for a while. */
export function tell(said: Notice): void {
  count += 1;
  notice.value = { ...said, number: count };
  clearTimeout(timer);
  timer = setTimeout(() => {
    notice.value = undefined;
  }, SHOWN);
}

/** Says nothing more; of what holds until something happens, unless all is meant. */
export function hush(all: boolean): void {
  if (all || notice.value?.passes) {
    notice.value = undefined;
  }
}

/** What the page has words of its own for, by what it says. */
const WORDS: readonly { readonly key: Key; readonly reasons: readonly string[] }[] = [
  { key: "noSuchGame", reasons: ["GAME_NOT_FOUND"] },
  { key: "hidden", reasons: ["SPECTATORS_HIDDEN"] },
  { key: "seatTaken", reasons: ["SEAT_TAKEN", "SEAT_RESERVED", "NO_SEAT_OPEN"] },
  { key: "nameTaken", reasons: ["ALREADY_SEATED"] },
  { key: "tokenWrong", reasons: ["SEAT_TOKEN_WRONG", "SEAT_TOKEN_MISSING"] },
  { key: "historyLost", reasons: ["HISTORY_LOST"] },
  { key: "rematchOver", reasons: ["REMATCH_OVER"] },
  { key: "notNow", reasons: ["DRAW_OFFER_SPENT", "TAKEBACK_SPENT"] },
  { key: "noTakeback", reasons: ["NOTHING_TO_TAKE_BACK", "TAKEBACK_REVEALED", "TAKEBACK_SEAT_OUT", "TAKEBACK_LIMIT"] },
  { key: "abortTooLate", reasons: ["ABORT_TOO_LATE"] },
  { key: "gameOver", reasons: ["GAME_OVER"] },
  {
    // Another tab, or the other side, was faster.
    key: "changed",
    reasons: [
      "ETAG_MISMATCH",
      "CONTENTION",
      "NOT_YOUR_TURN",
      "GAME_NOT_STARTED",
      "GAME_NOT_OVER",
      "SEAT_OUT",
      "SEAT_NOT_JOINED",
      "DEAL_FIXED",
      "DRAW_OFFER_PENDING",
      "NO_DRAW_OFFER",
      "TAKEBACK_PENDING",
      "NO_TAKEBACK_REQUEST",
      "OWN_OFFER",
      "OFFER_ANSWERED",
    ],
  },
  {
    key: "illegal",
    reasons: [
      "OFF_BOARD",
      "COLOURS_NOT_SET",
      "NOT_FACE_DOWN",
      "EMPTY_SQUARE",
      "FACE_DOWN_PIECE",
      "NOT_YOUR_PIECE",
      "OWN_PIECE",
      "OUT_OF_REACH",
      "RANK_TOO_LOW",
      "FACE_DOWN_TARGET",
      "CHAIN_PIECE",
      "CHAIN_NEEDS_CAPTURE",
      "NO_CHAIN",
      "CHASE_LIMIT",
    ],
  },
  { key: "apiKey", reasons: ["API_KEY_MISSING"] },
  { key: "apiKeyWrong", reasons: ["API_KEY_WRONG", "CREDENTIALS_MALFORMED"] },
  { key: "keyTooLow", reasons: ["ROLE_TOO_LOW"] },
  { key: "broken", reasons: ["RECORD_BROKEN"] },
  { key: "tooMany", reasons: ["RATE_LIMITED", "TOO_MANY_STREAMS"] },
  {
    key: "unavailable",
    reasons: ["STORE_UNAVAILABLE", "OVERLOADED", "SHUTTING_DOWN", "DEADLINE_EXCEEDED", "RECORD_NEWER", "RECORD_SEALED"],
  },
];

/** What is to be said of an error, in the language of the page. What it cannot bring about has its name alone. */
export function told(error: BanqiError): Notice {
  const found = WORDS.find(({ reasons }) => reasons.includes(error.reason));
  if (found) {
    return { key: found.key };
  }
  if (error.isTransient) {
    return { key: "unavailable" };
  }
  return { key: "failed", values: { reason: error.reason || Code[error.code] } };
}
