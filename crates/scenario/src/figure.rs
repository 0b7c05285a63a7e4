//! What a paper does with a scenario: variants, open choices, trends along axes, and the charts it draws.

use super::expect::Expected;
use units::Span;

/// One cell of a grid: the axes and the value each has, as a person writes it.
pub type Cell = [(String, String)];

/// The axis of the variants.
pub const VARIANT: &str = "variant";

/// Some cells of a grid: axes, each with the values it may have. An axis that is not named may have any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Within(pub Vec<(String, Vec<String>)>);

impl Within {
    /// Whether a cell is one of them.
    #[must_use]
    pub fn holds(&self, cell: &Cell) -> bool {
        let fits = |(axis, values): &(String, Vec<String>)| {
            cell.iter().any(|(name, value)| name == axis && values.contains(value))
        };
        self.0.iter().all(fits)
    }

    /// The values of an axis, if it is limited.
    #[must_use]
    pub fn of(&self, axis: &str) -> Option<&[String]> {
        self.0.iter().find(|(name, _)| name == axis).map(|(_, values)| values.as_slice())
    }
}

/// One way to read what a paper leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceOption {
    /// What it is called, or its value as a person writes it.
    pub label: String,
    /// What it sets, as overrides: `path=value`.
    pub set: Vec<String>,
}

/// Something a paper leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenChoice {
    /// What it is called.
    pub name: String,
    /// What may be chosen; the first is what we take.
    pub options: Vec<ChoiceOption>,
    /// Why it is open, for people.
    pub why: Option<String>,
    /// The cells in which the choice exists.
    pub within: Within,
}

/// How a quantity goes along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every step up, and up in all.
    Rising,
    /// Every step down, and down in all.
    Falling,
    /// Never below what was before.
    NotFalling,
    /// Never above what was before.
    NotRising,
    /// Everywhere the same.
    Flat,
    /// Everywhere above a value.
    Above,
    /// Everywhere below a value.
    Below,
}

impl Shape {
    /// The word a scenario has for it.
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

/// How a quantity should go along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// What it is called.
    pub name: String,
    /// The expectation whose number it is about: a position in the plan's.
    pub quantity: usize,
    /// The axis; with none, every cell is a line of its own.
    pub along: Option<String>,
    /// How it should go.
    pub shape: Shape,
    /// The bound of above and below.
    pub value: Option<Expected>,
    /// Fraction of the largest value of a line.
    pub tolerance: f64,
    /// The cells it is about.
    pub within: Within,
    /// Where the sentence stands, for people.
    pub source: Option<String>,
    /// The statement it is evidence for; without it, what its source says.
    pub statement: Option<String>,
}

/// Some flows or ports that a chart shows as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Flows as positions in the plan, or ports as results number them; ascending.
    pub members: Vec<u32>,
}

/// What a chart shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Quantities of the grid.
    Grid {
        /// Whether as bars, else as lines.
        bars: bool,
        /// Positions in the plan's expectations.
        quantities: Vec<usize>,
        /// The horizontal axis.
        along: Option<String>,
        /// The cells it shows.
        within: Within,
    },
    /// One run over time.
    Time {
        /// The name of the picture.
        picture: String,
        /// Flows summed.
        flows: Vec<Group>,
        /// Ports summed.
        links: Vec<Group>,
        /// Length of the sliding window.
        window: Option<Span>,
    },
}

/// A chart that a figure asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartWish {
    /// What stands above it.
    pub title: String,
    /// What stands at the vertical axis.
    pub y: Option<String>,
    /// What stands at the horizontal axis.
    pub x: Option<String>,
    /// What its lines are.
    pub legend: Option<String>,
    /// What it shows.
    pub kind: ChartKind,
}

/// What a scenario says of the figure it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The names of its variants.
    pub variants: Vec<String>,
    /// Which of them this plan is.
    pub variant: Option<String>,
    /// For every expectation the cells it is judged in.
    pub judged_in: Vec<Within>,
    /// What is left open.
    pub choices: Vec<OpenChoice>,
    /// How quantities should go.
    pub trends: Vec<Trend>,
    /// What to draw.
    pub charts: Vec<ChartWish>,
}
