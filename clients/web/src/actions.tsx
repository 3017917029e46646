/** What a player may do beside acting on the board. */

import type { ActionRecord, Game } from "banqi-client";
import { ActionKind, GameState } from "banqi-client";
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";

import { seatName } from "./seats";
import type { Session } from "./session";
import { t } from "./text";

export function Actions({ session }: { session: Session }): JSX.Element | null {
  const game = session.game.value;
  const busy = session.busy.value;
  if (!game || session.seats.value.length === 0) {
    return null;
  }
  if (game.state === GameState.WAITING) {
    const [seat] = session.seats.value;
    const off = game.series ? "rematchWithdraw" : "abort";
    return seat === undefined ? null : (
      <div class="actions">
        <Asked question={`${t(off)}?`} busy={busy} onYes={() => session.abort(seat)}>
          {t(off)}
        </Asked>
      </div>
    );
  }
  if (game.state !== GameState.ACTIVE) {
    return null;
  }
  // Of several seats on this device the one to move is meant.
  const seat = session.acting.value ?? session.seats.value.find((seat) => !game.seats[seat - 1]?.out);
  // Of several seats on this device the one that acted last is the one to take back.
  const asking = session.seats.value.length > 1 ? game.lastAction?.seat : seat;
  return (
    <div class="actions">
      <Offers session={session} game={game} />
      {session.acting.value !== undefined &&
      game.legalActions.some(({ kind }) => kind === ActionKind.END_CHAIN) ? (
        <button type="button" class="main" disabled={busy} onClick={() => void session.play("end")}>
          {t("endTurn")}
        </button>
      ) : null}
      {seat === undefined ? null : (
        <>
          {game.drawOffer ? null : (
            <button type="button" disabled={busy} onClick={() => void session.offerDraw(seat)}>
              {t("offerDraw")}
            </button>
          )}
          {game.takebackRequest || asking === undefined || !canTakeBack(session.records.value, asking) ? null : (
            <button type="button" disabled={busy} onClick={() => void session.requestTakeback(asking)}>
              {t("takeback")}
            </button>
          )}
          {new Set(session.records.value.map((record) => record.seat)).size < game.seats.length ? (
            <Asked question={`${t("abort")}?`} busy={busy} onYes={() => session.abort(seat)}>
              {t("abort")}
            </Asked>
          ) : null}
          <Asked question={resignQuestion(session, game, seat)} busy={busy} onYes={() => session.resign(seat)}>
            {t("resign")}
          </Asked>
        </>
      )}
    </div>
  );
}

/** Whether a seat is to resign; of several on this device it is named. */
function resignQuestion(session: Session, game: Game, seat: number): string {
  return session.seats.value.length > 1 ? `${seatName(game, seat)}: ${t("resignQuestion")}` : t("resignQuestion");
}

/** Whether a seat has acted, and nothing has been turned up since. */
function canTakeBack(records: readonly ActionRecord[], seat: number): boolean {
  const own = records.findLastIndex((record) => record.seat === seat);
  // A turn of several captures is taken back whole.
  const first = records.findIndex((record) => record.turnNumber === records[own]?.turnNumber);
  return own >= 0 && records.slice(first).every(({ turnedUp }) => turnedUp === undefined);
}

/** Offers that wait for an answer of a seat that is played from here, and those that were made from here. */
function Offers({ session, game }: { session: Session; game: Game }): JSX.Element {
  const { drawOffer, takebackRequest } = game;
  const answerer = (offer: { seat: number; acceptedBy: readonly number[] } | undefined): number | undefined =>
    offer &&
    session.seats.value.find(
      (seat) => seat !== offer.seat && !offer.acceptedBy.includes(seat) && !game.seats[seat - 1]?.out,
    );
  const [draws, takesBack] = [answerer(drawOffer), answerer(takebackRequest)];
  return (
    <>
      {drawOffer && draws !== undefined ? (
        <Question
          text={t("drawQuestion", { name: seatName(game, drawOffer.seat) })}
          busy={session.busy.value}
          onAnswer={(accept) => void session.answerDraw(draws, accept)}
        />
      ) : drawOffer ? (
        <p class="pending">{t("drawOffered")}</p>
      ) : null}
      {takebackRequest && takesBack !== undefined ? (
        <Question
          text={t("takebackQuestion", { name: seatName(game, takebackRequest.seat) })}
          busy={session.busy.value}
          onAnswer={(accept) => void session.answerTakeback(takesBack, accept)}
        />
      ) : takebackRequest ? (
        <p class="pending">{t("takebackRequested")}</p>
      ) : null}
    </>
  );
}

/** A question to the player, with its answers. */
export function Question({
  text,
  busy,
  onAnswer,
}: {
  text: string;
  busy: boolean;
  onAnswer: (accept: boolean) => void;
}): JSX.Element {
  return (
    <div class="question" role="group" aria-label={text}>
      <p role="alert">{text}</p>
      <button type="button" class="main" disabled={busy} onClick={() => onAnswer(true)}>
        {t("accept")}
      </button>
      <button type="button" disabled={busy} onClick={() => onAnswer(false)}>
        {t("decline")}
      </button>
    </div>
  );
}

/** A button that asks whether it is meant. */
function Asked({
  question,
  busy,
  onYes,
  children,
}: {
  question: string;
  busy: boolean;
  onYes: () => Promise<void>;
  children: ComponentChildren;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" disabled={busy} onClick={() => dialog.current?.showModal()}>
        {children}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <form method="dialog">
          <p>{question}</p>
          <button class="main" onClick={() => void onYes()}>
            {t("yes")}
          </button>
          <button autoFocus>{t("no")}</button>
        </form>
      </dialog>
    </>
  );
}
