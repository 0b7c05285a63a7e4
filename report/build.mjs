// Bundles the front-end into crates/render/front, which the program embeds: report.js, lab.js, their styles, examples, all
// deflated. With --tests it bundles the tests of it too. A file is written only if its text changed, so that nothing is
// compiled in vain, and the repository does not depend on the version of zlib.
import { build } from "esbuild";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync, inflateSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const front = "../crates/render/front";
const target = ["chrome103", "firefox113", "safari16.4"];

async function bundle(entry, options) {
  const result = await build({ entryPoints: [join(here, entry)], bundle: true, write: false, ...options });
  return result.outputFiles[0].text;
}

/** Writes a file unless it has this text; one whose name ends in ".z" is deflated. */
function put(folder, name, text) {
  const path = join(here, folder, name);
  const deflates = name.endsWith(".z");
  mkdirSync(dirname(path), { recursive: true });
  let before;
  try {
    const bytes = readFileSync(path);
    before = (deflates ? inflateSync(bytes) : bytes).toString("utf8");
  } catch {
    before = undefined;
  }
  if (before !== text) writeFileSync(path, deflates ? deflateSync(text, { level: 9 }) : text);
}

/** Scenarios and recipes, and the files that they name, for the lab. */
function examples() {
  const root = join(here, "..");
  const read = (path) => readFileSync(join(root, path), "utf8");
  const title = (text, name) => /^name = "(.*)"$/m.exec(text)?.[1] ?? name;
  const list = [];
  const files = {};
  for (const file of readdirSync(join(root, "scenarios")).filter((name) => name.endsWith(".toml")).sort()) {
    const text = read(`scenarios/${file}`);
    list.push({ group: "Scenarios", title: title(text, file), name: `scenarios/${file}`, text });
    const base = /^base = "(.*)"$/m.exec(text)?.[1];
    if (base) files[normalize(join("scenarios", base)).replaceAll("\\", "/")] = read(join("scenarios", base));
  }
  // A recipe: its heading, the name of its file, its text.
  for (const part of read("docs/recipes.md").split(/^## /m).slice(1)) {
    const text = /^```toml\n([\s\S]*?)^```$/m.exec(part)?.[1];
    const file = /^`([\w.-]+\.toml)`/m.exec(part)?.[1];
    if (text && file) list.push({ group: "Recipes", title: part.split("\n")[0], name: `recipes/${file}`, text });
  }
  const lessons = readdirSync(join(root, "docs/lessons")).filter((name) => /^\d/.test(name)).sort().map((name) => {
    const text = read(`docs/lessons/${name}`);
    const part = (pattern) => {
      const found = pattern.exec(text)?.[1];
      if (found === undefined) throw new Error(`docs/lessons/${name} has no ${pattern}`);
      return found.trim();
    };
    return {
      title: part(/^# (.*)$/m),
      name: `lessons/${name.replace(/\.md$/, ".toml")}`,
      text: `${part(/^```toml\n([\s\S]*?)^```$/m)}\n`,
      about: part(/^# .*\n([\s\S]*?)^```toml$/m),
      question: part(/^## Question\n([\s\S]*?)^Change: /m),
      answer: part(/^## Answer\n([\s\S]*?)^Solution: /m),
      change: [...part(/^Change: (.*)$/m).matchAll(/`([^`]+)`/g)].map((match) => match[1]),
      solution: part(/^Solution: `(.*)`$/m),
    };
  });
  return `${JSON.stringify({ examples: list, lessons, files })}\n`;
}

const how = { minify: true, format: "iife", target, charset: "ascii", legalComments: "none" };
const thread = (await bundle("src/lab/thread.ts", how)).trim();
for (const [entry, style, name] of [["main", "style", "report"], ["lab", "lab", "lab"]]) {
  const script = await bundle(`src/${entry}.ts`, { ...how, define: { THREAD: JSON.stringify(thread) } });
  // The script stands inside a page: nothing in it may look like the end of a script.
  put(front, `${name}.js.z`, script.trim().replaceAll("</", "<\\/"));
  put(front, `${name}.css.z`, (await bundle(`src/${style}.css`, { minify: true, target, charset: "ascii" })).trim());
}
put(front, "examples.json.z", examples());
if (process.argv.includes("--tests")) {
  const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
  for (const name of tests) {
    const text = await bundle(join("tests", name), { platform: "node", format: "esm", external: ["playwright-core"] });
    put("node_modules/.tests", name.replace(/\.ts$/, ".mjs"), text);
  }
}
