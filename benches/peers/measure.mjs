// Measures one peer: moves a second, and processor time a move of its server.
//
//     node measure.mjs boardgame|colyseus TABLES SECONDS
//
// Prints one JSON document.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const [name, tables, seconds] = process.argv.slice(2);
const WARM_UP = 2;

async function freePort() {
  const server = createServer();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Nanoseconds that all threads of a process have run. */
function processorTime(pid) {
  // Threads' own times are finer than the clock ticks of /proc/PID/stat.
  const { readdirSync } = process.getBuiltinModule("node:fs");
  const threads = readdirSync(`/proc/${pid}/task`);
  const ran = (thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
  return threads.reduce((sum, thread) => sum + Number(ran(thread).split(" ")[0]), 0);
}

const ports = [await freePort(), await freePort()];
const server = spawn(process.execPath, [`${name}-server.mjs`, ...ports], {
  cwd: import.meta.dirname,
  env: { ...process.env, NODE_ENV: "production" },
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  await new Promise((ready, failed) => {
    server.stdout.on("data", (said) => String(said).includes("ready") && ready());
    server.on("exit", (code) => failed(new Error(`the server ended with code ${code}`)));
  });
  const { play } = await import(`./${name}.mjs`);
  let moves = 0;
  await play(ports, Number(tables), () => moves++);
  await sleep(1_000 * WARM_UP);
  const [from, begun, ran] = [moves, performance.now(), processorTime(server.pid)];
  await sleep(1_000 * Number(seconds));
  const [played, took] = [moves - from, (performance.now() - begun) / 1_000];
  if (played === 0) throw new Error("no move arrived");
  const cpu = (processorTime(server.pid) - ran) / 1_000 / played;
  console.log(JSON.stringify({ name, tables: Number(tables), moves_per_second: played / took, cpu_us_per_move: cpu }));
} finally {
  server.kill();
}
process.exit();
