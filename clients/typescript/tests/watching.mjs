// Plays and watches games through a balancer, behind which a replica is killed half-way:
//
//     node watching.mjs ADDRESS
//
// Prints `kill` when one is to be killed, and waits for a line when that is done. Every watch tells every revision
// once and in order, and throws nothing.

import assert from "node:assert/strict";
import { createInterface } from "node:readline/promises";

import { SeatClaim, watchGame } from "banqi-client";
import { connect } from "banqi-client/node";

// So many that both replicas have some: each game is at home at one of them.
const GAMES = 12;
const ACTIONS = 30;

let repeated = 0;
const { games } = connect(process.argv[2], { onRetry: () => (repeated += 1) });
let reached = 0;
let allReached;
const halfway = new Promise((resolve) => (allReached = resolve));
let goOn;
const killed = new Promise((resolve) => (goOn = resolve));

async function play({ game: created, seatTokens }) {
  let game = created;
  for (let number = 0; number < ACTIONS; number += 1) {
    if (number === ACTIONS / 2) {
      reached += 1;
      if (reached === GAMES) {
        allReached();
      }
      await killed;
    }
    const { gameId, etag, legalActions, position, revision } = game;
    const action = legalActions[Number(revision) % legalActions.length].text;
    const { token } = seatTokens[position.toMove - 1];
    game = (await games.playAction({ gameId, etag, seatToken: token, action })).game;
  }
  return (await games.resignGame({ gameId: game.gameId, seatToken: seatTokens[0].token })).game;
}

async function watch({ game: { gameId } }) {
  let [revision, breaks] = [0n, 0];
  const onConnection = (state) => (breaks += state === "lost" ? 1 : 0);
  for await (const watched of watchGame(games, gameId, { onConnection })) {
    if (watched.kind === "presence") {
      continue;
    }
    assert.equal(watched.kind, revision === 0n ? "snapshot" : "event");
    assert.ok(revision === 0n || watched.game.revision === revision + 1n, `${watched.game.revision} after ${revision}`);
    revision = watched.game.revision;
    if (watched.game.result) {
      return { revision, breaks };
    }
  }
  throw new Error(`the watch of ${gameId} ended before the game`);
}

const seats = ["ann", "bob"].map((playerId) => ({ playerId, claim: SeatClaim.ASSIGNED }));
const created = await Promise.all(Array.from({ length: GAMES }, () => games.createGame({ seats })));
const watching = created.map(watch);
const playing = created.map(play);
// Whatever fails first ends the test.
const all = Promise.all([...watching, ...playing]);
await Promise.race([halfway, all]);
console.log("kill");
const lines = createInterface({ input: process.stdin });
await lines[Symbol.asyncIterator]().next();
lines.close();
goOn();
await all;
const [told, played] = [await Promise.all(watching), await Promise.all(playing)];
assert.deepEqual(told.map(({ revision }) => revision), played.map(({ revision }) => revision));
const broken = told.filter(({ breaks }) => breaks > 0).length;
console.log(`${told.length} watches, ${broken} of which broke; ${repeated} calls repeated`);
assert.ok(broken > 0 && broken < told.length, "some break, and some do not");
process.exit(0);
