// How long reports take to open, how large they are, and how they are moved with fingers.
import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { inflateSync } from "node:zlib";
import type { CDPSession, Page } from "playwright-core";
import { bestOfThree, chart, closeBrowser, dataOf, open, OUT, rows, saved, shot, tailback } from "./browser";

after(closeBrowser);

const place = (name: string) => join(OUT, name);

/** Runs a scenario with a report and returns the directory of its results; older results there are removed. */
function reported(scenario: string, name: string, ...set: string[]): string {
  rmSync(place(name), { recursive: true, force: true });
  tailback(["run", `scenarios/${scenario}.toml`, "--quiet", "--report", "--out", place(name), ...set.flatMap((value) => ["--set", value])]);
  return join(place(name), "report.html");
}

const megabytes = (path: string) => statSync(path).size / 1e6;

test("a run of a hundred flows opens in under a second", async () => {
  const path = reported("leaf-spine", "hundred", "network.leaves=10", "network.spines=10", "network.hosts_per_leaf=10");
  const { page, complete, close } = await open(path);
  assert.match((await page.locator("#outcome .facts").textContent()) ?? "", /100 flows/);
  // All that can be looked at is there in the end.
  for (const title of ["The network", "Throughput", "Output queues", "Input buffers", "Link utilisation", "Paused ports"]) {
    assert.equal(await chart(page, title).count(), 1, title);
  }
  await close();
  const took = await bestOfThree(path);
  console.log(`a hundred flows: ${took} ms until it can be used, all of it after ${complete} ms; ${megabytes(path).toFixed(1)} MB`);
  assert.ok(took < 1000, `${took} ms`);
});

test("a fat-tree of 1024 hosts opens in three seconds", async () => {
  const path = reported("fat-tree", "thousand", "network.k=16", "run.duration=100us", "run.warm_up=10us");
  const took = await bestOfThree(path);
  console.log(`1024 hosts: ${took} ms until it can be used; ${megabytes(path).toFixed(1)} MB`);
  assert.ok(took < 3000, `${took} ms`);
});

test("a paper can be read after two seconds", async () => {
  // The same place as where verdicts are looked at: what is there is not run again.
  const papers = resolve(process.env["REPORT_PAPERS"] ?? place("papers"));
  tailback(["reproduce", "infiniband-ecn-2002", "--quick", "--out", papers, "--report"], [0, 6]);
  const path = join(papers, "infiniband-ecn-2002", "report.html");
  const took = await bestOfThree(path);
  console.log(`a paper: ${took} ms until it can be used; ${megabytes(path).toFixed(1)} MB`);
  assert.ok(took < 2000, `${took} ms`);
  assert.ok(megabytes(path) < 15.5, `${megabytes(path)} MB`);
});

/** What each direction sent, by the table of links. */
async function sent(page: Page): Promise<Map<string, string>> {
  await page.locator("#tables").evaluate((part) => part.scrollIntoView({ block: "end", behavior: "instant" }));
  const links = page.locator("section.table", { has: page.locator('h3:text-is("Links")') });
  const table = rows(String(await saved(page, () => links.locator("button", { hasText: "CSV" }).click())));
  return new Map(table.map((row) => [row["link"], row["sent"]]));
}

test("what does not fit is said, and sums stay true", async () => {
  tailback(["report", place("hundred"), "--size", "300KB", "-o", place("small.html")]);
  assert.ok(megabytes(place("small.html")) < 0.3 + 0.3, `${megabytes(place("small.html"))} MB`);
  const { page, close } = await open(place("small.html"));
  const note = (await page.locator(".note.joined").textContent()) ?? "";
  assert.match(note, /links merged over [\d.]+ .s/);
  assert.match(note, /tailback report --size/);
  const joined = await sent(page);
  await close();
  const whole = await open(join(place("hundred"), "report.html"));
  assert.equal(await whole.page.locator(".note.joined").count(), 0);
  assert.ok(joined.size > 300);
  assert.deepEqual(joined, await sent(whole.page));
  await whole.close();
});

test("the front-end is under three megabytes", () => {
  const size = (name: string) => inflateSync(readFileSync(join(process.env["REPORT_ROOT"]!, "crates/render/front", name))).length;
  assert.ok(size("report.js.z") + size("report.css.z") < 3_000_000);
});

/** Fingers that come down at places, move to others in steps, and are lifted. */
async function touch(session: CDPSession, from: [number, number][], to: [number, number][]): Promise<void> {
  const points = (part: number) => from.map(([x, y], i) => ({ x: x + (to[i][0] - x) * part, y: y + (to[i][1] - y) * part, id: i }));
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(0) });
  for (let step = 1; step <= 8; step++) await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(step / 8) });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

test("fingers stretch and move a chart, and scroll the page", async () => {
  const path = reported("incast", "incast-touched");
  const { page, close } = await open(path, { width: 390, height: 844, touch: true });
  const session = await page.context().newCDPSession(page);
  const canvas = chart(page, "Throughput").locator("canvas");
  const middle = async () => {
    await canvas.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
    const box = (await canvas.boundingBox())!;
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, part: box.width / 10 };
  };
  const seen = async () => {
    const times = (await dataOf(page, "Throughput")).map((row) => Number(row["time (s)"]));
    return { from: Math.min(...times), to: Math.max(...times) };
  };
  const whole = await seen();

  // Two fingers apart: less is seen, and what was between them fills more of the chart.
  let { x, y, part } = await middle();
  await touch(session, [[x - 2 * part, y], [x - part, y]], [[x - 3 * part, y], [x + 3 * part, y]]);
  const stretched = await seen();
  assert.ok(stretched.to < whole.to * 0.85 && stretched.to - stretched.from < (whole.to - whole.from) * 0.6, JSON.stringify({ whole, stretched }));

  // One finger to the left: later times come.
  ({ x, y, part } = await middle());
  await touch(session, [[x + 2 * part, y]], [[x - 2 * part, y + 2]]);
  const moved = await seen();
  assert.ok(moved.to > stretched.to && moved.from > stretched.from, JSON.stringify({ stretched, moved }));
  // What is under the finger can be read, and stays.
  assert.match((await chart(page, "Throughput").locator(".chip .value").first().textContent()) ?? "", /\d/);

  // Two taps: all of it again.
  ({ x, y } = await middle());
  await touch(session, [[x, y]], [[x, y]]);
  await touch(session, [[x, y]], [[x, y]]);
  assert.deepEqual(await seen(), whole);

  // Up and down over a chart the page scrolls, and the chart stays as it is.
  ({ x, y } = await middle());
  const before = await page.evaluate(() => window.scrollY);
  await touch(session, [[x, y]], [[x, y - 250]]);
  await page.waitForFunction((at) => window.scrollY > at + 100, before, { timeout: 10_000 });
  assert.deepEqual(await seen(), whole);
  await shot(page, "incast-touched");
  await close();
});
