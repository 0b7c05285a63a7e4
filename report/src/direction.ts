// The series of one direction, in every run that has it.
import { el } from "./dom";
import type { TimeLink } from "./link";
import type { Run } from "./run";
import { TimeChart, windowChoice, type Line } from "./timechart";
import { pauseBands } from "./runcharts";

export function directionPanel(runs: Run[], direction: string, link: TimeLink): HTMLElement {
  const found = runs
    .map((run) => ({ run, port: run.ports.findIndex((port) => port.direction === direction) }))
    .filter(({ port }) => port >= 0);
  const prefix = (run: Run, text: string) => (runs.length > 1 ? `${run.label}${text === "" ? "" : `: ${text}`}` : text);
  const { all, own } = runs[0].windows();
  const busy = (window: number): Line[] => {
    const lines: Line[] = found.map(({ run, port }) => ({ name: prefix(run, runs.length > 1 ? "" : "utilisation"), weight: 1, make: () => run.utilisation([port], window) }));
    for (const { run, port } of found) {
      if (run.column("links", "starved", port).some((part) => part > 0)) lines.push({ name: prefix(run, "without credits"), weight: 1, make: () => run.utilisation([port], window, "starved") });
    }
    return lines;
  };
  const first = new TimeChart({
    title: `${direction}: utilisation`,
    y: "fraction of the time",
    quantity: "fraction",
    range: [0, 1.05],
    link,
    lines: busy(own),
    bands: found.flatMap(({ run, port }) => pauseBands(run, [port])),
    height: 180,
  });
  first.addControl(windowChoice(all, own, (window) => first.replace(busy(window))));
  const panel = el("div", { class: "direction-panel" }, el("h3", {}, `Link ${direction}`), first.root);
  const level = (title: string, column: string, at: (run: Run, port: number) => number) => {
    const lines: Line[] = [];
    let frames = false;
    for (const { run, port } of found) {
      const place = at(run, port);
      const kind = run.bufferOf(run.ports[place].node);
      if (column === "input_held" && kind?.frames) frames = true;
      for (const key of run.keys("queues").filter(([number]) => number === place)) {
        const several = (run.network?.classes.length ?? 1) > 1;
        const name = prefix(run, several ? run.className(key[1]) : runs.length > 1 ? "" : title);
        lines.push({ name, weight: 1, make: () => run.level("queues", column, [key], 0) });
      }
    }
    if (lines.length === 0) return;
    const chart = new TimeChart({ title: `${direction}: ${title}`, y: title, quantity: frames ? "frames" : "size", link, lines, height: 180 });
    panel.append(chart.root);
  };
  level("output queue", "output_bytes", (_, port) => port);
  level("input buffer at the far end", "input_held", (run, port) => run.ports[port].peerPort);
  return panel;
}
