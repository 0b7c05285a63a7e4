//! Stability maps over two parameters, and their contours.

use results::document::Contour;
use results::{Quantity, axis_value};
use scenario::fluid::{Kind, Model};
use scenario::near_name;
use std::collections::BTreeMap;
use std::fmt;

/// An error in the request for a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.message, self.help)
    }
}

impl std::error::Error for MapError {}

fn wrong(message: impl Into<String>, help: impl Into<String>) -> MapError {
    MapError { message: message.into(), help: help.into() }
}

/// A parameter and its range.
#[derive(Clone, Debug, PartialEq)]
pub struct MapAxis {
    /// Name of the parameter.
    pub name: &'static str,
    /// Lower end, in the base unit.
    pub from: f64,
    /// Upper end, in the base unit.
    pub to: f64,
}

impl MapAxis {
    /// Parses `delay=50us..300us`. The key may have the prefix `fluid.`.
    ///
    /// # Errors
    /// Returns an error if the key is not a parameter of the model, or if the range is invalid in its unit.
    pub fn parse(model: &Model, text: &str) -> Result<MapAxis, MapError> {
        let form = "write KEY=FROM..TO, such as delay=50us..300us";
        let Some((key, range)) = text.split_once('=') else {
            return Err(wrong(format!("`{text}` has no range"), form));
        };
        let key = key.trim();
        let key = key.strip_prefix("fluid.").unwrap_or(key);
        let Some(&name) = model.names().iter().find(|name| **name == key) else {
            let known = || model.names().iter().copied();
            let help = match near_name(key, known()) {
                Some(like) => format!("did you mean `{like}`?"),
                None => format!("it has: {}", known().collect::<Vec<_>>().join(", ")),
            };
            return Err(wrong(format!("the model `{}` has no parameter `{key}`", model.name()), help));
        };
        let Some((from, to)) = range.split_once("..") else {
            return Err(wrong(format!("`{range}` is not a range"), form));
        };
        let (from, to) = (value(name, from)?, value(name, to)?);
        if from < to {
            Ok(MapAxis { name, from, to })
        } else {
            Err(wrong(format!("the range of `{name}` has no width"), "write the smaller value first"))
        }
    }

    /// Returns the value at index `place` of `points` equidistant points.
    #[must_use]
    pub fn at(&self, place: usize, points: usize) -> f64 {
        self.from + (self.to - self.from) * place as f64 / (points - 1) as f64
    }

    /// Returns the quantity of the parameter, for the axis of a plot.
    #[must_use]
    pub fn quantity(&self) -> Quantity {
        match Kind::of(self.name) {
            Kind::Time => Quantity::Time,
            Kind::Rate => Quantity::Rate,
            Kind::Size => Quantity::Size,
            Kind::Number => Quantity::Plain(String::new()),
        }
    }
}

fn value(name: &str, text: &str) -> Result<f64, MapError> {
    let text = text.trim();
    let example = match Kind::of(name) {
        Kind::Time => "200us",
        Kind::Rate => "10Gb/s",
        Kind::Size => "24KB",
        Kind::Number => "0.01",
    };
    let fraction = text.split_once('/').and_then(|(above, below)| {
        Some(above.trim().parse::<f64>().ok()? / below.trim().parse::<f64>().ok()?).filter(|value| value.is_finite())
    });
    let read = match axis_value(text) {
        Some((Quantity::Time, value)) if Kind::of(name) == Kind::Time => Some(value),
        Some((Quantity::Rate, value)) if Kind::of(name) == Kind::Rate => Some(value),
        Some((Quantity::Size, value)) if Kind::of(name) == Kind::Size => Some(value),
        Some((Quantity::Plain(_), value)) if Kind::of(name) == Kind::Number => Some(value),
        _ => fraction.filter(|_| Kind::of(name) == Kind::Number),
    };
    let refuse = |message: String| Err(wrong(message, format!("write a value such as {example}")));
    match read {
        None => refuse(format!("`{text}` is not a value of `{name}`")),
        Some(value) if value < 0.0 => refuse(format!("`{name}` must not be negative: `{text}`")),
        Some(value) => Ok(value),
    }
}

/// Stability margins over a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Horizontal axis.
    pub x: MapAxis,
    /// Vertical axis.
    pub y: MapAxis,
    /// Number of points along each axis.
    pub points: usize,
    /// Minimum phase margin in radians, row by row from the bottom; NaN where there is no equilibrium.
    pub margins: Vec<f64>,
    /// Slack of theorem 3; NaN where it is undefined.
    pub slacks: Vec<f64>,
}

