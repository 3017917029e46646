// The same small turn game on Colyseus: 32 squares, and each turn marks one of them.

import { createServer } from "node:http";
import { Room, Server } from "@colyseus/core";
import { schema, t } from "@colyseus/schema";
import { WebSocketTransport } from "@colyseus/ws-transport";

const SQUARES = 32;

const Squares = schema({ squares: t.array("uint8"), turn: t.uint32() }, "Squares");

class SquaresRoom extends Room {
  onCreate() {
    this.maxClients = 2;
    this.state = new Squares();
    this.state.squares.push(...Array(SQUARES).fill(0));
    this.state.turn = 0;
    // What changed is sent at once rather than twenty times a second.
    this.patchRate = null;
    this.seats = [];
    this.onMessage("mark", (client, square) => {
      const seat = this.seats.indexOf(client.sessionId);
      if (seat !== this.state.turn % 2) return;
      if (!Number.isInteger(square) || square < 0 || square >= SQUARES) return;
      this.state.squares[square] = 1 + seat;
      this.state.turn += 1;
      this.broadcastPatch();
    });
  }

  onJoin(client) {
    this.seats.push(client.sessionId);
  }
}

const server = new Server({
  greet: false,
  transport: new WebSocketTransport({ server: createServer() }),
});
server.define("squares", SquaresRoom);
await server.listen(Number(process.argv[2]), "127.0.0.1");
console.log("ready");
