/** What the address shows: `#/` all games, `#/game/ID` one. */

import { signal } from "@preact/signals";

/** The game that the address names. */
export const shownGame = signal(read());

addEventListener("hashchange", () => {
  shownGame.value = read();
});

/** The part of the address that shows a game. */
export function gameLink(id: string): string {
  return `/game/${id}`;
}

/** The whole address that shows a game. */
export function gameAddress(id: string): string {
  return `${location.origin}${location.pathname}#${gameLink(id)}`;
}

/** The id in what somebody has typed: an address, or just the id. */
export function typedGame(text: string): string | undefined {
  return /^(?:.*#\/game\/)?([A-Za-z0-9_-]{1,64})\s*$/.exec(text.trim())?.[1];
}

function read(): string | undefined {
  // A full stop is easily copied along.
  return /^#\/game\/([A-Za-z0-9_-]{1,64})[.,;:!?)]*$/.exec(location.hash)?.[1];
}
