/** Checks that a deal is the one that was committed to (docs/fairness.md). */

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** What is told of a deal once its game has ended (`GetFairnessProof`), and what the verifier kept. */
export interface Proof {
  /** The game. */
  readonly gameId: string;
  /** What was committed to. */
  readonly commitment: Uint8Array;
  /** What each seat added. */
  readonly entropies: readonly Uint8Array[];
  /** What the deal was derived from. */
  readonly serverSeed: Uint8Array;
  /** The pieces in index order. */
  readonly deal: string;
}

/** What does not hold. */
export type Fault = "UNPROVEN" | "COMMITMENT" | "KEPT_COMMITMENT" | "ENTROPY" | "DEAL" | "TURNED_UP";

/** What the verifier knows for himself: without the commitment that he kept a proof proves nothing. */
export interface Kept {
  /** The commitment of the first answer about the game. */
  readonly commitment: Uint8Array;
  /** The seats for which he added entropy, from 1, and that. */
  readonly entropies?: ReadonlyMap<number, Uint8Array>;
  /** What was turned up, as the records say it: `b3(K)`, `b3xb4(p)`. */
  readonly records?: Iterable<string>;
}

/** SHA-256 of the label and the seed. */
export function commitment(serverSeed: Uint8Array): Uint8Array {
  return sha256(concatBytes(utf8ToBytes("banqi-deal-v1\0"), serverSeed));
}

/** The deal of a game on a board with so many squares, as text. */
export function deriveDeal(
  serverSeed: Uint8Array,
  gameId: string,
  entropies: readonly Uint8Array[],
  squares: 32 | 64,
): string {
  const parts = entropies.flatMap((entropy) => [Uint8Array.of(entropy.length), entropy]);
  const key = hmac(sha256, serverSeed, concatBytes(utf8ToBytes(`${gameId}\0`), ...parts));
  const kinds = [..."KAAEERRHHCCPPPPP"];
  const colours = [kinds, kinds.map((kind) => kind.toLowerCase())];
  const single = colours.flat();
  const set = squares === 32 ? single : [...single, ...single.map((piece) => `+${piece}`)];
  return shuffle(key, set).join(" ");
}

/** Every fault that a proof has; none: the deal is the one that was committed to. */
export function verifyDeal(proof: Proof, kept: Kept): Fault[] {
  if (proof.serverSeed.length === 0 || kept.commitment.length === 0) {
    return ["UNPROVEN"];
  }
  const faults: Fault[] = [];
  const committed = bytesToHex(commitment(proof.serverSeed));
  if (bytesToHex(proof.commitment) !== committed) {
    faults.push("COMMITMENT");
  }
  if (bytesToHex(kept.commitment) !== committed) {
    faults.push("KEPT_COMMITMENT");
  }
  for (const [seat, entropy] of kept.entropies ?? []) {
    const told = proof.entropies[seat - 1];
    if (!told || bytesToHex(told) !== bytesToHex(entropy)) {
      faults.push("ENTROPY");
    }
  }
  const pieces = proof.deal.split(" ");
  const squares = pieces.length === 64 ? 64 : 32;
  if (deriveDeal(proof.serverSeed, proof.gameId, proof.entropies, squares) !== proof.deal) {
    faults.push("DEAL");
  }
  for (const record of kept.records ?? []) {
    const [, file, rank, piece] = /([a-h])([1-8])\((\+?[A-Za-z])\)/.exec(record) ?? [];
    if (file && rank && pieces[file.charCodeAt(0) - 97 + 8 * (Number(rank) - 1)] !== piece) {
      faults.push("TURNED_UP");
    }
  }
  return [...new Set(faults)];
}

function shuffle<T>(key: Uint8Array, given: readonly T[]): T[] {
  const items = [...given];
  const source = words(key);
  for (let i = items.length - 1; i > 0; i -= 1) {
    const limit = Math.floor(2 ** 32 / (i + 1)) * (i + 1);
    let word = source.next().value;
    while (word >= limit) {
      word = source.next().value;
    }
    const j = word % (i + 1);
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}

function* words(key: Uint8Array): Generator<number, never> {
  for (let counter = 0n; ; counter += 1n) {
    const message = new Uint8Array(8);
    new DataView(message.buffer).setBigUint64(0, counter);
    const block = hmac(sha256, key, message);
    const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
    for (let at = 0; at < 32; at += 4) {
      yield view.getUint32(at);
    }
  }
}
