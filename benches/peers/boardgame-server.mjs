// A small turn game on boardgame.io: 32 squares, and each turn marks one of them.

import { createRequire } from "node:module";
import { game } from "./game.mjs";

const { Server, Origins } = createRequire(import.meta.url)("boardgame.io/server");

const server = Server({ games: [game], origins: [Origins.LOCALHOST] });
const lobby = { apiPort: Number(process.argv[3]) };
await server.run({ port: Number(process.argv[2]), lobbyConfig: lobby });
console.log("ready");
