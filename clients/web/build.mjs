// Builds the page into dist/: node build.mjs [DIRECTORY]. The same source gives the same bytes.
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", style: "src/style.css" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  external: ["pieces.woff2"],
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg", "pieces.woff2"]) {
  await cp(join(here, "static", file), join(out, file));
}
await writeFile(join(out, "LICENCES.txt"), await licences(Object.keys(metafile.inputs)));

/** The licences of everything that the page has in it. */
async function licences(inputs) {
  const folders = inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []);
  const texts = [`pieces.woff2: characters of Noto Serif CJK TC\n\n${await readFile(join(here, "static/OFL.txt"), "utf8")}`];
  for (const folder of [...new Set(folders)].sort()) {
    const { name, version, license } = JSON.parse(await readFile(join(here, folder, "package.json"), "utf8"));
    const file = (await readdir(join(here, folder))).find((file) => /^licen[cs]e/i.test(file));
    const text = file ? await readFile(join(here, folder, file), "utf8") : "";
    texts.push(`${name} ${version}: ${license}\n\n${text}`);
  }
  return texts.map((text) => `${text.trim()}\n`).join(`\n${"-".repeat(80)}\n\n`);
}
