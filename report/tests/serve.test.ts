// The lab on a server: the same fingerprints, runs drawn as they are simulated, results searched and compared with.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { choose, closeBrowser, fingerprint, open, OUT, program, ran, shot, tailback } from "./browser";

const RESULTS = join(OUT, "served");
let server: ChildProcess;
let address = "";

before(async () => {
  rmSync(RESULTS, { recursive: true, force: true });
  tailback(["run", "scenarios/victim.toml", "--quiet", "--set", "run.seed=5", "--out", join(RESULTS, "recorded-victim")], [0, 6]);
  tailback(["run", "scenarios/incast.toml", "--quiet", "--out", join(RESULTS, "other")], [0, 6]);
  const { path, root } = program();
  server = spawn(path, ["serve", RESULTS, "--listen", "127.0.0.1:0", "--token"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise<string>((done, failed) => {
    server.stdout!.once("data", (line: Buffer) => done(String(line).trim()));
    server.once("exit", (code) => failed(new Error(`the server ended with ${code}`)));
  });
});

after(async () => {
  const ended = new Promise((done) => server.once("exit", done));
  server.kill("SIGINT");
  assert.equal(await ended, 0, "Ctrl-C ends the server in peace");
  await closeBrowser();
});

test("a run on the server has the fingerprint of the command, in two tabs", async () => {
  const tabs = [await open(address), await open(address)];
  for (const { page, close } of tabs) {
    await choose(page, "victim");
    assert.equal(await page.locator(".fingerprint").textContent(), fingerprint("victim", [], [0, 6]));
    await close();
  }
  // A tab that was killed in the middle of a run is in nobody's way.
  const { page, close } = await open(address);
  await ran(page, () => page.locator("button.run").click());
  await close();
});

test("a long run is drawn while it is simulated, and stopped", async () => {
  const { page, close } = await open(address);
  await choose(page, "victim");
  await page.locator('.values > input[type="search"]').fill("duration");
  const input = page.locator('.field[data-path="run.duration"] input[type="text"]');
  await page.locator(".lab-tools input[type=checkbox]").uncheck();
  const before = Number(await page.getAttribute(".lab", "data-runs"));
  await input.fill("20s");
  await input.press("Enter");
  await page.locator("button.run").click();
  await page.waitForFunction(() => /running/.test(document.querySelector(".outcome-line")?.textContent ?? ""), undefined, { timeout: 60_000 });
  assert.equal(Number(await page.getAttribute(".lab", "data-runs")), before, "it goes on");
  await shot(page, "serve-live", true);
  await ran(page, () => page.locator("button.stop").click());
  await close();
});

test("recorded results are found, opened and compared with", async () => {
  const { page, close } = await open(address, { height: 1100 });
  await choose(page, "victim");
  await page.locator(".shelf summary").click();
  await page.waitForSelector(".shelf li");
  assert.equal(await page.locator(".shelf li").count(), 2);
  await page.locator(".shelf input").fill("VICTIM run.seed");
  assert.equal(await page.locator(".shelf li").count(), 1);
  await page.locator(".shelf li button").click();
  await page.waitForFunction(() => document.querySelectorAll(".results .drawing").length === 2);
  await shot(page, "serve-compared", true);
  const report = new URL((await page.getAttribute(".shelf li a", "href"))!, address).href;
  await page.locator(".shelf li button").click();
  await page.waitForFunction(() => document.querySelectorAll(".results .drawing").length === 1);
  await close();
  const opened = await open(report);
  assert.match((await opened.page.locator("h1").textContent()) ?? "", /victim/);
  await opened.close();
});

test("without the token nothing is told", async () => {
  const { origin } = new URL(address);
  for (const path of ["/", "/results", "/results/other", "/runs/other", "/?token=0"]) {
    const response = await fetch(origin + path);
    assert.equal(response.status, 401, path);
    assert.doesNotMatch(await response.text(), /victim|fingerprint/);
  }
});