impl Map {
    /// Computes every point on `threads` threads. The result does not depend on their number.
    ///
    /// # Errors
    /// Returns an error if both axes are the same, or if there are fewer than two or more than four thousand points
    /// along each.
    pub fn compute(model: &Model, [x, y]: [MapAxis; 2], points: usize, threads: usize) -> Result<Map, MapError> {
        if x.name == y.name {
            return Err(wrong(format!("both axes are `{}`", x.name), "name two parameters"));
        }
        if !(2..=4000).contains(&points) {
            return Err(wrong(format!("{points} points along each axis"), "take from 2 to 4000"));
        }
        let mut cells = vec![(0.0, 0.0); points * points];
        let rows = points.div_ceil(threads.clamp(1, points));
        std::thread::scope(|scope| {
            for (part, slice) in cells.chunks_mut(rows * points).enumerate() {
                let (x, y, mut model) = (&x, &y, model.clone());
                scope.spawn(move || {
                    for (place, cell) in slice.iter_mut().enumerate() {
                        let number = part * rows * points + place;
                        model.set(x.name, x.at(number % points, points));
                        model.set(y.name, y.at(number / points, points));
                        *cell = model.standing();
                    }
                });
            }
        });
        let (margins, slacks) = cells.into_iter().unzip();
        Ok(Map { x, y, points, margins, slacks })
    }

    /// Returns the fraction of stable points among those with an equilibrium.
    #[must_use]
    pub fn stable_part(&self) -> f64 {
        let known = self.margins.iter().filter(|margin| !margin.is_nan()).count();
        let stable = self.margins.iter().filter(|margin| **margin > 0.0).count();
        if known == 0 { 0.0 } else { stable as f64 / known as f64 }
    }

    /// Returns the boundary between stable and unstable points.
    #[must_use]
    pub fn boundary(&self) -> Vec<Contour> {
        self.contours(&self.margins)
    }

    /// Returns the boundary of theorem 3.
    #[must_use]
    pub fn edge_of_theorem(&self) -> Vec<Contour> {
        self.contours(&self.slacks)
    }

