// Numbers for people, and ticks for axes.
import type { Quantity } from "./types";

type Ladder = readonly (readonly [string, number])[];

const LADDERS: Partial<Record<Quantity, Ladder>> = {
  time: [["s", 1], ["ms", 1e-3], ["\u00b5s", 1e-6], ["ns", 1e-9], ["ps", 1e-12]],
  rate: [["Tb/s", 1e12], ["Gb/s", 1e9], ["Mb/s", 1e6], ["kb/s", 1e3], ["b/s", 1]],
  size: [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
};

/** The unit fit for values up to `most`, and how many base units it holds. */
export function unitFor(quantity: Quantity, most: number): [string, number] {
  if (quantity === "fraction") return ["%", 0.01];
  if (quantity === "frames") return ["frames", 1];
  const ladder = LADDERS[quantity];
  if (!ladder) return ["", 1];
  const size = Math.abs(most);
  const fit = ladder.find(([, factor]) => size >= factor * 0.9995);
  // Nothing at all is nothing of the base unit.
  const [name, factor] = fit ?? (size === 0 ? (ladder.find(([, factor]) => factor === 1) ?? ladder[0]) : ladder[ladder.length - 1]);
  return [name, factor];
}

/** Four digits that matter. */
export function digits(value: number, significant = 4): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "" : value > 0 ? "\u221e" : "-\u221e";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(significant - 1);
  const before = Math.floor(Math.log10(size)) + 1;
  const text = value.toFixed(Math.max(0, Math.min(12, significant - before)));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A value with its unit. */
export function show(value: number | null | undefined, quantity: Quantity, significant = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (quantity === "count") return Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value, significant);
  const [unit, factor] = unitFor(quantity, value);
  const number = digits(value / factor, significant);
  if (unit === "frames" && value === 1) return "1 frame";
  return unit === "" ? number : `${number} ${unit}`;
}

/** A path of a scenario file as people say it: its last name, and of what. */
export function axisName(path: string): string {
  const parts = path.replace(/\[\d+\]/g, "").split(".").map((part) => part.replaceAll("_", " "));
  return parts.length > 1 ? `${parts.at(-2)}: ${parts.at(-1)}` : parts[0];
}

/** Picoseconds with their unit. */
export function showTime(picos: number, significant = 4): string {
  return show(picos * 1e-12, "time", significant);
}

/** Round steps of an axis from `low` to `high`, about `count` of them. */
export function ticks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? power * 10;
  const found: number[] = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) found.push(n * step + 0);
  return found;
}

/** Labels of ticks in one unit: as many digits as their distance needs, and no more. */
export function tickLabels(values: number[], factor: number): string[] {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) / factor : 0;
  const places = step > 0 ? Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) : 6;
  return values.map((value) => {
    // 2.5 needs a digit more than its power of ten says.
    const text = (value / factor).toFixed(Math.min(12, places + 1));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  });
}

/** A name in at most three lines of so many characters; what does not fit is cut. */
export function broken(name: string, fits: number): string[] {
  const lines: string[] = [];
  // After blanks and hyphens.
  for (const word of name.match(/[^ -]*[ -]*/g) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && (last + word).trimEnd().length <= fits) lines[lines.length - 1] = last + word;
    else if (word !== "") lines.push(word);
  }
  const kept = lines.slice(0, 3).map((line) => line.trimEnd());
  if (lines.length > 3) kept[2] = `${kept[2]}\u2026`;
  return kept.map((line) => (line.length > fits ? `${line.slice(0, fits - 1)}\u2026` : line));
}
