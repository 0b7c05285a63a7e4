// A browser without a network, a program to make results with, and eyes for what goes wrong in a page.
import { chromium, type Browser, type Download, type Page } from "playwright-core";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

function wanted(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this by \`cargo xtask report\``);
  return value;
}

/** Where results, reports and screenshots go. */
export const OUT = resolve(wanted("REPORT_OUT"));
const TAILBACK = resolve(wanted("TAILBACK"));
const CHROMIUM = wanted("CHROMIUM");
/** The clone, where scenarios and papers are. */
const ROOT = resolve(wanted("REPORT_ROOT"));

mkdirSync(join(OUT, "screenshots"), { recursive: true });

/** The program, and where it finds scenarios. */
export function program(): { path: string; root: string } {
  return { path: TAILBACK, root: ROOT };
}

/** Runs the program; an ending in `codes` is as good as success. */
export function tailback(args: string[], codes: number[] = [0]): void {
  try {
    execFileSync(TAILBACK, args, { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"], maxBuffer: 1 << 26 });
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    assert.ok(codes.includes(status), `tailback ${args.join(" ")} ended with ${status}: ${String(stderr)}`);
  }
}

let browser: Browser | null = null;

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}

export interface Opened {
  page: Page;
  /** Milliseconds until what is seen first was painted. */
  took: number;
  /** Milliseconds until all of the page stood. */
  complete: number;
  close(): Promise<void>;
}

export interface Opening {
  width?: number;
  height?: number;
  dark?: boolean;
  /** A screen for fingers. */
  touch?: boolean;
}

/** Opens a report with the network switched off, or a page of a server. Closing it fails if anything was complained about or
 * asked for elsewhere. */
export async function open(path: string, options: Opening = {}): Promise<Opened> {
  const server = path.startsWith("http:") ? new URL(path).origin : null;
  browser ??= await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  const before = await processorTime(browser);
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.dark ? "dark" : "light",
    acceptDownloads: true,
    ...(options.touch ? { hasTouch: true, isMobile: true } : {}),
    offline: server === null,
  });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!/^(file|data|blob):/.test(url) && new URL(url).origin !== server) wrong.push(`request: ${url}`);
  });
  await page.goto(server ? path : `file://${path}`);
  await page.waitForSelector("html[data-ready=true]", { timeout: 60_000 });
  // Others may use the machine: then what the page's process was given of it says how long it would have taken alone.
  const spent = (await processorTime(browser)) - before;
  const took = Math.min(Number(await page.getAttribute("html", "data-took")), Math.round(spent * 1000));
  await page.waitForSelector("html[data-complete]", { timeout: 120_000 });
  const complete = Number(await page.getAttribute("html", "data-complete"));
  const close = async () => {
    await context.close();
    assert.deepEqual(wrong, [], `${path} complains`);
  };
  return { page, took, complete, close };
}

/** Seconds that the processes of pages have been computing. */
async function processorTime(of: Browser): Promise<number> {
  const session = await of.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.filter(({ type }) => type === "renderer").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Opens a report three times; the best of it is the page's own, the rest is the machine's. */
export async function bestOfThree(path: string): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { took, close } = await open(path);
    await close();
    all.push(took);
  }
  return Math.min(...all);
}

export async function shot(page: Page, name: string, full = false): Promise<void> {
  await page.screenshot({ path: join(OUT, "screenshots", `${name}.png`), fullPage: full });
}

/** A file that the page offers. */
export async function saved(page: Page, press: () => Promise<void>): Promise<Buffer> {
  const [download] = (await Promise.all([page.waitForEvent("download"), press()])) as [Download, void];
  return readFileSync(await download.path());
}

/** Rows of CSV by the names of their columns. */
export function rows(text: string): Record<string, string>[] {
  const lines = text.trim().split("\n").map((line) => {
    const cells = line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? [];
    return cells.map((cell) => cell.replace(/,$/, "").replace(/^"|"$/g, "").replaceAll('""', '"'));
  });
  const [names, ...rest] = lines;
  return rest.map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])));
}

