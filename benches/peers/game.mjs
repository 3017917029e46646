// The game that boardgame.io's server and its clients both know.

export const SQUARES = 32;

export const game = {
  name: "squares",
  setup: () => ({ squares: Array(SQUARES).fill(0) }),
  turn: { minMoves: 1, maxMoves: 1 },
  disableUndo: true,
  moves: {
    mark: {
      move: ({ G, ctx }, square) => {
        if (!Number.isInteger(square) || square < 0 || square >= SQUARES) return "INVALID_MOVE";
        G.squares[square] = 1 + Number(ctx.currentPlayer);
      },
      // The server decides, as it must wherever something is hidden.
      client: false,
    },
  },
};
