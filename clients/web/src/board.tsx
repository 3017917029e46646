/** The board: by click, touch, keyboard and screen reader. */

import type { Game, LegalAction } from "banqi-client";
import { ActionKind, Cell, GameState } from "banqi-client";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { pieceIn, pieceName, squareName } from "./names";
import type { Notice } from "./notices";
import { hush, tell } from "./notices";
import { FaceDown, FaceUp } from "./piece";
import { seatName } from "./seats";
import type { Session } from "./session";
import type { Key } from "./text";
import { t } from "./text";

const FILES = 8;

/** Why nobody acts on the board from here. */
function whyNot(session: Session, game: Game): Notice {
  if (game.state === GameState.FINISHED) {
    return { key: "gameOver", passes: true };
  }
  if (game.state === GameState.WAITING) {
    return { key: game.seats.every(({ joined }) => joined) ? "waitingForDeal" : "waitingForPlayers", passes: true };
  }
  if (session.seats.value.length === 0) {
    return { key: "watchOnly", passes: true };
  }
  return { key: "turnOf", values: { name: seatName(game, game.position?.toMove ?? 0) }, passes: true };
}

/** Why a piece cannot be taken in hand. */
function refusal(session: Session, game: Game, square: number): Key {
  const piece = pieceIn(game.position?.cells[square] ?? Cell.EMPTY);
  const own = game.seats[(session.acting.value ?? 0) - 1]?.colours ?? [];
  return piece && !own.includes(piece.colour) ? "notYourPiece" : "stuck";
}

/** The square of a field that numbers them from 1, as an index. */
function index(square: number): number {
  return square - 1;
}

export function Board({ session }: { session: Session }): JSX.Element | null {
  const game = session.game.value;
  const cells = game?.position?.cells ?? [];
  const [chosen, choose] = useState<number | undefined>(undefined);
  const [focused, setFocused] = useState(0);
  const grid = useRef<HTMLDivElement>(null);
  const moves = useRef(false);
  const legal = session.acting.value === undefined ? [] : (game?.legalActions ?? []);
  const chain = game?.position?.chainFrom ? index(game.position.chainFrom) : undefined;
  const from = chosen !== undefined && legal.some((action) => index(action.from) === chosen) ? chosen : undefined;
  const selected = session.acting.value === undefined ? undefined : (chain ?? from);

  // A choice is over with what it was made in, and so is what was said of it.
  useEffect(() => {
    choose(undefined);
    hush(false);
  }, [game?.revision]);
  // Before the next key can come.
  useLayoutEffect(() => {
    if (moves.current) {
      moves.current = false;
      grid.current?.querySelector<HTMLElement>(`[data-square="${focused}"]`)?.focus();
    }
  }, [focused]);

  if (!game) {
    return null;
  }
  const targets = new Map<number, LegalAction>();
  for (const action of legal) {
    if (selected !== undefined && index(action.from) === selected && action.to) {
      targets.set(index(action.to), action);
    }
  }
  const ranks = cells.length / FILES;
  const last = game.lastAction;
  const lastSquares = [last?.from, last?.to].filter((square) => square).map((square) => index(square!));

  const act = (square: number): void => {
    setFocused(square);
    if (session.acting.value === undefined) {
      tell(whyNot(session, game));
      return;
    }
    const action = targets.get(square);
    if (action) {
      void session.play(action.text);
      return;
    }
    const flip = legal.find(({ kind, from }) => kind === ActionKind.FLIP && index(from) === square);
    if (flip && selected === undefined) {
      void session.play(flip.text);
      return;
    }
    const mine = !flip && legal.some((action) => index(action.from) === square);
    choose(mine && square !== chosen ? square : undefined);
    // What is turned up stays so: with a piece in hand, such a click may have been meant for it.
    if (!mine && (selected !== undefined || (cells[square] ?? Cell.EMPTY) !== Cell.EMPTY)) {
      tell({ key: selected === undefined ? refusal(session, game, square) : "illegal", passes: true });
    }
  };

  const move = (event: KeyboardEvent, square: number): void => {
    const [file, rank] = [square % FILES, Math.floor(square / FILES)];
    const to: Record<string, [number, number]> = {
      ArrowLeft: [Math.max(0, file - 1), rank],
      ArrowRight: [Math.min(FILES - 1, file + 1), rank],
      ArrowUp: [file, Math.min(ranks - 1, rank + 1)],
      ArrowDown: [file, Math.max(0, rank - 1)],
      Home: [0, rank],
      End: [FILES - 1, rank],
    };
    const target = to[event.key];
    if (target) {
      event.preventDefault();
      moves.current = true;
      setFocused(target[0] + FILES * target[1]);
    } else if (event.key === "Escape") {
      choose(undefined);
    }
  };

  const squares = (rank: number): JSX.Element[] =>
    Array.from({ length: FILES }, (_, file) => {
      const square = file + FILES * rank;
      const cell = cells[square] ?? Cell.EMPTY;
      const piece = pieceIn(cell);
      const target = targets.get(square);
      const what = piece ? pieceName(piece) : t(cell === Cell.FACE_DOWN ? "faceDown" : "empty");
      const more = [
        square === selected ? t("selected") : "",
        target ? t(target.kind === ActionKind.CAPTURE ? "canCapture" : "target") : "",
        lastSquares.includes(square) ? t("lastAction") : "",
      ].filter((text) => text !== "");
      const classes = [
        "square",
        square === selected ? "selected" : "",
        session.sending.value?.startsWith(squareName(square)) || session.sending.value?.endsWith(squareName(square)) ? "sending" : "",
        target ? (target.kind === ActionKind.MOVE ? "target" : "target capture") : "",
        lastSquares.includes(square) ? "last" : "",
        last?.turnedUp && square === lastSquares.at(-1) ? "revealed" : "",
        legal.some((action) => index(action.from) === square) ? "can" : "",
      ];
      return (
        <div role="gridcell" key={square}>
          <button
            type="button"
            class={classes.filter((name) => name !== "").join(" ")}
            data-square={square}
            tabIndex={square === focused ? 0 : -1}
            aria-label={[`${squareName(square)} ${what}`, ...more].join(", ")}
            aria-pressed={square === selected}
            onClick={() => act(square)}
            onKeyDown={(event) => move(event, square)}
          >
            {piece ? <FaceUp piece={piece} /> : cell === Cell.FACE_DOWN ? <FaceDown /> : null}
          </button>
        </div>
      );
    });

  return (
    <div class={ranks === FILES ? "board double" : "board"}>
      <div role="grid" aria-label={t("board")} aria-describedby="board-help" ref={grid}>
        {Array.from({ length: ranks }, (_, down) => ranks - 1 - down).map((rank) => (
          <div role="row" key={rank}>
            {squares(rank)}
          </div>
        ))}
      </div>
      <div class="ranks" aria-hidden="true">
        {Array.from({ length: ranks }, (_, down) => (
          <span key={down}>{ranks - down}</span>
        ))}
      </div>
      <div class="files" aria-hidden="true">
        {[..."abcdefgh"].map((file) => (
          <span key={file}>{file}</span>
        ))}
      </div>
      <p id="board-help" class="hidden">
        {t("boardHelp")}
      </p>
    </div>
  );
}
