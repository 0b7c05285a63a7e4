//! The parts of a scenario that reproduce a figure of a paper: variants, open choices, trends along axes, and charts.

use super::expect::Expected;
use units::Span;

/// One cell of a grid: the axes and their values, as written by a user.
pub type Cell = [(String, String)];

/// The axis of the variants.
pub const VARIANT: &str = "variant";

/// A subset of the cells of a grid: axes and their permitted values. Other axes are not restricted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Within(pub Vec<(String, Vec<String>)>);

impl Within {
    /// Returns whether a cell is in the subset.
    #[must_use]
    pub fn holds(&self, cell: &Cell) -> bool {
        let fits = |(axis, values): &(String, Vec<String>)| {
            cell.iter().any(|(name, value)| name == axis && values.contains(value))
        };
        self.0.iter().all(fits)
    }

    /// Returns the permitted values of an axis, if it is restricted.
    #[must_use]
    pub fn of(&self, axis: &str) -> Option<&[String]> {
        self.0.iter().find(|(name, _)| name == axis).map(|(_, values)| values.as_slice())
    }
}

/// One option of an open choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceOption {
    /// Label of the option, or its value as written by a user.
    pub label: String,
    /// Overrides that it sets: `path=value`.
    pub set: Vec<String>,
}

/// A choice that a paper leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenChoice {
    /// Name of the choice.
    pub name: String,
    /// The options; the first is the default.
    pub options: Vec<ChoiceOption>,
    /// Reason for the open choice, for humans.
    pub why: Option<String>,
    /// The cells in which the choice exists.
    pub within: Within,
}

/// The shape of a quantity along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every step rises, and the total change is a rise.
    Rising,
    /// Every step falls, and the total change is a fall.
    Falling,
    /// No step falls.
    NotFalling,
    /// No step rises.
    NotRising,
    /// Constant.
    Flat,
    /// Above a value everywhere.
    Above,
    /// Below a value everywhere.
    Below,
}

impl Shape {
    /// Returns the name of the shape in scenarios.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Shape::Rising => "rising",
            Shape::Falling => "falling",
            Shape::NotFalling => "not-falling",
            Shape::NotRising => "not-rising",
            Shape::Flat => "flat",
            Shape::Above => "above",
            Shape::Below => "below",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Shape> {
        use Shape::{Above, Below, Falling, Flat, NotFalling, NotRising, Rising};
        [Rising, Falling, NotFalling, NotRising, Flat, Above, Below].into_iter().find(|shape| shape.word() == word)
    }
}

/// An expected trend of a quantity along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Name of the trend.
    pub name: String,
    /// Index of the expectation that measures the quantity.
    pub quantity: usize,
    /// The axis; without one, every cell is a line of its own.
    pub along: Option<String>,
    /// The expected shape.
    pub shape: Shape,
    /// The bound of `above` and `below`.
    pub value: Option<Expected>,
    /// Tolerance, as a fraction of the largest value of a line.
    pub tolerance: f64,
    /// The cells that the trend applies to.
    pub within: Within,
    /// Source of the statement, for humans.
    pub source: Option<String>,
    /// The statement that it is evidence for; by default its source.
    pub statement: Option<String>,
}

/// Flows or ports that a chart shows as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Flows as indices in the plan, or ports as numbered in results, in ascending order.
    pub members: Vec<u32>,
}

/// The contents of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Quantities of the grid.
    Grid {
        /// Whether to draw bars instead of lines.
        bars: bool,
        /// Indices in the plan's expectations.
        quantities: Vec<usize>,
        /// The horizontal axis.
        along: Option<String>,
        /// The displayed cells.
        within: Within,
    },
    /// One run over time.
    Time {
        /// Name of the plot.
        picture: String,
        /// Groups of flows.
        flows: Vec<Group>,
        /// Groups of ports.
        links: Vec<Group>,
        /// Length of the sliding window.
        window: Option<Span>,
    },
}

/// A chart that a figure requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartWish {
    /// Title.
    pub title: String,
    /// Label of the vertical axis.
    pub y: Option<String>,
    /// Label of the horizontal axis.
    pub x: Option<String>,
    /// Title of the legend.
    pub legend: Option<String>,
    /// The contents.
    pub kind: ChartKind,
}

/// The parts of a scenario that describe its figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Names of the variants.
    pub variants: Vec<String>,
    /// The variant of this plan.
    pub variant: Option<String>,
    /// For every expectation, the cells it is judged in.
    pub judged_in: Vec<Within>,
    /// Open choices.
    pub choices: Vec<OpenChoice>,
    /// Expected trends.
    pub trends: Vec<Trend>,
    /// Requested charts.
    pub charts: Vec<ChartWish>,
}
