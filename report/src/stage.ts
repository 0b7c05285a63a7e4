// The drawings of one run or several side by side, with the slider that moves them all.
import { button, choice, el } from "./dom";
import { showTime } from "./format";
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
  drawings: NetworkDrawing[];
  courses: Promise<Course[]>;
}

/** With `stay`, the instant that is shown is the one that the link has already. */
export function stage(runs: Run[], link: TimeLink, stay = false): Stage {
  const compact = runs.length > 1;
  const drawings = runs.map((run) => new NetworkDrawing(run, compact ? run.label : "The network", compact));
  const sample = Math.max(1, Math.min(...runs.map((run) => run.sample)));
  const steps = Math.max(1, Math.round(link.end / sample));
  const slider = el("input", { type: "range", class: "slider", aria: { label: "time" } });
  slider.min = "0";
  slider.max = String(steps);
  slider.value = "0";
  const clock = el("output", { class: "clock" });
  let speed = 1;
  let playing = false;
  let last = 0;
  const play = button("\u25b6 Play", () => start(!playing), { class: "play", aria: { pressed: "false" } });

  const start = (on: boolean) => {
    playing = on;
    play.textContent = on ? "\u23f8 Pause" : "\u25b6 Play";
    play.setAttribute("aria-pressed", String(on));
    if (!on) return;
    // At the end it begins again.
    if (link.now >= link.to - sample / 2) link.setNow(link.from);
    last = performance.now();
    requestAnimationFrame(tick);
  };
  // The stretch that is seen takes twelve seconds.
  const tick = (now: number) => {
    if (!playing) return;
    const by = ((now - last) / 12_000) * (link.to - link.from) * speed;
    last = now;
    const at = Math.min(link.to, link.now + by);
    link.setNow(at);
    if (at >= link.to) start(false);
    else requestAnimationFrame(tick);
  };
  slider.addEventListener("input", () => link.setNow(Number(slider.value) * sample));

  let drawnAt = -1;
  const move = () => {
    const step = Math.ceil(link.now / sample - 1e-9);
    if (step === drawnAt) return;
    drawnAt = step;
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", showTime(link.now));
    clock.textContent = showTime(Math.max(sample, step * sample));
    for (const drawing of drawings) drawing.show(link.now);
  };
  link.onPoint(move);

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

  const speeds: [string, string][] = [["0.1", "0.1\u00d7"], ["0.25", "0.25\u00d7"], ["1", "1\u00d7"], ["4", "4\u00d7"]];
  const controls = el(
    "div",
    { class: "controls" },
    play,
    slider,
    clock,
    choice("speed", speeds, "1", (value) => (speed = Number(value))),
  );
  const growth = el("div", { class: "growth" });
  const root = el("div", { class: "stage" }, el("div", { class: compact ? "drawings several" : "drawings" }, ...drawings.map((d) => d.root)), controls, direction, growth);
  const courses = new Promise<Course[]>((done) => {
    inTurn(() => Promise.all(drawings.map((drawing, i) => course(drawing.reader, runs[i], LOOKED_AT))).then(done), true);
  });
  void courses.then((all) => {
    // A run without blocked links has no course.
    if (all.some((one) => one.weight > 0)) growth.append(growthChart(runs, all, link).root);
    else growth.append(el("p", { class: "note" }, compact ? "No link was blocked in any of these runs." : "No link was blocked at any of the evaluated instants."));
    if (compact) follow(drawings, all);
    if (stay) return;
    // The first thing to be seen is the worst of it.
    const { worst } = all.reduce((a, b) => (b.weight > a.weight ? b : a));
    link.setNow(worst?.at ?? link.end / 2);
  });
  move();
  return { root, drawings, courses };
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
