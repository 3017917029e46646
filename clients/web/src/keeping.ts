/** What the browser keeps for the page. Where it keeps nothing, the page goes on without. */

const PREFIX = "banqi.";

/** What was kept under a name. */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text under a name. */
export function keep(name: string, text: string): void {
  try {
    localStorage.setItem(PREFIX + name, text);
  } catch {
    // Private windows may refuse.
  }
}

/** What this browser knows of a game: without it a seat is lost, and a deal cannot be proven. */
export interface KeptGame {
  /** The token of each seat that is played from here. */
  tokens: Record<string, string>;
  /** The commitment of the first answer about the game, in hexadecimal. */
  commitment: string;
  /** What was added to the deal for each seat, in hexadecimal. */
  entropies: Record<string, string>;
  /** When it was opened last, in milliseconds. */
  opened: number;
  /** Whether a rematch was declined here. */
  declined: boolean;
}

/** A game of which nothing is known. */
export const UNKNOWN: KeptGame = { tokens: {}, commitment: "", entropies: {}, opened: 0, declined: false };

/** What is known of a game. */
export function keptGame(id: string): KeptGame {
  // Of its own, since whoever asks changes it.
  const nothing = structuredClone(UNKNOWN);
  try {
    return { ...nothing, ...(JSON.parse(kept(`game.${id}`) ?? "{}") as Partial<KeptGame>) };
  } catch {
    return nothing;
  }
}

/** Changes what is known of a game. Another tab may have changed it meanwhile, so it is read anew. */
export function keepGame(id: string, change: (game: KeptGame) => void): KeptGame {
  const game = keptGame(id);
  change(game);
  game.opened = Date.now();
  keep(`game.${id}`, JSON.stringify(game));
  return game;
}

/** The games with a seat that is played from here, the one that was opened last first. */
export function keptGames(): { readonly id: string; readonly opened: number }[] {
  try {
    return Object.keys(localStorage)
      .filter((name) => name.startsWith(`${PREFIX}game.`))
      .map((name) => name.slice(PREFIX.length + "game.".length))
      .map((id) => ({ id, ...keptGame(id) }))
      .filter(({ tokens }) => Object.keys(tokens).length > 0)
      .sort((one, other) => other.opened - one.opened);
  } catch {
    return [];
  }
}
