// Plays on boardgame.io's server with its own clients.

import { createRequire } from "node:module";
import { game, SQUARES } from "./game.mjs";

const require = createRequire(import.meta.url);
const { Client, LobbyClient } = require("boardgame.io/client");
const { SocketIO } = require("boardgame.io/multiplayer");

/** Opens tables at which two clients each move in turn, once the other has seen the move. */
export async function play(ports, tables, moved) {
  const [port, lobbyPort] = ports;
  const lobby = new LobbyClient({ server: `http://127.0.0.1:${lobbyPort}` });
  const clients = [];
  for (let table = 0; table < tables; table++) {
    const { matchID } = await lobby.createMatch(game.name, { numPlayers: 2 });
    for (const playerID of ["0", "1"]) {
      const { playerCredentials } = await lobby.joinMatch(game.name, matchID, {
        playerID,
        playerName: `player ${playerID}`,
      });
      const client = Client({
        game,
        matchID,
        playerID,
        credentials: playerCredentials,
        numPlayers: 2,
        debug: false,
        multiplayer: SocketIO({ server: `http://127.0.0.1:${port}` }),
      });
      let last = -1;
      client.subscribe((state) => {
        if (state === null || state.ctx.currentPlayer !== playerID) return;
        if (!client.transport.isConnected || state._stateID <= last) return;
        last = state._stateID;
        if (state.ctx.turn > 1) moved();
        // Not within the notice of the move before.
        setImmediate(() => client.moves.mark(state.ctx.turn % SQUARES));
      });
      clients.push(client);
      client.start();
    }
  }
  return () => clients.forEach((client) => client.stop());
}
