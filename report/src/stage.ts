// The drawings of one run or several side by side, with the slider that moves them all.
import { Controls } from "./controls";
import { el } from "./dom";
import { directionPanel } from "./direction";
import type { TimeLink } from "./link";
import { NetworkDrawing } from "./network";
import type { Run } from "./run";
import { Series } from "./series";
import { TimeChart, type Line } from "./timechart";
import { course, type Course } from "./tree";
import { inTurn } from "./turns";

/** The most instants at which trees are looked for, for the course below the slider. */
const LOOKED_AT = 400;

export interface Stage {
  root: HTMLElement;
  /** The drawings, and what stands below the slider: parts of the root. */
  pictures: HTMLElement;
  below: HTMLElement;
  drawings: NetworkDrawing[];
  courses: Promise<Course[]>;
  /** Puts the drawings under the control of a slider. */
  bind(controls: Controls): void;
}

export interface How {
  /** The instant that is shown is the one that the link has already. */
  stay?: boolean;
  /** A slider that is on the page already: then its parts are put there by the caller, who binds it, too. */
  apart?: boolean;
  /** The most instants at which trees are looked for. */
  instants?: number;
  /** Whether this is still to be shown. */
  wanted?: () => boolean;
}

export function stage(runs: Run[], link: TimeLink, { stay = false, apart = false, instants = LOOKED_AT, wanted = () => true }: How = {}): Stage {
  const compact = runs.length > 1;
  const drawings = runs.map((run) => new NetworkDrawing(run, compact ? run.label : "The network", compact));
  const sample = Math.max(1, Math.min(...runs.map((run) => run.sample)));
  const bind = (controls: Controls) => controls.bind(link, sample, drawings);

  const direction = el("div", { class: "direction" });
  drawings.forEach((drawing, i) => {
    drawing.onSelect = (port) => {
      // The same direction of every run, by name: variants may number ports otherwise.
      const name = runs[i].ports[port].direction;
      drawings.forEach((other, j) => {
        const place = j === i ? port : runs[j].ports.findIndex((candidate) => candidate.direction === name);
        other.selected = place < 0 ? null : place;
        other.plot.later();
      });
      direction.replaceChildren(directionPanel(runs, name, link));
    };
  });

  const growth = el("div", { class: "growth" });
  const pictures = el("div", { class: compact ? "drawings several" : "drawings" }, ...drawings.map((d) => d.root));
  const below = el("div", {}, direction, growth);
  const root = el("div", { class: "stage" });
  if (!apart) {
    const controls = new Controls();
    root.append(pictures, controls.root, below);
    bind(controls);
  }
  const courses = new Promise<Course[]>((done) => {
    inTurn(async () => {
      const all: Course[] = [];
      for (const [i, drawing] of drawings.entries()) {
        const one = await course(drawing.reader, runs[i], instants, wanted);
        if (!one) return;
        all.push(one);
      }
      done(all);
    }, true);
  });
  void courses.then((all) => {
    // A run without blocked links has no course.
    if (all.some((one) => one.weight > 0)) growth.append(growthChart(runs, all, link).root);
    else growth.append(el("p", { class: "note" }, compact ? "No link was blocked in any of these runs." : "No link was blocked at any of the evaluated instants."));
    if (compact) follow(drawings, all);
    // Whoever has moved it meanwhile looks at something else.
    if (stay || link.now > 0) return;
    // The first thing to be seen is the worst of it.
    const { worst } = all.reduce((a, b) => (b.weight > a.weight ? b : a));
    link.setNow(worst?.at ?? link.end / 2);
  });
  return { root, pictures, below, drawings, courses, bind };
}

/** Whoever is a victim in one run is followed in all of them. */
function follow(drawings: NetworkDrawing[], all: Course[]): void {
  const suffered = new Map<string, number>();
  drawings.forEach(({ run }, i) => all[i].suffered.forEach((part, flow) => part > 0 && suffered.set(run.flows[flow].name, Math.max(suffered.get(run.flows[flow].name) ?? 0, part))));
  const names = [...suffered].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  for (const drawing of drawings) {
    const numbers = new Map(drawing.run.flows.map((flow) => [flow.name, flow.number]));
    drawing.follow(names.map((name) => numbers.get(name)).filter((flow) => flow !== undefined));
  }
}

function growthChart(runs: Run[], all: Course[], link: TimeLink): TimeChart {
  const lines: Line[] = [];
  all.forEach((one, i) => {
    const prefix = runs.length > 1 ? `${runs[i].label}: ` : "";
    const weight = one.directions.reduce((a, b) => a + b, 1);
    // A colour for each run; victims are dashed.
    lines.push({ name: `${prefix}blocked links`, slot: i, weight, make: () => new Series(one.times, one.directions, true) });
    lines.push({ name: `${prefix}victims`, slot: runs.length > 1 ? i + 8 : 3, weight: weight / 2 + 1, make: () => new Series(one.times, one.victims, true) });
  });
  return new TimeChart({
    title: "Blocked links and victims",
    note: `${runs.every((run) => run.why) ? "" : "estimated from samples; "}click to show that instant in the network`,
    y: "count",
    quantity: "count",
    link,
    lines,
    height: 130,
  });
}
