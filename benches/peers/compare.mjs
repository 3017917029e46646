// Compares this service with peers, round by round: moves a second, and processor time a move.
//
//     node compare.mjs BANQI [TABLES [SECONDS [ROUNDS]]]

import { execFileSync } from "node:child_process";

const [banqi, tables = "64", seconds = "5", rounds = "5"] = process.argv.slice(2);

const output = (command, options) =>
  execFileSync(command, options, { cwd: import.meta.dirname, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function ours() {
  const options = ["bench", "load", "--in-flight", tables, "--duration", seconds, "--mix", "play=1", "--json"];
  const { methods, service, store } = JSON.parse(output(banqi, options));
  return {
    name: "banqi, with Redis",
    moves_per_second: methods.PlayAction.calls_per_second,
    cpu_us_per_move: service.cpu_us_per_call,
    store_us_per_move: store.cpu_us_per_call,
  };
}

const peer = (name) => JSON.parse(output(process.execPath, ["measure.mjs", name, tables, seconds]));

const sides = [ours, () => peer("boardgame"), () => peer("colyseus")];
const measured = sides.map(() => []);
for (let round = 0; round < Number(rounds); round++) {
  sides.forEach((side, at) => measured[at].push(side()));
}

function spread(figures, digits) {
  const sorted = figures.toSorted((a, b) => a - b);
  const shown = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)].map((it) => it.toFixed(digits));
  return `${shown[0]} (${shown[1]}–${shown[2]})`;
}

console.log(`${tables} tables; medians of ${rounds} rounds, the smallest and the largest in brackets.\n`);
console.log("| service | moves a second | µs of CPU a move | of its store |\n|---|---|---|---|");
for (const rows of measured) {
  const of = (field) => rows.map((row) => row[field]);
  const store = rows[0].store_us_per_move === undefined ? "" : spread(of("store_us_per_move"), 1);
  const cells = [spread(of("moves_per_second"), 0), spread(of("cpu_us_per_move"), 1), store];
  console.log(`| ${rows[0].name} | ${cells.join(" | ")} |`);
}
