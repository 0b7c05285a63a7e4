// The lab in a browser: scenarios changed, run and shared, with the fingerprints of the command.
import assert from "node:assert/strict";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { choose, closeBrowser, fingerprint, moveTo, open, OUT, ran, shot, tailback } from "./browser";

after(closeBrowser);

const LAB = join(OUT, "lab.html");

before(() => {
  rmSync(LAB, { force: true });
  tailback(["lab", "-o", LAB]);
});

const shown = (page: Page) => page.locator(".fingerprint").textContent();
const field = (page: Page, path: string) => page.locator(`.field[data-path="${path}"]`);

/** Scenarios, a value of each that is changed, and how the command may end. */
const CHANGED: [string, string, string, number[]][] = [
  ["victim", "switches[0].buffers[0].xoff", "120KB", [0, 6]],
  ["incast", "network.link.latency", "800ns", [0, 6]],
  ["ring-deadlock", "run.seed", "5", [0, 4, 6]],
  ["failing-cable", "run.seed", "7", [0, 6]],
  ["slow-receiver", "network.link.rate", "12Gb/s", [0, 6]],
  ["infiniband-credits", "network.link.latency", "150ns", [0, 6]],
];

test("six scenarios, changed and run, have the fingerprints of the command", async () => {
  const { page, close } = await open(LAB);
  for (const [scenario, path, value, codes] of CHANGED) {
    await choose(page, scenario);
    assert.equal(await shown(page), fingerprint(scenario, [], codes), scenario);
    await page.locator('input[type="search"]').first().fill(path.split(".").at(-1)!.replace(/\[.*/, ""));
    const input = field(page, path).locator('input[type="text"]');
    await ran(page, async () => {
      await input.fill(value);
      await input.press("Enter");
    });
    await page.locator('input[type="search"]').first().fill("");
    assert.equal(await shown(page), fingerprint(scenario, [`${path}=${value}`], codes), `${scenario} with ${path}=${value}`);
    assert.match((await page.locator(".command").textContent()) ?? "", new RegExp(`^tailback run scenarios/${scenario}.toml --set `));
  }
  await close();
});

/** What the lesson says of its first goal. */
const goal = (page: Page) => page.locator(".goals li").first().textContent();

for (const [screen, opening] of Object.entries({ desktop: { height: 1000 }, phone: { width: 390, height: 844, touch: true } })) {
  test(`whoever opens the page is shown a victim, frees it and makes it again, on a ${screen}`, async () => {
    const begun = performance.now();
    const { page, close } = await open(LAB, opening);
    // Nothing was chosen: the page begins with the first lesson, which has run.
    assert.match((await page.locator(".lesson h2").textContent()) ?? "", /victim/);
    assert.match((await goal(page)) ?? "", /the victim has its link.*now 1\.6/);
    const status = page.locator(".results .status").first();
    await page.waitForFunction(() => /victim: victim/.test(document.querySelector(".results .status")?.textContent ?? ""));
    const before = await shown(page);
    await shot(page, `lab-first-${screen}`);
    // What the question names comes first, and its values are offered.
    const paths = await page.locator(".field").evaluateAll((all) => all.slice(0, 3).map((one) => (one as HTMLElement).dataset["path"]));
    assert.deepEqual(paths, ["workloads[1].class", "network.trunk.rate", "switches[0].buffers[0].capacity"]);
    const choice = field(page, "workloads[1].class").locator("select");
    assert.deepEqual(await choice.locator("option").allTextContents(), ["bulk", "storage"]);
    // A faster trunk does not free it.
    const trunk = field(page, "network.trunk.rate").locator('input[type="range"]');
    await trunk.scrollIntoViewIfNeeded();
    await trunk.focus();
    await ran(page, () => page.keyboard.press("End"));
    assert.match((await goal(page)) ?? "", /now 1\.\d/);
    await ran(page, () => field(page, "network.trunk.rate").locator("button").click());
    // A class of its own does; what changes is in sight beside what is changed.
    await choice.evaluate((one) => one.scrollIntoView({ block: "center", behavior: "instant" }));
    await ran(page, () => choice.selectOption("storage"));
    assert.equal(await page.getAttribute(".lesson", "data-reached"), "true");
    assert.match((await goal(page)) ?? "", /now (9\.[5-9]|10)/);
    const freed = (await status.textContent()) ?? "";
    assert.ok(!freed.includes("victim: victim") && /victim: throughput (9\.[5-9]\d*|10) Gb\/s, fair share/.test(freed), freed);
    for (const part of [choice, page.locator(".plot.network canvas"), status]) {
      const seen = await part.evaluate((one) => {
        const { left, top, right, bottom } = one.getBoundingClientRect();
        const ends = [top + 3, bottom - 3].map((y) => document.elementFromPoint((left + right) / 2, y));
        return ends.every((there) => there && one.contains(there));
      });
      assert.ok(seen, "what is changed and what changes are in sight together");
    }
    await shot(page, `lab-freed-${screen}`);
    await ran(page, () => choice.selectOption("bulk"));
    assert.equal(await shown(page), before);
    assert.match((await status.textContent()) ?? "", /victim: victim/);
    await close();
    assert.ok(performance.now() - begun < 60_000, `${performance.now() - begun} ms`);
  });
}

test("runs are compared side by side; another scenario begins at its worst moment", async () => {
  const { page, close } = await open(LAB, { height: 1100 });
  await choose(page, "victim");
  await page.waitForSelector(".results .words .story");
  assert.match((await page.locator(".results .words").textContent()) ?? "", /Victims/);
  await moveTo(page, 0.5);
  await shot(page, "lab", true);
  await page.locator("button", { hasText: "Compare with this run" }).click();
  const slider = field(page, "network.trunk.rate").locator('input[type="range"]');
  await slider.focus();
  const before = await shown(page);
  await ran(page, () => page.keyboard.press("Home"));
  assert.notEqual(await shown(page), before);
  assert.equal(await page.locator(".results .drawing").count(), 2);
  // The instant that was chosen stays.
  assert.equal(await page.locator(".clock").textContent(), "2.5 ms");
  await shot(page, "lab-compared", true);
  // Back to the scenario's own value.
  await ran(page, () => field(page, "network.trunk.rate").locator("button").click());
  assert.equal(await shown(page), before);
  // Elsewhere the half of this run means nothing: what is blocked behind a failed cable is shown.
  await choose(page, "failing-cable");
  await page.waitForFunction(() => /sw0 \u2013 sw1 has failed; estimated from samples: root sw0 \u2192 sw1/.test(document.querySelector(".status")?.textContent ?? ""));
  await shot(page, "lab-failed");
  await close();
});

test("an outcome with losses is no success", async () => {
  const { page, close } = await open(LAB);
  const verdict = page.locator(".outcome-line .verdict");
  for (const [scenario, text] of [["failing-cable", /^finished, 3 frames lost on links$/], ["composite-queue", /^finished, [\d,]+ frames trimmed$/]] as const) {
    await choose(page, scenario);
    assert.match((await verdict.textContent()) ?? "", text);
    assert.match((await verdict.getAttribute("class")) ?? "", /warning/);
  }
  await choose(page, "victim");
  assert.match((await verdict.getAttribute("class")) ?? "", /good/);
  await close();
});

test("the text: mistakes at their place, completion and running by keys", async () => {
  const { page, close } = await open(LAB);
  await choose(page, "victim");
  const area = page.locator("textarea.code");
  const text = await area.inputValue();
  await area.fill(text.replace('flow_control = "pfc"', 'flow_control = "pcf"'));
  await page.waitForSelector(".mistakes li");
  assert.match((await page.locator(".mistakes li").first().textContent()) ?? "", /pfc/);
  assert.equal(await page.locator(".marks mark").textContent(), '"pcf"');
  await shot(page, "lab-mistake");
  await page.locator(".mistakes button").first().click();
  assert.equal(await area.evaluate((it: HTMLTextAreaElement) => it.value.slice(it.selectionStart, it.selectionEnd)), '"pcf"');
  await ran(page, () => area.fill(text));
  // A new key by its first letters, its value from a list.
  await area.evaluate((it: HTMLTextAreaElement) => {
    const at = it.value.indexOf("flow_control");
    it.focus();
    it.setSelectionRange(at, at);
  });
  await page.keyboard.type("queuei");
  await page.waitForSelector(".proposals li");
  assert.equal(await page.locator('.proposals [aria-selected="true"]').textContent(), "queueing");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Space");
  assert.ok((await page.locator(".proposals li").allTextContents()).includes("input-fifo"));
  await shot(page, "lab-completion");
  await page.keyboard.press("Escape");
  await page.keyboard.type('"input-fifo"\n');
  await ran(page, () => page.keyboard.press("Control+Enter"));
  assert.equal(await page.locator(".mistakes li").count(), 0);
  assert.match(await area.inputValue(), /queueing = "input-fifo"\nflow_control/);
  await close();
});

test("lessons: what is to be reached is not, until the answer is applied", async () => {
  const { page, close } = await open(LAB);
  const titles = (await page.locator('optgroup[label="Lessons"] option').allTextContents());
  assert.equal(titles.length, 6);
  for (const title of titles) {
    await choose(page, title);
    assert.equal(await page.locator(".mistakes li").count(), 0, title);
    assert.equal(await page.getAttribute(".lesson", "data-reached"), "false", title);
    if (title.startsWith("1.")) await shot(page, "lab-lesson");
    await page.locator(".lesson summary").click();
    await ran(page, () => page.locator(".lesson button", { hasText: "Show me" }).click());
    assert.equal(await page.getAttribute(".lesson", "data-reached"), "true", title);
  }
  await choose(page, "incast");
  assert.equal(await page.locator(".lesson").isVisible(), false);
  await close();
});

test("a link holds the whole scenario", async () => {
  const { page, close } = await open(LAB);
  await choose(page, "incast");
  await page.locator("details.text").evaluate((it: HTMLDetailsElement) => (it.open = true));
  await ran(page, async () => {
    const input = field(page, "run.duration").locator('input[type="text"]');
    await input.fill("1ms");
    await input.press("Enter");
  });
  const made = await shown(page);
  await page.locator("button", { hasText: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#lab="));
  const address = page.url();
  await close();
  const other = await open(`${LAB}${new URL(address).hash}`);
  assert.equal(await shown(other.page), made);
  // One that is damaged is as good as none.
  await other.page.evaluate(() => (location.hash = "#lab=AAAA"));
  await other.close();
});

test("on a phone, and small", async () => {
  const { page, close } = await open(LAB, { width: 390, height: 844, touch: true });
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide[0] <= wide[1], `${wide[0]} pixels on ${wide[1]}`);
  await ran(page, () => page.locator("button.run").tap());
  await shot(page, "lab-phone", true);
  await close();
  const report = statSync(LAB).size;
  assert.ok(report < 3_300_000, `${report} bytes`);
});
