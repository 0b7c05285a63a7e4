// Confidence intervals in words.
import { show } from "./format";
import type { Quantity, Summary } from "./types";

/** The 95 % interval of the mean, cut at the bounds of the quantity; the mean alone where seeds differ in rounding alone. */
export function interval({ half_width_95, low_95, high_95, mean }: Summary): [number, number] {
  if (half_width_95 === null || half_width_95 <= Math.abs(mean) * 1e-9) return [mean, mean];
  return [low_95 ?? mean - half_width_95, high_95 ?? mean + half_width_95];
}

/** A number and the interval around it: \u00b1 half of it, or its ends where a bound of the quantity cuts it. */
export function intervalText(value: number, summary: Summary, quantity: Quantity): string {
  const [low, high] = interval(summary);
  if (low === high) return show(value, quantity);
  const whole = summary.half_width_95 ?? 0;
  const cut = Math.abs(high - low - 2 * whole) > whole * 1e-9;
  const around = cut ? ` [${show(low, quantity, 3) || "0"}, ${show(high, quantity, 3)}]` : ` \u00b1 ${show(whole, quantity, 3)}`;
  return `${show(value, quantity)}${around}`;
}

/** What the brackets of {@link intervalText} mean. */
export const CUT = "[low, high]: interval truncated at a bound of the quantity";
