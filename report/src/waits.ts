// Quantiles of waits from counts by powers of two.

/**
 * The value that a part of the frames did not exceed. Waits are counted in buckets, each with its upper end in picoseconds and
 * its number of frames; the answer is the upper end of the bucket, so never too little, and never above the longest wait.
 */
export function waitQuantile(buckets: [number, number][], longest: number, part: number): number | null {
  const sorted = [...buckets].sort((a, b) => a[0] - b[0]);
  const total = sorted.reduce((sum, [, frames]) => sum + frames, 0);
  let left = part * total;
  for (const [upper, frames] of sorted) {
    left -= frames;
    // Below one picosecond is not at all.
    if (left <= 0) return upper <= 1 ? 0 : Math.min(upper, longest) / 1e12;
  }
  return total > 0 ? longest / 1e12 : null;
}
