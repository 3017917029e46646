/** One game: to wait for players, play, or watch. */

import { ActionKind, GameState } from "banqi-client";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Actions } from "./actions";
import { After } from "./after";
import { Board } from "./board";
import { copy } from "./copying";
import { ending, lastLine } from "./ending";
import { HowTo } from "./how-to";
import { keep, kept } from "./keeping";
import { Notices } from "./notice";
import { told } from "./notices";
import { about, loadPresets, nameOf, shortName } from "./presets";
import { inWords, Record } from "./record";
import { gameAddress } from "./routes";
import { Seats, seatName, Swatches } from "./seats";
import { Session } from "./session";
import { t } from "./text";
import { Trays } from "./trays";

export function GamePage({ id }: { id: string }): JSX.Element {
  const [session, setSession] = useState<Session | undefined>(undefined);
  useEffect(() => {
    const opened = new Session(id);
    setSession(opened);
    return () => opened.close();
  }, [id]);
  return session?.id === id ? <Shown session={session} /> : <main />;
}

function Shown({ session }: { session: Session }): JSX.Element {
  const fault = session.fault.value;
  if (fault) {
    const { key, values } = told(fault);
    return (
      <main class="home">
        <p role="alert">{t(key, values)}</p>
        <a href="#/">{t("home")}</a>
      </main>
    );
  }
  const game = session.game.value;
  const preset = nameOf(game?.rules);
  useEffect(() => {
    // Only for the name of the rules: without it the game goes on all the same.
    loadPresets().catch(() => undefined);
  }, []);
  const watches = session.seats.value.length === 0 && game?.state === GameState.ACTIVE;
  return (
    <main class="game">
      <div class="table">
        <Status session={session} />
        <Board session={session} />
      </div>
      <div class="beside">
        <div class="side">
          {game?.state === GameState.WAITING ? <Waiting session={session} /> : null}
          {watches ? <p class="pending">{t("watchOnly")}</p> : null}
          <Seats session={session} />
          {preset ? (
            <p class="rules-name">
              {t("rules")}: {shortName(preset)} <small class="about">{about(preset)}</small>
            </p>
          ) : null}
          <After session={session} />
          <Actions session={session} />
        </div>
        <Record session={session} />
        <HowTo />
      </div>
      <Trays session={session} />
    </main>
  );
}

/** What is going on, which screen readers are told as it changes. */
function Status({ session }: { session: Session }): JSX.Element {
  const game = session.game.value;
  const last = session.records.value.at(-1);
  const mine = session.acting.value !== undefined;
  const toMove = game?.state === GameState.ACTIVE ? (game.position?.toMove ?? 0) : 0;
  const colours = game?.seats[toMove - 1]?.colours ?? [];
  // Also where the page is one of many tabs.
  useEffect(() => {
    document.title = `${mine ? "● " : ""}${t("title")}`;
    return () => {
      document.title = t("title");
    };
  }, [mine]);
  return (
    <div class="status">
      <p aria-live="polite" class={`now ${mine ? "mine" : ""}`}>
        {game ? now(session) : t("connecting")} <Swatches colours={colours} />
      </p>
      {/* In one place, so that the board does not move under a finger. */}
      {session.connection.value === "lost" ? (
        <p aria-live="polite" class="last-action lost">
          {t("connectionLost")}
        </p>
      ) : (
        <p aria-live="polite" class="last-action">
          {game?.result ? lastLine(game) : last && game ? `${seatName(game, last.seat)}: ${inWords(last)}` : "\u00a0"}
        </p>
      )}
      <Notices />
    </div>
  );
}

function now(session: Session): string {
  const game = session.game.value!;
  const toMove = game.position?.toMove ?? 0;
  if (game.state === GameState.FINISHED) {
    return ending(session, game);
  }
  if (game.state === GameState.WAITING) {
    if (session.seats.value.length === 0 && session.open !== undefined) {
      return t("joinQuestion");
    }
    if (game.series !== undefined) {
      return t("rematchWaiting");
    }
    const missing = game.seats.filter(({ joined }) => !joined).length;
    return missing === 0 ? t("waitingForDeal") : missing === 1 ? t("waitingForPlayers") : t("waitingForMore", { count: missing });
  }
  // With several seats on one device, whose turn it is must be said by name.
  if (session.acting.value !== undefined && session.seats.value.length === 1) {
    const chain = game.legalActions.some(({ kind }) => kind === ActionKind.END_CHAIN);
    const flips = game.legalActions.every(({ kind }) => kind === ActionKind.FLIP);
    return t(chain ? "chainOn" : flips ? "yourTurnFlip" : "yourTurn");
  }
  return t("turnOf", { name: seatName(game, toMove) });
}

function Waiting({ session }: { session: Session }): JSX.Element {
  const [name, setName] = useState(kept("name") ?? "");
  const game = session.game.value!;
  const address = gameAddress(session.id);
  if (session.seats.value.length === 0 && session.open !== undefined) {
    const join = (event: Event): void => {
      event.preventDefault();
      keep("name", name);
      void session.join(name.trim());
    };
    return (
      <section class="invitation">
        <form class="line" onSubmit={join}>
          <label>
            {t("yourName")}
            <input name="name" maxLength={30} value={name} autocomplete="nickname" onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <button class="main" disabled={session.busy.value}>
            {t("join")}
          </button>
        </form>
      </section>
    );
  }
  return session.open === undefined || game.series !== undefined ? (
    <></>
  ) : (
    <section class="invitation">
      <p>{t("invite")}</p>
      <input class="link" readOnly value={address} aria-label={t("gameLink")} onFocus={(event) => event.currentTarget.select()} />
      <button type="button" class="main" autoFocus onClick={() => void copy(address)}>
        {t("copy")}
      </button>
      {"share" in navigator ? (
        <button type="button" onClick={() => void navigator.share({ url: address }).catch(() => undefined)}>
          {t("share")}
        </button>
      ) : null}
    </section>
  );
}
