// Bundles the front-end into report.js and report.css of crates/render/front, which the program embeds. With
// --tests it bundles the tests of it too. A file is written only if it changed, so that nothing is compiled in vain.
import { build } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const front = "../crates/render/front";
const target = ["chrome103", "firefox113", "safari16.4"];

async function bundle(entry, options) {
  const result = await build({ entryPoints: [join(here, entry)], bundle: true, write: false, ...options });
  return result.outputFiles[0].text;
}

function put(folder, name, text) {
  const path = join(here, folder, name);
  mkdirSync(dirname(path), { recursive: true });
  let before;
  try {
    before = readFileSync(path, "utf8");
  } catch {
    before = undefined;
  }
  if (before !== text) writeFileSync(path, text);
}

const script = await bundle("src/main.ts", { minify: true, format: "iife", target, charset: "ascii", legalComments: "none" });
// The script stands inside a page: nothing in it may look like the end of a script.
put(front, "report.js", script.trim().replaceAll("</", "<\\/"));
put(front, "report.css", (await bundle("src/style.css", { minify: true, target, charset: "ascii" })).trim());
if (process.argv.includes("--tests")) {
  const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
  for (const name of tests) {
    const text = await bundle(join("tests", name), { platform: "node", format: "esm", external: ["playwright-core"] });
    put("node_modules/.tests", name.replace(/\.ts$/, ".mjs"), text);
  }
}
