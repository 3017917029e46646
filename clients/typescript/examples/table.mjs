// What both bots do but choose: take a seat, watch, and play when it is their turn.

import { parseArgs } from "node:util";

import { BanqiError, EndReason, GameState, watchGame } from "banqi-client";
import { connect } from "banqi-client/node";

/** Plays a game as the command line says. */
export async function run(name, choose) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { game: { type: "string" }, player: { type: "string", default: name } },
  });
  if (positionals.length !== 1) {
    throw new Error("the address of the service is wanted, like 127.0.0.1:50051, and nothing more");
  }
  const address = positionals[0].includes("://") ? positionals[0] : `http://${positionals[0]}`;
  const { games } = connect(address, { apiKey: process.env.BANQI_API_KEY });
  const { gameId, seat, seatToken } = await takeSeat(games, values.game, values.player);
  const { winners, reason } = await play(games, { gameId, seat, seatToken }, choose);
  console.log("seat", seat, "winners", winners, EndReason[reason]);
}

async function takeSeat(games, wanted, playerId) {
  let gameId = wanted;
  if (gameId === undefined) {
    gameId = (await games.createGame({})).game.gameId;
    console.log(gameId);
  }
  const { seat, seatToken } = await games.joinGame({ gameId, playerId });
  return { gameId, seat, seatToken };
}

async function play(games, { gameId, seat, seatToken }, choose) {
  for await (const watched of watchGame(games, gameId, { seatToken })) {
    if (watched.kind === "presence") {
      continue;
    }
    const { game } = watched;
    if (game.result) {
      return game.result;
    }
    if (game.state !== GameState.ACTIVE || game.position.toMove !== seat) {
      continue;
    }
    try {
      await games.playAction({ gameId, seatToken, action: choose(game), etag: game.etag });
    } catch (error) {
      // Something else happened meanwhile, which the watch is about to tell.
      if (!(error instanceof BanqiError && ["ETAG_MISMATCH", "GAME_OVER"].includes(error.reason))) {
        throw error;
      }
    }
  }
  throw new Error(`the watch of ${gameId} ended before the game`);
}
