// A quantity over time: points, held as steps or joined by lines; and the few of them that a picture needs.

const BLOCK = 64;

/** Times in picoseconds, ascending; values in the base unit of the quantity, NaN for none. */
export class Series {
  private low: Float64Array | null = null;
  private high: Float64Array | null = null;

  constructor(
    readonly xs: Float64Array,
    readonly ys: Float64Array,
    /** Whether a value holds until the next point. */
    readonly step: boolean,
  ) {}

  get length(): number {
    return this.xs.length;
  }

  /** The first point after an instant. */
  after(at: number): number {
    let low = 0;
    let high = this.xs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.xs[middle] > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The value at an instant; NaN before the first point and, of lines, after the last. */
  at(time: number): number {
    const next = this.after(time);
    if (next === 0) return NaN;
    const before = next - 1;
    if (this.step || this.xs[before] === time) return this.ys[before];
    if (next === this.xs.length) return NaN;
    const part = (time - this.xs[before]) / (this.xs[next] - this.xs[before]);
    return this.ys[before] + (this.ys[next] - this.ys[before]) * part;
  }

  /** Lowest and highest of some points; the whole blocks among them by what is known of the block. */
  private within(from: number, to: number): [number, number] {
    if (!this.low || !this.high) {
      const blocks = Math.ceil(this.ys.length / BLOCK);
      this.low = new Float64Array(blocks).fill(Infinity);
      this.high = new Float64Array(blocks).fill(-Infinity);
      for (let i = 0; i < this.ys.length; i++) {
        const block = (i / BLOCK) | 0;
        const y = this.ys[i];
        if (y < this.low[block]) this.low[block] = y;
        if (y > this.high[block]) this.high[block] = y;
      }
    }
    let low = Infinity;
    let high = -Infinity;
    let i = from;
    while (i < to) {
      if (i % BLOCK === 0 && i + BLOCK <= to) {
        const block = i / BLOCK;
        if (this.low[block] < low) low = this.low[block];
        if (this.high[block] > high) high = this.high[block];
        i += BLOCK;
      } else {
        const y = this.ys[i];
        if (y < low) low = y;
        if (y > high) high = y;
        i += 1;
      }
    }
    return [low, high];
  }

  /** Lowest and highest value that is seen from `from` to `to`. */
  extremes(from: number, to: number): [number, number] {
    const first = Math.max(0, this.after(from) - 1);
    return this.within(first, Math.min(this.length, this.after(to) + (this.step ? 0 : 1)));
  }

  /**
   * What to draw from `from` to `to` in so many columns: every point if there are few, else of each column where it
   * enters, its lowest and highest, and where it leaves; so no peak is lost. Pieces between gaps, each flat x, y.
   */
  drawn(from: number, to: number, columns: number): number[][] {
    const pieces: number[][] = [];
    let piece: number[] = [];
    const close = () => {
      if (piece.length > 0) pieces.push(piece);
      piece = [];
    };
    const push = (x: number, y: number) => {
      if (Number.isNaN(y)) {
        if (this.step && piece.length > 0) piece.push(x, piece[piece.length - 1]);
        close();
        return;
      }
      if (this.step && piece.length > 0 && piece[piece.length - 1] !== y) piece.push(x, piece[piece.length - 1]);
      piece.push(x, y);
    };
    const first = Math.max(0, this.after(from) - 1);
    const last = Math.min(this.length, this.after(to) + 1);
    if (last - first <= columns * 4) {
      for (let i = first; i < last; i++) push(this.xs[i], this.ys[i]);
    } else {
      const width = (to - from) / columns;
      let i = first;
      while (i < last) {
        const column = Math.floor((this.xs[i] - from) / width);
        const end = Math.min(last, this.boundary(from + (column + 1) * width, i, last));
        if (end - i <= 4) {
          for (; i < end; i++) push(this.xs[i], this.ys[i]);
          continue;
        }
        const [low, high] = this.within(i, end);
        const middle = (this.xs[i] + this.xs[end - 1]) / 2;
        push(this.xs[i], this.ys[i]);
        if (low <= high) {
          piece.push(middle, low, middle, high);
        }
        push(this.xs[end - 1], this.ys[end - 1]);
        i = end;
      }
    }
    if (this.step && piece.length > 0 && last === this.length && this.length > 0) piece.push(Math.max(to, this.xs[this.length - 1]), piece[piece.length - 1]);
    close();
    return pieces;
  }

  /** The first point at or after a place, searched from `low` to `high`. */
  private boundary(at: number, low: number, high: number): number {
    let from = low;
    let to = high;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.xs[middle] >= at) to = middle;
      else from = middle + 1;
    }
    return Math.max(from, low + 1);
  }
}

/** Amounts counted over intervals that end at the times. */
export interface Amounts {
  times: Float64Array;
  intervals: Float64Array;
  amounts: Float64Array;
}

