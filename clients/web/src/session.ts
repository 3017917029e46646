/** One game as this browser sees and plays it. */

import type { ActionRecord, Game, LogEntry, PlayActionRequest } from "banqi-client";
import { BanqiError, EndReason, GameState, GameView, randomBytes, SeatClaim, watchGame } from "banqi-client";
import { computed, signal } from "@preact/signals";

import { toHex } from "./hexadecimal";
import { after, ofLog } from "./history";
import type { KeptGame } from "./keeping";
import { keepGame, keptGame, UNKNOWN } from "./keeping";
import { told, tell } from "./notices";
import { seatName } from "./seats";
import { service } from "./service";

/** Whether the watch stands. */
export type Connection = "connecting" | "up" | "lost";

/** How long to wait before a game that is over is watched again, in milliseconds. */
const AFTER_THE_END = 5_000;

/** A game, watched until `close`. */
export class Session {
  readonly id: string;
  /** How it stands. */
  readonly game = signal<Game | undefined>(undefined);
  /** What was played. */
  readonly records = signal<readonly ActionRecord[]>([]);
  /** Which seats are present. */
  readonly present = signal<ReadonlySet<number>>(new Set());
  /** Who called it off, from 1; 0 where nobody has, or no seat. */
  readonly calledOffBy = signal(0);
  readonly connection = signal<Connection>("connecting");
  /** Why it cannot be shown at all. */
  readonly fault = signal<BanqiError | undefined>(undefined);
  /** Whether a call is under way. */
  readonly busy = signal(false);
  /** The action that is under way. */
  readonly sending = signal<string | undefined>(undefined);
  /** What this browser knows of it. */
  readonly kept = signal<KeptGame>(UNKNOWN);
  /** The seats that are played from here, from 1. */
  readonly seats = computed(() => Object.keys(this.kept.value.tokens).map(Number));
  /** The seat to move, if it is played from here and may act. */
  readonly acting = computed(() => {
    const game = this.game.value;
    const seat = game?.position?.toMove ?? 0;
    return game?.state === GameState.ACTIVE && this.seats.value.includes(seat) ? seat : undefined;
  });
  /** What the service's clock is ahead of this one's, in milliseconds. */
  ahead = 0;
  readonly #closing = new AbortController();
  #adding = new Set<number>();

  constructor(id: string) {
    this.id = id;
    this.kept.value = keptGame(id);
    void this.#watch();
  }

  /** Ends the watch. */
  close(): void {
    this.#closing.abort();
  }

  /** The first seat that anyone may take. */
  get open(): number | undefined {
    const seats = this.game.value?.seats ?? [];
    return seats.find(({ claim, joined }) => claim === SeatClaim.OPEN && !joined)?.number;
  }

