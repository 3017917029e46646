// Takes the highest piece that it can, or else turns one up, or else moves:
//
//     node greedy_bot.mjs ADDRESS [--game ID] [--player NAME]
//
// Joins the game, or without one creates it and prints its id for somebody else to join.

import { ActionKind, Cell } from "banqi-client";

import { run } from "./table.mjs";

/** The action to play in a game in which it is to move. */
function choose({ legalActions, position }) {
  const rated = legalActions.map(({ text, kind, to }) => ({ text, worth: worth(position, kind, to) + Math.random() }));
  return rated.reduce((best, action) => (action.worth > best.worth ? action : best)).text;
}

function worth({ cells }, kind, to) {
  switch (kind) {
    case ActionKind.CAPTURE:
      // Seven kinds of each colour follow each other, the general first; squares are counted from 1.
      return 10 - ((cells[to - 1] - Cell.RED_GENERAL) % 7);
    case ActionKind.AIM:
      return 2;
    case ActionKind.FLIP:
      return 1;
    default:
      return 0;
  }
}

await run("greedy-bot", choose);
