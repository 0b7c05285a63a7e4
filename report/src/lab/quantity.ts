// Quantities of a scenario as a slider moves them: a number with its unit, in steps that can be written exactly.
import type { Field } from "./messages";

const TIMES: Record<string, number> = { ps: 1, ns: 1e3, us: 1e6, "\u00b5s": 1e6, ms: 1e9, s: 1e12, min: 6e13, h: 3.6e15 };

/** How many base units a unit is; nothing if it is none. */
function factorOf(kind: Field["kind"], unit: string): number | null {
  if (kind === "time") return TIMES[unit] ?? null;
  if (kind === "percent") return unit === "%" ? 1 : null;
  if (kind === "count" || kind === "number") return unit === "" ? 1 : null;
  const pattern = kind === "rate" ? /^([kKMGT]?i?)(b|bit|B)(\/s|ps)$/ : kind === "size" ? /^([kKMGT]?i?)(B)$/ : null;
  const match = pattern?.exec(unit);
  if (!match) return null;
  const base = match[1].endsWith("i") ? 1024 : 1000;
  const power = "kMGT".indexOf(match[1].charAt(0).replace("K", "k")) + 1;
  return base ** (match[1] === "" ? 0 : power) * (kind === "rate" && match[2] === "B" ? 8 : 1);
}

export interface Amount {
  kind: Field["kind"];
  /** In base units. */
  base: number;
  unit: string;
  factor: number;
}

/** Reads a value as a plan writes it, such as "100KB" or 0.6; nothing if it is no quantity. */
export function amountOf(kind: Field["kind"], value: string): Amount | null {
  const match = /^([0-9][0-9_]*(?:\.[0-9_]+)?(?:e[+-]?\d+)?)\s*([a-zA-Z\u00b5%/]*)$/.exec(value.replace(/^"|"$/g, "").trim());
  if (!match) return null;
  const factor = factorOf(kind, match[2]);
  if (factor === null) return null;
  return { kind, base: Number(match[1].replaceAll("_", "")) * factor, unit: match[2], factor };
}

/** The same amount of another size, with three digits, in its unit; whole where only whole ones are. */
export function written({ kind, unit, factor }: Amount, base: number): string {
  if (kind === "number") return String(Number(base.toPrecision(3)));
  const whole = Math.round(Number((base / factor).toPrecision(3)) * factor);
  const number = String(Number((whole / factor).toPrecision(12)));
  // What has no short form in its unit is written in the base unit.
  if (Math.abs(Number(number) * factor - whole) > 1e-9 * whole || number.includes("e")) {
    const plain: Partial<Record<Field["kind"], string>> = { time: "ps", rate: "b/s", size: "B" };
    return `${whole}${plain[kind] ?? ""}`;
  }
  return `${number}${unit}`;
}

/** A slider's way from one end to the other. */
export interface Scale {
  steps: number;
  at(base: number): number;
  base(at: number): number;
}

const STEPS = 120;

/** A scale about an amount: a tenth of it to ten times as much, or all that is allowed if that is little. */
export function scaleOf(amount: Amount, bounds: Field["bounds"]): Scale | null {
  const [least, most] = [bounds?.[0] ?? 0, bounds?.[1] ?? Infinity];
  const { kind, base } = amount;
  const linear = (low: number, high: number, steps: number): Scale => ({
    steps,
    at: (value) => Math.round(((Math.min(high, Math.max(low, value)) - low) / (high - low)) * steps),
    base: (at) => low + ((high - low) * at) / steps,
  });
  if (kind === "count" && base <= 24) {
    const [low, high] = [Math.max(least, 0), Math.min(most, Math.max(8, base * 4))];
    return high > low ? linear(low, high, high - low) : null;
  }
  if (kind === "percent") return linear(1, 100, 99);
  if (kind === "number" && least >= 0 && most <= 1) return linear(least, most, 100);
  if (!(base > 0)) return null;
  const [low, high] = [Math.max(base / 10, least, Number.MIN_VALUE), Math.min(base * 10, most)];
  if (!(high > low)) return null;
  const length = Math.log(high / low);
  return {
    steps: STEPS,
    at: (value) => Math.round((Math.log(Math.min(high, Math.max(low, value)) / low) / length) * STEPS),
    base: (at) => low * Math.exp((length * at) / STEPS),
  };
}
