// Plays on Colyseus' server with its own clients.

import { Client } from "@colyseus/sdk";

const SQUARES = 32;

/** Opens tables at which two clients each move in turn, once the other has seen the move. */
export async function play([port], tables, moved) {
  const client = new Client(`ws://127.0.0.1:${port}`);
  const rooms = [];
  for (let table = 0; table < tables; table++) {
    const first = await client.create("squares");
    const second = await client.joinById(first.roomId);
    for (const [seat, room] of [first, second].entries()) {
      rooms.push(room);
      room.onStateChange((state) => {
        if (state.turn === 0 || state.turn % 2 !== seat) return;
        moved();
        setImmediate(() => room.send("mark", state.turn % SQUARES));
      });
    }
    first.send("mark", 0);
  }
  return () => rooms.forEach((room) => room.leave());
}
