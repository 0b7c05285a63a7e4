// Columns of pixels, each with a strength from nothing to one, as few pieces of about one strength.

export interface Piece {
  from: number;
  to: number;
  strength: number;
}

/** What is almost alike is one piece. Nothing is not like a little: no piece reaches into where there is nothing. */
export function pieces(columns: ArrayLike<number>, alike: number): Piece[] {
  const found: Piece[] = [];
  for (let from = 0; from < columns.length; ) {
    const strength = Math.min(1, columns[from]);
    let to = from + 1;
    while (to < columns.length && columns[to] > 0 === strength > 0 && Math.abs(Math.min(1, columns[to]) - strength) < alike) to += 1;
    if (strength > 0) found.push({ from, to, strength });
    from = to;
  }
  return found;
}
