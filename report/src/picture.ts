// A chart over time as a figure asks for it: some flows or links, each group of them a line.
import { showTime } from "./format";
import type { TimeLink } from "./link";
import type { Run } from "./run";
import { TimeChart, type Line } from "./timechart";
import type { Quantity, TimeChartAbout } from "./types";

type Group = TimeChartAbout["variants"][number]["groups"][number];

const QUANTITIES: Record<string, Quantity> = {
  throughput: "rate",
  rates: "rate",
  utilisation: "fraction",
  notices: "count",
  queues: "size",
  buffers: "size",
  occupancy: "size",
  windows: "size",
};

/** The series of a group, if the picture goes by such groups. */
function seriesOf(run: Run, picture: string, group: Group, window: number): Line["make"] | null {
  const { members, links } = group;
  const keys = (table: string, place: number) => run.keys(table).filter((key) => members.includes(key[place]));
  if (!links && picture === "throughput") return () => run.throughput("flow_samples", members, window);
  if (links && picture === "throughput") return () => run.throughput("links", members, window);
  if (links && picture === "utilisation") return () => run.utilisation(members, window);
  if (!links && picture === "notices") return () => run.notices(new Set(members));
  const level = (table: "queues" | "occupancy" | "rates", column: string, place: number, before: number | null) => {
    const found = keys(table, place);
    return found.length === 0 ? null : () => run.level(table, column, found, before);
  };
  if (!links && picture === "occupancy") return level("occupancy", "bytes", 2, 0);
  if (!links && picture === "rates") return level("rates", "rate", 0, null);
  if (!links && picture === "windows") return level("rates", "window", 0, null);
  if (links && picture === "queues") return level("queues", "output_bytes", 0, 0);
  if (links && picture === "buffers") return level("queues", "input_held", 0, 0);
  return null;
}

/** The groups of a picture without any: every flow or link of its own. */
function everyone(run: Run, picture: string): Group[] {
  const links = picture === "queues" || picture === "buffers" || picture === "utilisation";
  if (!links) return run.flows.map((flow) => ({ name: flow.name, links, members: [flow.number] }));
  const table = picture === "utilisation" ? "links" : "queues";
  const ports = [...new Set(run.keys(table).map(([port]) => port))];
  const name = (port: number) => (picture === "buffers" ? run.ports[run.ports[port].peerPort].direction : run.ports[port].direction);
  return ports.map((port) => ({ name: name(port), links, members: [port] }));
}

/** The lines of a picture; none if nothing was ever to be seen. */
export function pictureLines(run: Run, about: TimeChartAbout, variant: string): Line[] {
  const own = about.variants.find((candidate) => candidate.variant === variant) ?? about.variants[0];
  const named = own !== undefined && own.groups.length > 0;
  const groups = named ? own.groups : everyone(run, about.picture);
  const lines: Line[] = [];
  let seen = false;
  groups.forEach((group, place) => {
    const make = seriesOf(run, about.picture, group, Math.max(about.window_ps, run.sample));
    if (!make) return;
    const series = make();
    const [, most] = series.extremes(0, run.end);
    seen ||= most > 0;
    // What a figure names is shown in its order; of everything only the heaviest.
    if (named || most > 0) lines.push({ name: group.name, weight: named ? groups.length - place : most, make: () => series });
  });
  return seen ? lines : [];
}

/** The picture, on a scale that ends above `most`. */
export function pictureChart(run: Run, about: TimeChartAbout, lines: Line[], variant: string, link: TimeLink, most: number, small = false): TimeChart {
  const windowed = about.picture === "throughput" || about.picture === "utilisation";
  const note = windowed ? `mean over ${showTime(about.window_ps)}` : about.picture === "notices" ? "" : `sampled every ${showTime(run.sample)}`;
  const range: [number, number] = about.picture === "utilisation" ? [0, 1.05] : [0, most * 1.06];
  const title = variant === "" ? about.title : `${about.title} \u00b7 ${variant}`;
  const named = variant === "" ? { title } : { title, heading: variant };
  return new TimeChart({ ...named, note, y: about.y ?? about.picture, quantity: QUANTITIES[about.picture] ?? "plain", link, lines, most: 10, range, ...(small ? { small, height: 150 } : {}) });
}
