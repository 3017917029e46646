// What the people of the tests would do. They look at the game over the API, and act on the page.
import { ActionKind } from "banqi-client";
import { connect } from "banqi-client/node";

export class Table {
  constructor(origin, link) {
    this.games = connect(origin).games;
    this.id = link.split("/game/")[1];
    this.seen = { flip: 0, capture: 0, jump: 0, move: 0, end: 0 };
  }

  async game() {
    return (await this.games.getGame({ gameId: this.id })).game;
  }

  /** A jump of a cannon if there is one, else a capture, else a flip, else a move. */
  static choose(game) {
    const { cells } = game.position;
    const isCannon = (square) => (cells[square - 1] - 3) % 7 === 5;
    const far = ({ from, to }) => {
      const [files, ranks] = [Math.abs(((from - 1) % 8) - ((to - 1) % 8)), Math.abs(((from - 1) >> 3) - ((to - 1) >> 3))];
      return files + ranks > 1;
    };
    const kinds = [
      ["jump", ({ kind, from, to }) => kind === ActionKind.CAPTURE && isCannon(from) && far({ from, to })],
      ["capture", ({ kind }) => kind === ActionKind.CAPTURE || kind === ActionKind.AIM],
      ["flip", ({ kind }) => kind === ActionKind.FLIP],
      ["move", ({ kind }) => kind === ActionKind.MOVE],
      ["end", () => true],
    ];
    for (const [kind, is] of kinds) {
      const found = game.legalActions.filter(is);
      if (found.length > 0) {
        // Moves that go about, so that not every game is drawn by repetition.
        return [kind, found[(Number(game.revision) * 7) % found.length]];
      }
    }
    throw new Error("a game that goes on has a legal action");
  }

  /** The person whose turn it is acts, by seat; answers the game after it. */
  async turn(game, people) {
    const [kind, action] = Table.choose(game);
    this.seen[kind] += 1;
    const person = people[game.position.toMove - 1];
    if (kind === "end") {
      await person.page.click(".actions button.main");
      await person.page.waitForTimeout(50);
    } else {
      await person.act(action);
    }
    return this.game();
  }
}