/** The chart with that title. */
export function chart(page: Page, title: string) {
  return page.locator("section.chart").filter({ has: page.locator(`h3:text-is("${title}")`) }).first();
}

/** The data of a chart, as it saves them. */
export async function dataOf(page: Page, title: string): Promise<Record<string, string>[]> {
  const button = chart(page, title).locator(".exports button", { hasText: "CSV" });
  return rows(String(await saved(page, () => button.click())));
}

/** Moves the slider to an instant. */
export async function moveTo(page: Page, part: number): Promise<void> {
  await page.locator(".slider").first().evaluate((slider: HTMLInputElement, at) => {
    slider.value = String(Math.round(Number(slider.max) * at));
    slider.dispatchEvent(new Event("input"));
  }, part);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** The fingerprint that the command computes. */
export function fingerprint(scenario: string, set: string[], codes: number[]): string {
  const args = ["run", `scenarios/${scenario}.toml`, "--no-record", "--json", "--quiet", ...set.flatMap((one) => ["--set", one])];
  let text: string;
  try {
    text = execFileSync(TAILBACK, args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    assert.ok(codes.includes(status), `tailback ${args.join(" ")} ended with ${status}`);
    text = stdout;
  }
  return (JSON.parse(text) as { fingerprint: string }).fingerprint;
}

/** Does something and waits for the run that follows. */
export async function ran(page: Page, act: () => Promise<unknown>): Promise<void> {
  const before = Number((await page.getAttribute(".lab", "data-runs")) ?? 0);
  await act();
  await page.waitForFunction((count) => Number(document.querySelector<HTMLElement>(".lab")?.dataset["runs"]) > count && document.querySelector<HTMLElement>(".stop")?.hidden, before, { timeout: 60_000 });
}

/** Chooses a scenario or a lesson of the lab by its title, and waits for its run. */
export async function choose(page: Page, title: string): Promise<void> {
  await ran(page, () => page.locator(".example select").evaluate((select: HTMLSelectElement, name) => {
    const option = [...select.options].find(({ textContent }) => textContent === name);
    if (!option) throw new Error(`no example ${name}`);
    select.value = option.value;
    select.dispatchEvent(new Event("change"));
  }, title));
}

/** Texts of the drawings of networks on a page that run into each other or out of their drawing. */
export function collisions(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    for (const box of document.querySelectorAll<HTMLElement & { plot?: { svg(): string } }>(".plot.network")) {
      const drawing = new DOMParser().parseFromString(box.plot!.svg(), "image/svg+xml").documentElement;
      const context = document.createElement("canvas").getContext("2d")!;
      const texts = [...drawing.querySelectorAll("g > text")].map((text) => {
        const number = (name: string) => Number(text.getAttribute(name));
        const [x, size, anchor] = [number("x"), number("font-size"), text.getAttribute("text-anchor") ?? "start"];
        context.font = `${text.getAttribute("font-weight") ?? ""} ${size}px ${drawing.getAttribute("font-family")}`;
        const long = context.measureText(text.textContent ?? "").width;
        const before = anchor === "middle" ? long / 2 : anchor === "end" ? long : 0;
        // A text's y is 0.35 of its size below the middle of its height; one that stands reads upwards.
        const middle = number("y") - size * 0.35;
        const upright = text.hasAttribute("transform");
        const [left, top] = upright ? [x - size / 2, middle - (long - before)] : [x - before, middle - size / 2];
        const [wide, tall] = upright ? [size, long] : [long, size];
        return { name: text.textContent, left, top, right: left + wide, bottom: top + tall };
      });
      const width = Number(drawing.getAttribute("width"));
      texts.forEach((a, i) => {
        if (a.left < -1 || a.right > width + 1) found.push(`${a.name} leaves the drawing`);
        for (const b of texts.slice(i + 1)) {
          const [across, down] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
          if (across > 1 && down > 1) found.push(`${a.name} and ${b.name}`);
        }
      });
    }
    return found;
  });
}
