// Checks the verifier: node deals.mjs FILE, where FILE has the vectors of deals.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { commitment, deriveDeal, verifyDeal } from "banqi-client";

const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const hex = (bytes) => Buffer.from(bytes).toString("hex");

const lines = readFileSync(process.argv[2], "utf8").trim().split("\n");
for (const line of lines) {
  const { game_id: gameId, server_seed, entropies: written, commitment: promise, deal } = JSON.parse(line);
  const [serverSeed, entropies, pieces] = [bytes(server_seed), written.map(bytes), deal.split(" ")];
  assert.equal(hex(commitment(serverSeed)), promise);
  assert.equal(deriveDeal(serverSeed, gameId, entropies, pieces.length), deal);

  const proof = { gameId, commitment: bytes(promise), entropies, serverSeed, deal };
  const kept = { commitment: bytes(promise), entropies: new Map([[1, entropies[0]]]), records: [`a1(${pieces[0]})`] };
  assert.deepEqual(verifyDeal(proof, kept), []);
  assert.deepEqual(verifyDeal({ ...proof, serverSeed: bytes("") }, kept), ["UNPROVEN"]);
  assert.deepEqual(verifyDeal({ ...proof, commitment: bytes("00") }, kept), ["COMMITMENT"]);
  assert.deepEqual(verifyDeal(proof, { commitment: bytes("00") }), ["KEPT_COMMITMENT"]);
  const reversed = pieces.toReversed().join(" ");
  assert.deepEqual(verifyDeal({ ...proof, deal: reversed }, { commitment: bytes(promise) }), ["DEAL"]);
}
console.log(lines.length, "deals");