    /// Returns the zero contours of a field, computed by marching squares.
    fn contours(&self, field: &[f64]) -> Vec<Contour> {
        let points = self.points;
        let at = |column: usize, row: usize| field[row * points + column];
        // An edge of the grid: the point it starts from, and whether it goes up.
        type Edge = (usize, usize, bool);
        let mut pieces: Vec<(Edge, Edge)> = Vec::new();
        for row in 0..points - 1 {
            for column in 0..points - 1 {
                let corners = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(dx, dy)| at(column + dx, row + dy));
                if corners.iter().any(|value| value.is_nan()) {
                    continue;
                }
                let edges: [Edge; 4] =
                    [(column, row, false), (column + 1, row, true), (column, row + 1, false), (column, row, true)];
                let crossed: Vec<Edge> = (0..4)
                    .filter(|&side| (corners[side] > 0.0) != (corners[(side + 1) % 4] > 0.0))
                    .map(|side| edges[side])
                    .collect();
                for pair in crossed.chunks_exact(2) {
                    pieces.push((pair[0], pair[1]));
                }
            }
        }
        let place = |(column, row, up): Edge| {
            let (a, b) = (at(column, row), if up { at(column, row + 1) } else { at(column + 1, row) });
            let part = if a == b { 0.5 } else { (a / (a - b)).clamp(0.0, 1.0) };
            let step = |axis: &MapAxis| (axis.to - axis.from) / (points - 1) as f64;
            let (right, above) = if up { (0.0, part) } else { (part, 0.0) };
            (self.x.at(column, points) + right * step(&self.x), self.y.at(row, points) + above * step(&self.y))
        };
        let mut ends: BTreeMap<Edge, Vec<usize>> = BTreeMap::new();
        for (number, (a, b)) in pieces.iter().enumerate() {
            ends.entry(*a).or_default().push(number);
            ends.entry(*b).or_default().push(number);
        }
        let mut used = vec![false; pieces.len()];
        let mut lines = Vec::new();
        for start in 0..pieces.len() {
            if std::mem::replace(&mut used[start], true) {
                continue;
            }
            let (first, second) = pieces[start];
            let mut follow = |mut edge: Edge| {
                let mut path = vec![edge];
                while let Some(&next) = ends[&edge].iter().find(|&&piece| !used[piece]) {
                    used[next] = true;
                    edge = if pieces[next].0 == edge { pieces[next].1 } else { pieces[next].0 };
                    path.push(edge);
                }
                path
            };
            let (forward, mut path) = (follow(second), follow(first));
            path.reverse();
            path.extend(forward);
            lines.push(path.into_iter().map(place).collect());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use theory::fluid::{Bcn, Qcn};
    use theory::stability::DelayedLoop;

    fn paper() -> Model {
        Model::Bcn(Bcn::of_the_paper())
    }

    fn axes(model: &Model, x: &str, y: &str) -> [MapAxis; 2] {
        [x, y].map(|text| MapAxis::parse(model, text).expect("an axis"))
    }

    #[test]
    fn ranges_are_read_in_their_units() {
        let axis = MapAxis::parse(&paper(), "fluid.delay = 50us..300us").expect("an axis");
        assert_eq!((axis.name, axis.from, axis.to), ("delay", 50e-6, 300e-6));
        let axis = MapAxis::parse(&paper(), "decrease_gain=1/1024..1/16").expect("an axis");
        assert_eq!((axis.from, axis.to), (1.0 / 1024.0, 1.0 / 16.0));
        let refusal = |text: &str| MapAxis::parse(&paper(), text).expect_err(text).to_string();
        assert!(refusal("dealy=1us..2us").contains("did you mean `delay`"));
        assert!(refusal("gd=1..2").contains("no parameter `gd`"));
        assert!(refusal("delay=1..2").contains("such as 200us"));
        assert!(refusal("delay=1us").contains("KEY=FROM..TO"));
        assert!(refusal("delay").contains("no range"));
        assert!(refusal("delay=2us..1us").contains("smaller value first"));
        assert!(refusal("probability=-1..1").contains("must not be negative"));
        assert!(refusal("probability=1/0..1").contains("not a value"));
    }

    #[test]
    fn the_boundary_is_where_the_delay_is_critical() {
        let [x, y] = axes(&paper(), "sources=1..100", "delay=150us..260us");
        let map = Map::compute(&paper(), [x, y], 200, 2).expect("a map");
        let lines = map.boundary();
        assert_eq!(lines.len(), 1, "one line from edge to edge");
        assert!(lines[0].len() > 150);
        for &(sources, delay) in &lines[0] {
            let of = Bcn { sources, ..Bcn::of_the_paper() };
            let critical = of.near_loops().map(|exact: DelayedLoop| exact.critical_delay()).fold(1.0, f64::min);
            assert!((delay - critical).abs() < 2e-6, "{sources}: {delay} {critical}");
        }
        // The theorem too has one edge; from it on its verdict changes.
        assert_eq!(map.edge_of_theorem().len(), 1);
        assert!(map.stable_part() > 0.3 && map.stable_part() < 0.9);
    }

    trait NearLoops {
        fn near_loops(&self) -> impl Iterator<Item = DelayedLoop>;
    }

    impl NearLoops for Bcn {
        fn near_loops(&self) -> impl Iterator<Item = DelayedLoop> {
            Model::Bcn(self.clone()).loops().expect("loops").into_iter().map(|of| of.exact)
        }
    }

    #[test]
    fn threads_change_nothing_and_mistakes_are_told() {
        for model in [paper(), Model::Qcn(Qcn::of_the_standard())] {
            let of = |threads| {
                Map::compute(&model, axes(&model, "delay=10us..1ms", "sources=1..400"), 30, threads).expect("a map")
            };
            let (one, seven) = (of(1), of(7));
            let bits = |map: &Map| map.margins.iter().map(|margin| margin.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one), bits(&seven));
        }
        let same = Map::compute(&paper(), axes(&paper(), "delay=1us..2us", "delay=1us..3us"), 9, 1);
        assert!(same.expect_err("the same").to_string().contains("both axes"));
        let few = Map::compute(&paper(), axes(&paper(), "delay=1us..2us", "weight=1..3"), 1, 1);
        assert!(few.expect_err("a point").to_string().contains("from 2 to 4000"));
    }

    #[test]
    fn where_there_is_no_equilibrium_there_is_no_margin() {
        // Below one source the fair share is more than a source may send.
        let map = Map::compute(&paper(), axes(&paper(), "sources=0.5..2", "delay=10us..20us"), 4, 1).expect("a map");
        assert!(map.margins[0].is_nan() && map.margins[3].is_finite(), "{:?}", map.margins);
    }
}
