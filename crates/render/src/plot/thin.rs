//! Thinning of lines without visible change: of all points in one narrow column, only the first, the lowest, the
//! highest and the last are kept, so that no peak is lost.

/// Takes points in the order of x and keeps a bounded number of them.
#[derive(Clone, Debug)]
pub struct Thinner {
    from: f64,
    width: f64,
    columns: usize,
    kept: Vec<(f64, f64)>,
    open: Option<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    number: usize,
    first: (f64, f64),
    low: (f64, f64),
    high: (f64, f64),
    last: (f64, f64),
}

impl Thinner {
    /// Creates a thinner for points between `from` and `to`, with that number of columns.
    #[must_use]
    pub fn new(from: f64, to: f64, columns: usize) -> Thinner {
        let columns = columns.max(1);
        Thinner { from, width: (to - from) / columns as f64, columns, kept: Vec::new(), open: None }
    }

    /// Adds the next point. NaN is skipped.
    pub fn push(&mut self, point: (f64, f64)) {
        let (x, y) = point;
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        let number = if self.width > 0.0 { ((x - self.from) / self.width).max(0.0) as usize } else { 0 };
        let number = number.min(self.columns);
        match &mut self.open {
            Some(column) if column.number == number => {
                if y < column.low.1 {
                    column.low = point;
                }
                if y > column.high.1 {
                    column.high = point;
                }
                column.last = point;
            }
            _ => {
                self.close();
                self.open = Some(Column { number, first: point, low: point, high: point, last: point });
            }
        }
    }

    /// Returns the last point added.
    #[must_use]
    pub fn last(&self) -> Option<(f64, f64)> {
        self.open.map(|column| column.last)
    }

    fn close(&mut self) {
        let Some(Column { first, low, high, last, .. }) = self.open.take() else { return };
        let (earlier, later) = if low.0 <= high.0 { (low, high) } else { (high, low) };
        for point in [first, earlier, later, last] {
            if self.kept.last() != Some(&point) {
                self.kept.push(point);
            }
        }
    }

    /// Returns the remaining points.
    #[must_use]
    pub fn finish(mut self) -> Vec<(f64, f64)> {
        self.close();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_ends_survive() {
        let mut thinner = Thinner::new(0.0, 100_000.0, 100);
        for x in 0..=100_000u32 {
            let y = match x {
                31_415 => 1000.0,
                77_777 => -1000.0,
                _ => f64::from(x % 7),
            };
            thinner.push((f64::from(x), y));
        }
        let points = thinner.finish();
        assert!(points.len() <= 4 * 101, "{}", points.len());
        assert!(points.contains(&(31_415.0, 1000.0)) && points.contains(&(77_777.0, -1000.0)));
        assert_eq!((points[0].0, points[points.len() - 1].0), (0.0, 100_000.0));
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn few_points_are_all_kept_and_nonsense_is_not() {
        let mut thinner = Thinner::new(0.0, 10.0, 1000);
        let points = [(0.0, 1.0), (f64::NAN, 2.0), (5.0, 3.0), (6.0, f64::INFINITY), (10.0, 1.0)];
        points.into_iter().for_each(|point| thinner.push(point));
        assert_eq!(thinner.finish(), [(0.0, 1.0), (5.0, 3.0), (10.0, 1.0)]);
        let mut nowhere = Thinner::new(1.0, 1.0, 0);
        nowhere.push((1.0, 1.0));
        assert_eq!(nowhere.finish(), [(1.0, 1.0)]);
    }
}
