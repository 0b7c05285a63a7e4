// The frame of a chart: where it lies, its axes, and the way from values to places.
import { tickLabels, ticks, unitFor } from "./format";
import type { Surface } from "./surface";
import type { Theme } from "./theme";
import type { Quantity } from "./types";

export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Scale {
  low: number;
  high: number;
  quantity: Quantity;
  label: string;
  /** Values per base unit: times are kept in picoseconds. */
  base?: number;
}

export function areaOf(surface: Surface, left = 64, bottom = 40, top = 8, right = 14): Area {
  return { left, top, width: Math.max(10, surface.width - left - right), height: Math.max(10, surface.height - top - bottom) };
}

export function across(area: Area, scale: Scale, value: number): number {
  return area.left + ((value - scale.low) / (scale.high - scale.low || 1)) * area.width;
}

export function up(area: Area, scale: Scale, value: number): number {
  return area.top + area.height - ((value - scale.low) / (scale.high - scale.low || 1)) * area.height;
}

/** A little above the highest, and from zero unless told. */
export function fitted(low: number, high: number): [number, number] {
  if (!(high > low)) {
    const value = Number.isFinite(high) ? high : 0;
    return value > 0 ? [0, value * 1.1] : [value, value + 1];
  }
  const bottom = low >= 0 && low < high * 0.75 ? 0 : low - (high - low) * 0.05;
  return [bottom, high + (high - bottom) * 0.06];
}

/** Values that differ by less than this part of the largest are as good as equal: colours must not tell them apart. */
const ALIKE = 0.1;

/** The ends of the scale of colours: the least and the largest value, but further apart if these are almost equal. */
export function coloursOf(values: number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const least = Math.max(Math.abs(low), Math.abs(high)) * ALIKE || 1;
  if (high - low >= least) return [low, high];
  // What is never negative has no scale that is.
  const from = (low + high - least) / 2;
  const bottom = low >= 0 ? Math.max(0, from) : from;
  return [bottom, bottom + least];
}

interface Marks {
  at: number[];
  labels: string[];
  unit: string;
}

function marks(scale: Scale, count: number): Marks {
  const base = scale.base ?? 1;
  const [unit, factor] = unitFor(scale.quantity, Math.max(Math.abs(scale.low), Math.abs(scale.high)) * base);
  const at = ticks(scale.low * base, scale.high * base, count);
  return { at: at.map((value) => value / base), labels: tickLabels(at, factor), unit };
}

/** Draws grid, ticks, labels and units. */
export function drawAxes(surface: Surface, theme: Theme, area: Area, x: Scale, y: Scale): void {
  const horizontal = marks(x, Math.max(2, area.width / 100));
  const vertical = marks(y, Math.max(2, area.height / 42));
  const bottom = area.top + area.height;
  const grid = { colour: theme.grid, width: 1 };
  const crisp = (value: number) => Math.round(value) + 0.5;
  surface.lines(
    horizontal.at.map((value) => [crisp(across(area, x, value)), area.top, crisp(across(area, x, value)), bottom]),
    grid,
  );
  surface.lines(
    vertical.at.map((value) => [area.left, crisp(up(area, y, value)), area.left + area.width, crisp(up(area, y, value))]),
    grid,
  );
  horizontal.at.forEach((value, i) =>
    surface.text(across(area, x, value), bottom + 12, horizontal.labels[i], { size: 11, anchor: "middle", fill: theme.faint }),
  );
  vertical.at.forEach((value, i) =>
    surface.text(area.left - 6, up(area, y, value), vertical.labels[i], { size: 11, anchor: "end", fill: theme.faint }),
  );
  const named = (scale: Scale, unit: string) => (unit === "" ? scale.label : scale.label === "" ? unit : `${scale.label} (${unit})`);
  surface.text(area.left + area.width / 2, bottom + 29, named(x, horizontal.unit), { size: 12, anchor: "middle", fill: theme.faint });
  surface.text(11, area.top + area.height / 2, named(y, vertical.unit), { size: 12, anchor: "middle", fill: theme.faint, upright: true });
  surface.line([area.left + 0.5, area.top, area.left + 0.5, bottom + 0.5, area.left + area.width, bottom + 0.5], { colour: theme.faint, width: 1 });
}
