/** What squares and pieces are called. */

import type { Cell, Piece } from "banqi-client";
import { Colour, Kind } from "banqi-client";

import type { Key } from "./text";
import { t } from "./text";

/** The first cell that is a piece; the others follow by colour and kind. */
const FIRST_PIECE = 3;
const KINDS = 7;

/** The face-up piece in a cell. */
export function pieceIn(cell: Cell): { colour: Colour; kind: Kind } | undefined {
  const index = cell - FIRST_PIECE;
  return index < 0 ? undefined : { colour: Math.floor(index / KINDS) + 1, kind: (index % KINDS) + 1 };
}

/** `a1` for 0. */
export function squareName(index: number): string {
  return `${"abcdefgh"[index % 8]}${Math.floor(index / 8) + 1}`;
}

/** What a piece is called. */
export function pieceName({ colour, kind }: Pick<Piece, "colour" | "kind">): string {
  return t("piece", { colour: colourName(colour), kind: t(`kind${kind}` as Key) });
}

/** What a colour is called. */
export function colourName(colour: Colour): string {
  return t(`colour${colour}` as Key);
}

/** The characters of the kinds, by which the two sides of a set are told apart. */
const CHARACTERS: Record<"upper" | "lower", string> = { upper: "帥仕相俥傌炮兵", lower: "將士象車馬包卒" };

/** The character on a piece. */
export function character({ colour, kind }: Pick<Piece, "colour" | "kind">): string {
  const upper = colour === Colour.RED || colour === Colour.BLUE;
  return CHARACTERS[upper ? "upper" : "lower"][kind - 1]!;
}

/** The letter of a kind, as records have it. */
export function letter(kind: Kind): string {
  return "KAERHCP"[kind - 1]!;
}
