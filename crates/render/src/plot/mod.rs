//! Plots of results as SVG and PNG.
//!
//! A chart is drawn once onto a [`Canvas`] of lines, rectangles and text; the canvas is then written as SVG text or PNG
//! pixels. Both are identical on every machine: the font is embedded, and numbers are written with fixed digits.
//! [`LineChart`], [`BandChart`], [`HeatChart`] and [`BarChart`] are independent of results; [`picture`] draws the tables of a result,
//! [`grouped()`] sums over flows or links, [`GridChart`] draws a grid of runs, and [`MapChart`] draws a quantity over
//! two parameters.

mod axis;
mod band_chart;
mod bar_chart;
mod canvas;
mod flows;
mod font;
mod frame;
mod gather;
mod grid;
mod grouped;
mod heat_chart;
mod line_chart;
mod map_chart;
mod output;
#[cfg(test)]
mod own_tests;
mod pictures;
mod png;
mod svg;
mod thin;

pub use axis::Axis;
pub use band_chart::{BandChart, BandRow};
pub use bar_chart::{BarChart, Bars};
pub use canvas::{Anchor, Canvas, Colour, PALETTE};
pub use grid::{GridChart, GridLine, GridPoint};
pub use grouped::{LineGroup, grouped};
pub use heat_chart::{HeatChart, HeatRow};
pub use line_chart::{Band, HorizontalLine, LineChart, Manner, Series};
pub use map_chart::{MapBand, MapChart, MapLine};
pub use output::Drawn;
pub use pictures::{Chart, PlotOptions, draw_plots, picture, write_plots};
pub use png::to_png;
pub use results::Quantity;
pub use svg::to_svg;
pub use thin::Thinner;
