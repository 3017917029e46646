// Plays whatever it may:
//
//     node random_bot.mjs ADDRESS [--game ID] [--player NAME]
//
// Joins the game, or without one creates it and prints its id for somebody else to join.

import { run } from "./table.mjs";

/** The action to play in a game in which it is to move. */
function choose({ legalActions }) {
  return legalActions[Math.floor(Math.random() * legalActions.length)].text;
}

await run("random-bot", choose);
