// What needs no browser: columns, series and numbers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { coloursOf } from "../src/axes";
import { unpackColumns } from "../src/data";
import { axisName, broken, digits, show, tickLabels, ticks } from "../src/format";
import { intervalText } from "../src/interval";
import { pieces } from "../src/pieces";
import { addAmounts, addLevels, levels, rates, Series, windowed } from "../src/series";
import { SvgSurface } from "../src/surface";
import { longestOfMost } from "../src/tree";
import { waitQuantile } from "../src/waits";

const floats = (...values: number[]) => Float64Array.from(values);

test("columns come back as the program packed them", () => {
  // 60, 120, 180 as steps of one unit of 60; then -7, 300, 0 as they are.
  const bytes = Uint8Array.from([2, 2, 2, 13, 0xd8, 0x04, 0]);
  const about = [
    { name: "time", count: 3, scale: 60, delta: true },
    { name: "value", count: 3, scale: 1, delta: false },
  ];
  assert.deepEqual(unpackColumns(bytes, about), { time: floats(60, 120, 180), value: floats(-7, 300, 0) });
  // Beyond 32 bits, where shifts would lose digits.
  const large = 2 ** 45 + 1;
  const packed: number[] = [];
  for (let rest = large * 2; rest > 0; rest = Math.floor(rest / 128)) packed.push((rest % 128) + (rest >= 128 ? 128 : 0));
  assert.equal(unpackColumns(Uint8Array.from(packed), [{ name: "x", count: 1, scale: 1, delta: false }])["x"][0], large);
});

test("a quantile of waits is never above the longest wait", () => {
  // 90 frames did not wait, 10 waited from 1,048,576 to 2,097,152 ps, the longest 1.2 us.
  const buckets: [number, number][] = [[2097152, 10], [1, 90]];
  assert.deepEqual([waitQuantile(buckets, 1.2e6, 0.5), waitQuantile(buckets, 1.2e6, 0.99)], [0, 1.2e-6]);
  assert.equal(waitQuantile([[4096, 5], [8192, 5]], 8000, 0.5), 4096e-12);
  assert.equal(waitQuantile([], 0, 0.5), null);
});

test("an interval keeps the bounds of its quantity", () => {
  const summary = { runs: 2, mean: 0.546, median: 0.546, half_width_95: 2.287, low_95: 0, high_95: 1, p10: 0.4, p90: 0.7 };
  assert.equal(intervalText(0.546, summary, "plain"), "0.546 [0, 1]");
  assert.equal(intervalText(0.546, { ...summary, half_width_95: 0.1, low_95: 0.446, high_95: 0.646 }, "plain"), "0.546 \u00b1 0.1");
  // Results of a program that did not write the ends.
  const { low_95, high_95, ...older } = summary;
  assert.equal(intervalText(0.546, older, "plain"), "0.546 \u00b1 2.29");
});

test("no extreme is lost, however many points there are", () => {
  const count = 5_000_000;
  const xs = new Float64Array(count);
  const ys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    xs[i] = i;
    ys[i] = i % 97;
  }
  ys[3_141_592] = 5000;
  ys[2_718_281] = -5000;
  const series = new Series(xs, ys, true);
  series.drawn(0, count, 1000);
  const start = performance.now();
  const all = series.drawn(0, count, 1000).flat();
  const took = performance.now() - start;
  assert.ok(all.length < 20_000, `${all.length}`);
  assert.ok(all.includes(5000) && all.includes(-5000));
  console.log(`five million points are drawn in ${took.toFixed(1)} ms`);
  assert.ok(took < 250, `${took} ms`);
  assert.deepEqual(series.extremes(0, count), [-5000, 5000]);
  // Zoomed in, every point is there.
  const near = series.drawn(3_141_590, 3_141_594, 1000);
  assert.ok(near[0].includes(5000) && near[0].includes(3_141_592));
});

test("steps hold, lines are joined, gaps are gaps", () => {
  const step = levels(floats(10, 20), floats(4, -1), 0);
  assert.deepEqual([step.at(5), step.at(10), step.at(19)], [0, 4, 4]);
  assert.ok(Number.isNaN(step.at(25)));
  assert.deepEqual(step.drawn(0, 30, 100), [[0, 0, 10, 0, 10, 4, 20, 4]]);
  const line = new Series(floats(0, 10), floats(0, 5), false);
  assert.deepEqual([line.at(4), line.at(10)], [2, 5]);
  const sum = addLevels([levels(floats(10), floats(4), 0), levels(floats(15), floats(3), 0)]);
  assert.deepEqual([sum.at(0), sum.at(12), sum.at(16)], [0, 4, 7]);
});