  /** Takes a seat. */
  async join(name: string): Promise<void> {
    const seat = this.open;
    if (seat === undefined) {
      return;
    }
    const entropy = randomBytes(32);
    await this.#call(async () => {
      const answer = await service.games.joinGame({ gameId: this.id, seat, playerId: name, entropy });
      this.#keep((kept) => {
        kept.tokens[answer.seat] = answer.seatToken;
        kept.entropies[answer.seat] = toHex(entropy);
      });
      this.#show(answer.game);
      // So that the others see this seat as present.
      this.#rewatch();
    });
  }

  /** Plays an action of the seat to move. */
  async play(action: string): Promise<void> {
    const [game, seat] = [this.game.value, this.acting.value];
    if (this.connection.value === "lost") {
      // It would be played later, unseen.
      tell({ key: "connectionLost" });
    } else if (game && seat !== undefined) {
      await this.#call(async () => {
        this.sending.value = action;
        const request = { ...this.#by(seat), action, etag: game.etag };
        const answer = await service.games.playAction(request, { signal: this.#closing.signal });
        this.#show(answer.game);
      });
      this.sending.value = undefined;
    }
  }

  async resign(seat: number): Promise<void> {
    await this.#call(async () => this.#show((await service.games.resignGame(this.#by(seat))).game));
  }

  async abort(seat: number): Promise<void> {
    await this.#call(async () => this.#show((await service.games.abortGame(this.#by(seat))).game));
  }

  async offerDraw(seat: number): Promise<void> {
    await this.#call(async () => this.#show((await service.games.offerDraw(this.#by(seat))).game));
  }

  async answerDraw(seat: number, accept: boolean): Promise<void> {
    await this.#call(async () => this.#show((await service.games.answerDraw({ ...this.#by(seat), accept })).game));
  }

  async requestTakeback(seat: number): Promise<void> {
    await this.#call(async () => this.#show((await service.games.requestTakeback(this.#by(seat))).game));
  }

  async answerTakeback(seat: number, accept: boolean): Promise<void> {
    await this.#call(async () => this.#show((await service.games.answerTakeback({ ...this.#by(seat), accept })).game));
  }

  /** Asks for a rematch for every seat that is played from here; answers its id. */
  async rematch(): Promise<string | undefined> {
    let id: string | undefined;
    await this.#call(async () => {
      for (const seat of this.seats.value) {
        const { game, seatTokens } = await service.games.rematch(this.#by(seat));
        if (game) {
          id = game.gameId;
          keepGame(id, (kept) => {
            for (const { seat, token } of seatTokens) {
              kept.tokens[seat] = token;
            }
            kept.commitment ||= toHex(game.commitment);
          });
        }
      }
    });
    return id;
  }

  /** Says no to a rematch, by taking the seat and calling the game off: the API has no shorter answer. */
  async declineRematch(): Promise<void> {
    const [seat] = this.seats.value;
    if (seat === undefined) {
      return;
    }
    await this.#call(async () => {
      try {
        const { game, seatTokens } = await service.games.rematch(this.#by(seat));
        const [own] = seatTokens;
        if (game && own) {
          await service.games.abortGame({ gameId: game.gameId, seatToken: own.token });
        }
      } catch (thrown) {
        // Whoever asked has taken it back already.
        if (BanqiError.from(thrown).reason !== "REMATCH_OVER") {
          throw thrown;
        }
      }
      this.#keep((kept) => {
        kept.declined = true;
      });
    });
  }

  /** Whether a game, which is the rematch of this one, was called off. */
  async isOver(rematch: string): Promise<boolean> {
    try {
      return (await service.games.getGame({ gameId: rematch })).game?.result?.reason === EndReason.ABORTED;
    } catch {
      // Hidden, or out of reach: whoever accepts is told.
      return false;
    }
  }

  /** What reads show, so that they are answered what a seat of this browser may see. */
  get credentials(): { readonly headers: HeadersInit } {
    const [token] = Object.values(this.kept.value.tokens);
    return { headers: token ? { authorization: `Bearer ${token}` } : {} };
  }

  #calledOff(event: LogEntry["event"]): void {
    if (event.case === "aborted") {
      this.calledOffBy.value = event.value.seat;
    }
  }

  /** Tells of the answer to an offer, which leaves nothing to be seen of it. */
  #answered(game: Game, event: LogEntry["event"]): void {
    if (event.case !== "drawAnswered" && event.case !== "takebackAnswered") {
      return;
    }
    const { seat, accepted } = event.value;
    if (!accepted && !this.seats.value.includes(seat)) {
      tell({ key: "declinedBy", values: { name: seatName(game, seat) } });
    } else if (event.case === "takebackAnswered" && event.value.undoneActions > 0) {
      tell({ key: "takenBack" });
    }
  }

  #by(seat: number): Pick<PlayActionRequest, "gameId" | "seatToken"> {
    return { gameId: this.id, seatToken: this.kept.value.tokens[seat] ?? "" };
  }

  async #call(call: () => Promise<void>): Promise<void> {
    if (this.busy.value) {
      return;
    }
    this.busy.value = true;
    try {
      await call();
    } catch (thrown) {
      if (!this.#closing.signal.aborted) {
        tell(told(BanqiError.from(thrown)));
      }
    } finally {
      this.busy.value = false;
    }
  }

  #keep(change: (game: KeptGame) => void): void {
    this.kept.value = keepGame(this.id, change);
  }

  /** Shows a state, unless a later one is shown already. */
  #show(game: Game | undefined): void {
    const shown = this.game.value;
    if (game && (!shown || game.revision >= shown.revision)) {
      this.game.value = game;
      void this.#addEntropy(game);
    }
  }

  /** Adds to the deal for the seats that are played from here, once the commitment is known. */
  async #addEntropy(game: Game): Promise<void> {
    const commitment = toHex(game.commitment);
    if (commitment !== "" && this.kept.value.commitment === "") {
      this.#keep((kept) => {
        kept.commitment = commitment;
      });
    }
    if (game.state !== GameState.WAITING || commitment === "") {
      return;
    }
    for (const { number, joined, entropyAdded } of game.seats) {
      if (joined && !entropyAdded && this.seats.value.includes(number) && !this.#adding.has(number)) {
        this.#adding.add(number);
        const entropy = randomBytes(32);
        try {
          const answer = await service.games.addEntropy({ ...this.#by(number), entropy });
          this.#keep((kept) => {
            kept.entropies[number] = toHex(entropy);
          });
          this.#show(answer.game);
        } catch (thrown) {
          this.#adding.delete(number);
          // Another tab was faster.
          if (BanqiError.from(thrown).reason !== "ENTROPY_ADDED") {
            tell(told(BanqiError.from(thrown)));
          }
        }
      }
    }
  }

  #stream = new AbortController();

  #rewatch(): void {
    this.#stream.abort();
  }

  async #watch(): Promise<void> {
    while (!this.#closing.signal.aborted && !this.fault.value) {
      this.#stream = new AbortController();
      const signal = AbortSignal.any([this.#closing.signal, this.#stream.signal]);
      try {
        await this.#watchOnce(signal);
        // The game has been over for a while; whether there is a rematch is asked now and then.
        await new Promise((resolve) => setTimeout(resolve, signal.aborted ? 0 : AFTER_THE_END));
      } catch (thrown) {
        const error = BanqiError.from(thrown);
        if (error.isTransient) {
          this.connection.value = "lost";
        } else {
          this.fault.value = error;
        }
      }
    }
  }

  async #watchOnce(signal: AbortSignal): Promise<void> {
    const [seat] = this.seats.value;
    const watch = watchGame(service.games, this.id, {
      seatToken: seat === undefined ? undefined : this.kept.value.tokens[seat],
      signal,
      onConnection: (state) => {
        this.connection.value = state;
      },
    });
    for await (const watched of watch) {
      switch (watched.kind) {
        case "snapshot": {
          const { game, historyLost } = watched;
          if (historyLost) {
            this.game.value = undefined;
            tell({ key: "historyLost" });
          }
          if (game.serverTime) {
            this.ahead = Number(game.serverTime.seconds) * 1_000 + game.serverTime.nanos / 1e6 - Date.now();
          }
          this.#show(game);
          const whole = await service.games.getGame({ gameId: this.id, view: GameView.FULL }, { ...this.credentials, signal });
          this.#show(whole.game);
          // What follows the snapshot comes as events, and counts then.
          this.records.value = ofLog((whole.game?.log ?? []).filter(({ revision }) => revision <= game.revision));
          whole.game?.log.forEach(({ event }) => this.#calledOff(event));
          break;
        }
        case "event":
          this.records.value = after(this.records.value, watched.entry);
          this.#calledOff(watched.entry.event);
          this.#answered(watched.game, watched.entry.event);
          this.#show(watched.game);
          break;
        case "presence":
          this.present.value = new Set(watched.seats.filter(({ present }) => present).map(({ seat }) => seat));
          break;
      }
    }
  }
}
