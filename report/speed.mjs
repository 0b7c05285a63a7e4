// How fast the simulator for pages is beside the program: node speed.mjs MODULE PROGRAM SCENARIO[,KEY=VALUE...]...
//
// Both run the same scenarios on one thread, by turns, and processor time is compared, so that what else the machine does matters
// little. The module is asked as a page asks it, and keeps the tables that a page draws. The program is run twice: bare, and with
// its tables recorded.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";

const [, , packed, program, ...scenarios] = process.argv;
/** Turns of each scenario. */
const TURNS = 3;
/** Milliseconds that a step of the module should take, and the least part of a run that a step is, as in src/lab/drive.ts. */
const [STEP, LEAST] = [40, 1 / 10_000];

const module = await WebAssembly.compile(inflateSync(readFileSync(packed)));
const scratch = mkdtempSync(join(tmpdir(), "tailback-speed-"));

/** A module as a function from requests to documents. */
async function lab() {
  const { memory, lab_room, lab_answer, lab_answer_at } = (await WebAssembly.instantiate(module, {})).exports;
  return (request) => {
    const asked = new TextEncoder().encode(JSON.stringify(request));
    const room = lab_room(asked.length);
    new Uint8Array(memory.buffer, room, asked.length).set(asked);
    const length = lab_answer();
    const at = lab_answer_at();
    const document = new DataView(memory.buffer, at, length).getUint32(0, true);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, at + 4, document)));
  };
}

/** Runs a scenario in the module: milliseconds of processor time from its start to its results, and its fingerprint. */
function inModule(ask, name, set) {
  const begun = process.cpuUsage();
  const started = ask({ ask: "start", name, text: readFileSync(name, "utf8"), set });
  if (typeof started.duration_ps !== "number") throw new Error(`${name}: ${JSON.stringify(started)}`);
  const duration = started.duration_ps;
  let [step, seen] = [Math.max(1, Math.floor(duration / 500)), null];
  for (let until = step; !seen?.ended; until = Math.min(duration, until + step)) {
    const before = performance.now();
    seen = ask({ ask: "advance", until });
    const took = Math.max(0.1, performance.now() - before);
    step = Math.max(1, Math.floor(duration * LEAST), Math.floor(step * Math.min(4, Math.max(0.25, STEP / took))));
  }
  const { manifest } = ask({ ask: "finish", wall: 0 });
  return { took: process.cpuUsage(begun).user / 1000, hops: manifest.hops, fingerprint: manifest.fingerprint };
}

/** Runs it by the program: milliseconds of processor time, and its fingerprint. */
function byProgram(name, set, how) {
  const args = ["run", name, "--json", "--quiet", "--threads", "1", ...how, ...set.flatMap((one) => ["--set", one])];
  const { status, stdout, stderr } = spawnSync("bash", ["-c", 'TIMEFORMAT=%U; time "$@"', "bash", program, ...args], { encoding: "utf8" });
  // An expectation that is not met is an answer, too.
  if (![0, 4, 6].includes(status)) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return { took: Number(stderr.trim().split("\n").at(-1)) * 1000, fingerprint: JSON.parse(stdout).fingerprint };
}

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

try {
  const ratios = [];
  for (const one of scenarios) {
    const [name, ...set] = one.split(",");
    const ask = await lab();
    // While the first run goes on, the module is also compiled, by both compilers of the engine one after the other.
    const { took: first } = inModule(ask, name, set);
    const turns = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const page = inModule(ask, name, set);
      const bare = byProgram(name, set, ["--no-record"]);
      const recorded = byProgram(name, set, ["--out", join(scratch, "results"), "--overwrite"]);
      for (const { fingerprint } of [bare, recorded]) {
        if (fingerprint !== page.fingerprint) throw new Error(`${name}: ${page.fingerprint} in the module, ${fingerprint} by the program`);
      }
      turns.push({ page: page.took, bare: bare.took, recorded: recorded.took, hops: page.hops });
    }
    // Each ratio is of one turn: its runs had the same machine.
    const ratio = median(turns.map((turn) => turn.bare / turn.page));
    const beside = median(turns.map((turn) => turn.recorded / turn.page));
    const rate = (of) => (turns[0].hops / median(turns.map((turn) => turn[of])) / 1000).toFixed(2);
    ratios.push(ratio);
    console.log(`${one}: ${ratio.toFixed(2)} of the bare run, ${beside.toFixed(2)} of the recorded one; million hops/s: ${rate("page")} in the module, ${rate("bare")} bare, ${rate("recorded")} recorded; first run in the module ${Math.round(first)} ms`);
  }
  console.log(`median of the scenarios: ${median(ratios).toFixed(2)}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
