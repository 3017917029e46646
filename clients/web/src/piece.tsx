/** A piece, face up or face down. */

import type { Piece } from "banqi-client";
import { Colour, Kind } from "banqi-client";
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { keep, kept } from "./keeping";
import { character, letter } from "./names";

/** How pieces are drawn: with their characters, or with symbols for those who do not read them. */
export const drawing = signal(kept("pieces") === "symbols" ? "symbols" : "han");

/** Chooses how pieces are drawn. */
export function draw(how: string): void {
  drawing.value = how;
  keep("pieces", how);
}

const COLOURS: Record<number, string> = {
  [Colour.RED]: "red",
  [Colour.BLACK]: "black",
  [Colour.BLUE]: "blue",
  [Colour.GREEN]: "green",
};

/** Drawn in a square of 24 by 24. */
const SYMBOLS: Record<number, string> = {
  // A crown.
  [Kind.GENERAL]: "M4 18 3 7l5 4 4-6 4 6 5-4-1 11zM4 19.5h16V21H4z",
  // A scholar's cap with its tassel.
  [Kind.ADVISOR]: "M12 4 1.5 9 12 14l8-3.8V16h1.5V9.4L22.5 9zM6 13v4c2 2.4 10 2.4 12 0v-4l-6 2.8z",
  // An elephant's head with ears and trunk.
  [Kind.ELEPHANT]: "M8 5C3 3 1 8 3 12c1 2 3 2 4 1 0 3 1 5 3 5.500V20c0 2 4.500 2 5 0h-2v-1.600c2.500-.6 4-2.600 4-5.400 1 1 3 1 4-1 2-4 0-9-5-7-2-1.400-6-1.400-8 0zM9 9.200a1.100 1.100 0 1 1 0 2.200 1.100 1.100 0 0 1 0-2.200zm6 0a1.100 1.100 0 1 1 0 2.200 1.100 1.100 0 0 1 0-2.200z",
  // A tower, as rooks are.
  [Kind.CHARIOT]: "M5 4h3v2.500h2.500V4h3v2.500H16V4h3v6l-2 1.500V17h1.500v2H20v2H4v-2h1.500v-2H7v-5.500L5 10z",
  // A horse's head.
  [Kind.HORSE]: "M7 21c-.5-5 5-6 4.500-10L8 13.500 5 14 3.500 11.500 8 6V3.500l2.500 1.700C17 5 20 10 19 21zM9.500 8.200a.9.9 0 1 0 0 1.800.9.9 0 0 0 0-1.800z",
  // A barrel on a wheel.
  [Kind.CANNON]: "M2 11 17.500 4l2.800 5.500L10 14.500a4.500 4.500 0 1 1-7.300-.3zM6.500 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM12 16.500 21 19v2H11.500c.8-1.200 1-3 .5-4.500z",
  // A pawn.
  [Kind.SOLDIER]: "M12 3a4 4 0 0 1 2.500 7.100L17 12h-2.200c.4 3 1.700 5 3.700 6v3h-13v-3c2-1 3.300-3 3.700-6H7l2.500-1.900A4 4 0 0 1 12 3z",
};

/** A face-up piece. What it is stands in the label of its square. */
export function FaceUp({ piece }: { piece: Pick<Piece, "colour" | "kind"> }): JSX.Element {
  const han = drawing.value === "han";
  return (
    <span class={`piece up ${COLOURS[piece.colour] ?? ""}`} aria-hidden="true">
      {han ? (
        <span class="han">{character(piece)}</span>
      ) : (
        <>
          <svg viewBox="0 0 24 24">
            <path d={SYMBOLS[piece.kind] ?? ""} fill-rule="evenodd" />
          </svg>
          <span class="letter">{letter(piece.kind)}</span>
        </>
      )}
    </span>
  );
}

/** A face-down piece. */
export function FaceDown(): JSX.Element {
  return <span class="piece down" aria-hidden="true" />;
}
