/** Watches that outlive their streams. */

import type { Client } from "@connectrpc/connect";

import { backoff } from "./client.js";
import { BanqiError } from "./errors.js";
import type { Game, LogEntry } from "./generated/banqi/v1/game_pb.js";
import type { GameService, SeatPresence } from "./generated/banqi/v1/game_service_pb.js";
import { pause } from "./pause.js";

/** What a watch tells. */
export type Watched =
  /** How the game stands: the first thing that is told, and again where the store lost what was told before. */
  | { readonly kind: "snapshot"; readonly game: Game; readonly historyLost: boolean }
  /** One revision, each once and in order. */
  | { readonly kind: "event"; readonly entry: LogEntry; readonly game: Game }
  /** Which seats are present. */
  | { readonly kind: "presence"; readonly seats: readonly SeatPresence[] };

/** How to watch. */
export interface WatchOptions {
  /** The token of a seat: the seat is present while it watches. */
  readonly seatToken?: string | undefined;
  /** Where to go on, if something was watched before. */
  readonly afterEtag?: string;
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined;
  /** Is told when the stream broke and a new one is tried, and when it stands again. */
  readonly onConnection?: (state: "lost" | "up", error?: BanqiError) => void;
}

/** For so long a stream may say nothing; the service does every 15 seconds. */
const SILENCE = 40_000;

/**
 * Tells every change of a game, over as many streams as it takes: the caller notices nothing of a replica that
 * dies. Ends some time after the game has, or by the signal.
 *
 * @throws BanqiError of what trying again does not change, like GAME_NOT_FOUND.
 */
export async function* watchGame(
  games: Client<typeof GameService>,
  gameId: string,
  options: WatchOptions = {},
): AsyncGenerator<Watched, void, undefined> {
  const request = { gameId, afterEtag: options.afterEtag ?? "", seatToken: options.seatToken ?? "" };
  for (let failures = 0; !options.signal?.aborted; ) {
    const silence = new Silence(options.signal);
    try {
      for await (const { message } of games.watchGame(request, { signal: silence.signal })) {
        silence.pause();
        failures = 0;
        options.onConnection?.("up");
        switch (message.case) {
          case "snapshot": {
            const { game, historyLost } = message.value;
            if (game) {
              request.afterEtag = game.etag;
              yield { kind: "snapshot", game, historyLost };
            }
            break;
          }
          case "event": {
            const { entry, game } = message.value;
            if (entry && game) {
              request.afterEtag = entry.etag;
              yield { kind: "event", entry, game };
            }
            break;
          }
          case "presence":
            yield { kind: "presence", seats: message.value.seats };
            break;
          default:
            break;
        }
        silence.listen();
      }
      // A stream that goes on elsewhere ends with an error.
      return;
    } catch (thrown) {
      const error = BanqiError.from(thrown);
      if (options.signal?.aborted) {
        return;
      }
      if (!error.isTransient && !silence.signal.aborted) {
        throw error;
      }
      if (error.reason !== "STREAM_EXPIRED") {
        options.onConnection?.("lost", error);
      }
      await pause(error.retryDelay ?? backoff(failures), options.signal);
      failures += 1;
    } finally {
      silence.end();
    }
  }
}

/** Gives a signal when nothing was heard for too long, or when the outer one is given. */
class Silence {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #abort = (): void => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    outer?.addEventListener("abort", this.#abort);
    this.listen();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something is expected from now on. */
  listen(): void {
    this.#timer = setTimeout(this.#abort, SILENCE);
  }

  /** Something was heard; how long it takes to be dealt with does not count. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
    this.#abort();
  }
}
