// How much is drawn while time is dragged at a hundred flows, and while a run is in progress. Frames per second depend on the machine
// and on what else it does: what is counted here is what a frame takes.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { choose, closeBrowser, collisions, open, OUT, ran, tailback } from "./browser";

after(closeBrowser);

const LAB = join(OUT, "frames.html");
/** Frames over which is counted. */
const FRAMES = 60;
/** Shapes of one drawing of 100 hosts and 20 switches: its 400 directions, their queues and trees, nodes and names. */
const SHAPES = 1000;

before(() => {
  rmSync(LAB, { force: true });
  tailback(["lab", "-o", LAB]);
});

/** Sets values of the scenario, the last of which is run. */
async function set(page: Page, values: Record<string, string>): Promise<void> {
  const auto = page.locator(".lab-tools input[type=checkbox]");
  await auto.uncheck();
  for (const [path, value] of Object.entries(values)) {
    await page.locator('.values > input[type="search"]').fill(path.split(".").at(-1)!);
    const input = page.locator(`.field[data-path="${path}"] input[type="text"]`);
    await input.fill(value);
    await input.press("Enter");
  }
}

interface Counted {
  frames: number;
  /** Canvases that were painted, and shapes in them, in all frames. */
  painted: number;
  shapes: number;
  /** The longest that a frame took, and the median, in milliseconds of wall time. */
  longest: number;
  median: number;
  /** Seconds that the page's thread has computed. */
  computed: number;
}

/** Drags the slider over so many frames, or until something is true. */
async function dragged(page: Page, frames: number, until = "false"): Promise<Counted> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const computed = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")!.value;
  const begun = await computed();
  const counted = await page.evaluate(async ([most, over]) => {
    const drawn = CanvasRenderingContext2D.prototype as unknown as Record<string, (...all: unknown[]) => unknown>;
    const counts = { painted: 0, shapes: 0 };
    const own = new Map(["clearRect", "stroke", "fill", "fillRect", "fillText", "drawImage"].map((name) => [name, drawn[name]]));
    for (const [name, act] of own) {
      drawn[name] = function (this: unknown, ...all: unknown[]) {
        counts[name === "clearRect" ? "painted" : "shapes"] += 1;
        return act.apply(this, all);
      };
    }
    const ended = new Function(`return ${over}`) as () => boolean;
    const slider = document.querySelector<HTMLInputElement>(".slider")!;
    const times: number[] = [];
    let last = performance.now();
    for (let frame = 0; frame < most && !ended(); frame++) {
      slider.value = String(Math.round(Number(slider.max) * (0.1 + (0.8 * (frame % 60)) / 60)));
      slider.dispatchEvent(new Event("input"));
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    for (const [name, act] of own) drawn[name] = act;
    if (slider !== document.querySelector(".slider")) throw new Error("the slider was replaced while it was dragged");
    times.sort((a, b) => a - b);
    return { ...counts, frames: times.length, longest: times.at(-1) ?? 0, median: times[times.length >> 1] ?? 0 };
  }, [frames, until] as [number, string]);
  const seconds = (await computed()) - begun;
  await session.detach();
  return { ...counted, computed: seconds };
}

const told = ({ frames, painted, shapes, longest, median, computed }: Counted) =>
  `${frames} frames: ${(painted / frames).toFixed(1)} canvases, ${Math.round(shapes / frames)} shapes and ${((1000 * computed) / frames).toFixed(1)} ms of the page's thread each; ${median.toFixed(0)} ms from one to the next (median; longest ${longest.toFixed(0)})`;

test("at a hundred flows a drag paints the network and nothing else", async () => {
  const { page, close } = await open(LAB);
  await choose(page, "leaf-spine");
  await set(page, { "network.leaves": "10", "network.spines": "10", "network.hosts_per_leaf": "10" });
  await ran(page, () => page.locator("button.run").click());
  await page.waitForSelector(".growth canvas");
  await page.locator(".plot.network").scrollIntoViewIfNeeded();
  // What is painted once it has been made is painted.
  await page.waitForTimeout(1500);
  const counted = await dragged(page, FRAMES);
  console.log(`dragged, ${told(counted)}`);
  assert.ok(counted.painted <= counted.frames + 1, `${counted.painted} canvases in ${counted.frames} frames`);
  assert.ok(counted.shapes / counted.frames < SHAPES, `${counted.shapes} shapes in ${counted.frames} frames`);

  // The same while a run is in progress, whose pictures replace each other: the slider stays, and the drag goes on.
  await set(page, { "run.duration": "40ms" });
  const runs = Number(await page.getAttribute(".lab", "data-runs"));
  await page.locator("button.run").click();
  await page.waitForFunction(() => /running/.test(document.querySelector(".outcome-line")?.textContent ?? ""), undefined, { timeout: 60_000 });
  const meanwhile = await dragged(page, 10_000, `Number(document.querySelector(".lab").dataset.runs) > ${runs}`);
  console.log(`dragged while a run was in progress, ${told(meanwhile)}`);
  assert.ok(meanwhile.frames > 5, `${meanwhile.frames} frames`);
  // Each look paints what is seen of it once more, and the charts below one by one.
  assert.ok(meanwhile.painted < meanwhile.frames + 200, `${meanwhile.painted} canvases in ${meanwhile.frames} frames`);
  await close();
});

test("names of a drawing stand apart, on a phone and side by side", async () => {
  for (const opening of [{}, { width: 390, height: 844, touch: true }]) {
    const { page, close } = await open(LAB, opening);
    for (const title of ["victim", "leaf-spine", "rails", "bcn-stability", "ring-routing", "roce-incast", "fat-tree"]) {
      await choose(page, title);
      assert.deepEqual(await collisions(page), [], `${title} at ${opening.width ?? 1280} pixels`);
    }
    await choose(page, "leaf-spine");
    await page.locator("button", { hasText: "Compare with this run" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".results .drawing").length === 2);
    assert.deepEqual(await collisions(page), [], `two drawings at ${opening.width ?? 1280} pixels`);
    await close();
  }
});