/** All instants of several lists that rise, each once, in order. */
function union(lists: Float64Array[]): Float64Array {
  if (lists.length === 0) return new Float64Array(0);
  if (lists.length === 1) return lists[0];
  const half = lists.length >> 1;
  const [one, two] = [union(lists.slice(0, half)), union(lists.slice(half))];
  const all = new Float64Array(one.length + two.length);
  let count = 0;
  for (let i = 0, j = 0; i < one.length || j < two.length; ) {
    const next = j === two.length || one[i] <= two[j] ? one[i] : two[j];
    if (one[i] === next) i += 1;
    if (two[j] === next) j += 1;
    all[count++] = next;
  }
  return all.subarray(0, count);
}

/** The sum of several. */
export function addAmounts(all: Amounts[]): Amounts {
  if (all.length === 1) return all[0];
  const times = union(all.map((one) => one.times));
  const intervals = new Float64Array(times.length);
  const amounts = new Float64Array(times.length);
  for (const one of all) {
    let place = 0;
    for (let i = 0; i < one.times.length; i++) {
      while (times[place] < one.times[i]) place += 1;
      if (one.intervals[i] > intervals[place]) intervals[place] = one.intervals[i];
      amounts[place] += one.amounts[i];
    }
  }
  return { times, intervals, amounts };
}

/** The mean per picosecond of each interval, times a factor; nothing between intervals. */
export function rates({ times, intervals, amounts }: Amounts, factor: number, until: number): Series {
  const xs: number[] = [0];
  const ys: number[] = [0];
  const put = (x: number, y: number) => {
    if (xs[xs.length - 1] === x) ys[ys.length - 1] = y;
    else if (ys[ys.length - 1] !== y) {
      xs.push(x);
      ys.push(y);
    }
  };
  for (let i = 0; i < times.length; i++) {
    put(times[i] - intervals[i], intervals[i] > 0 ? (amounts[i] / intervals[i]) * factor : 0);
    if (i + 1 === times.length || times[i + 1] - intervals[i + 1] > times[i]) put(times[i], 0);
  }
  if (xs[xs.length - 1] >= until && xs.length > 1) {
    xs.pop();
    ys.pop();
  }
  return new Series(Float64Array.from(xs), Float64Array.from(ys), true);
}

/** The mean per picosecond over a window that slides along, times a factor. */
export function windowed({ times, intervals, amounts }: Amounts, window: number, factor: number, until: number): Series {
  if (times.length === 0) return new Series(new Float64Array([0, until]), new Float64Array([0, 0]), false);
  // The amount so far, as corners of a line.
  const corners = new Float64Array(times.length * 2);
  const sums = new Float64Array(times.length * 2);
  let count = 0;
  let total = 0;
  for (let i = 0; i < times.length; i++) {
    const start = times[i] - intervals[i];
    if (count === 0 || corners[count - 1] < start) {
      corners[count] = start;
      sums[count++] = total;
    }
    total += amounts[i];
    corners[count] = times[i];
    sums[count++] = total;
  }
  const at = corners.subarray(0, count);
  const sum = sums.subarray(0, count);
  const left = at.map((x) => x + window);
  const inside = (list: Float64Array) => (list[list.length - 1] <= until ? list : list.filter((x) => x <= until));
  const xs = union([Float64Array.of(0, until), inside(at), inside(left)]);
  const ys = new Float64Array(xs.length);
  const reader = () => {
    let place = 0;
    return (x: number) => {
      while (place + 1 < at.length && at[place + 1] <= x) place += 1;
      if (x <= at[0]) return 0;
      if (place + 1 === at.length) return sum[place];
      return sum[place] + ((sum[place + 1] - sum[place]) * (x - at[place])) / (at[place + 1] - at[place]);
    };
  };
  const front = reader();
  const back = reader();
  for (let i = 0; i < xs.length; i++) ys[i] = ((front(xs[i]) - back(xs[i] - window)) / window) * factor;
  return new Series(xs, ys, false);
}

/** A level that holds from each time on; `before` holds until the first. */
export function levels(times: Float64Array, values: Float64Array, before: number | null, factor = 1): Series {
  const lead = before !== null && (times.length === 0 || times[0] > 0) ? 1 : 0;
  const xs = new Float64Array(times.length + lead);
  const ys = new Float64Array(times.length + lead);
  if (lead === 1) ys[0] = before!;
  for (let i = 0; i < times.length; i++) {
    xs[i + lead] = times[i];
    ys[i + lead] = values[i] < 0 ? NaN : values[i] * factor;
  }
  return new Series(xs, ys, true);
}

/** The sum of levels. */
export function addLevels(all: Series[]): Series {
  if (all.length === 1) return all[0];
  const xs = union(all.map((series) => series.xs));
  const ys = new Float64Array(xs.length);
  for (const series of all) {
    let place = -1;
    for (let i = 0; i < xs.length; i++) {
      while (place + 1 < series.length && series.xs[place + 1] <= xs[i]) place += 1;
      const value = place < 0 ? NaN : series.ys[place];
      if (!Number.isNaN(value)) ys[i] += value;
    }
  }
  return new Series(xs, ys, true);
}

/** How many events there have been. */
export function counts(times: Float64Array, weights: Float64Array): Series {
  const xs = new Float64Array(times.length + 1);
  const ys = new Float64Array(times.length + 1);
  for (let i = 0; i < times.length; i++) {
    xs[i + 1] = times[i];
    ys[i + 1] = ys[i] + weights[i];
  }
  return new Series(xs, ys, true);
}