test("rates are amounts over their intervals, and nothing between them", () => {
  const amounts = { times: floats(10, 20, 50), intervals: floats(10, 10, 10), amounts: floats(30, 30, 10) };
  const each = rates(amounts, 1, 100);
  assert.deepEqual([each.at(5), each.at(15), each.at(25), each.at(45), each.at(60)], [3, 3, 0, 1, 0]);
  const twice = rates(addAmounts([amounts, amounts]), 1, 100);
  assert.deepEqual([twice.at(5), twice.at(45)], [6, 2]);
  const sliding = windowed(amounts, 20, 1, 100);
  // From 5 to 25: 5 of 10 of the first interval, and all of the second.
  assert.deepEqual([sliding.at(25), sliding.at(20), sliding.at(50)], [(15 + 30) / 20, 3, 0.5]);
});

test("numbers are written with four digits that matter and their unit", () => {
  assert.deepEqual([digits(0), digits(1234.5), digits(0.012345), digits(12e9), digits(2.5)], ["0", "1235", "0.01235", "1.200e+10", "2.5"]);
  assert.equal(show(2.5e9, "rate"), "2.5 Gb/s");
  assert.equal(show(0.9, "fraction"), "90 %");
  assert.equal(show(4e-5, "time"), "40 \u00b5s");
  assert.equal(show(null, "rate"), "");
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(tickLabels([0, 2.5e6, 5e6], 1e6), ["0", "2.5", "5"]);
});

test("a little is not joined with nothing", () => {
  assert.deepEqual(pieces([0, 0.02, 0, 0, 0.5, 0.51, 2], 0.04), [
    { from: 1, to: 2, strength: 0.02 },
    { from: 4, to: 6, strength: 0.5 },
    { from: 6, to: 7, strength: 1 },
  ]);
  assert.deepEqual(pieces([0, 0], 0.04), []);
});

test("the worst is the longest stretch of it", () => {
  assert.deepEqual(longestOfMost([0, 3, 1, 3, 3, 2]), [3, 4]);
  assert.deepEqual(longestOfMost([2, 2]), [0, 1]);
  assert.equal(longestOfMost([0, 0]), null);
});

test("long names are broken, and paths are said as people do", () => {
  assert.deepEqual(broken("input-triggered, full at 3 of 4", 16), ["input-triggered,", "full at 3 of 4"]);
  assert.deepEqual(broken("input-triggered", 8), ["input-", "trigger\u2026"]);
  assert.deepEqual(broken("a b c d", 1), ["a", "b", "\u2026"]);
  assert.equal(axisName("switches[0].buffers[1].xoff"), "buffers: xoff");
  assert.equal(axisName("variant"), "variant");
  assert.equal(show(1, "frames"), "1 frame");
});

test("no name makes a file unreadable", () => {
  const surface = new SvgSurface(10, 10);
  surface.text(0, 0, 'a\u0007<b>&"', { fill: "#000" });
  assert.ok(surface.toString().includes(">a\ufffd&lt;b&gt;&amp;&quot;</text>"));
});

test("a map of cells that are almost equal does not tell them apart by their colours", () => {
  const part = (values: number[]) => {
    const [low, high] = coloursOf(values);
    return values.map((value) => (value - low) / (high - low));
  };
  const spread = (values: number[]) => Math.max(...part(values)) - Math.min(...part(values));
  assert.equal(spread([5, 5, 5]), 0);
  // Rounding: as numbers they differ, as figures they do not.
  assert.ok(spread([5, 5 * (1 + 1e-12), 5.001]) < 0.01);
  assert.ok(spread([9.5, 9.9]) < 0.5);
  assert.deepEqual(part([1, 2, 3]), [0, 0.5, 1]);
  assert.deepEqual(coloursOf([0, 0]), [0, 1]);
  assert.deepEqual(coloursOf([]), [0, 1]);
  assert.ok(coloursOf([0.001, 0.00101])[0] >= 0 && coloursOf([-2, -2])[1] < 0);
});
