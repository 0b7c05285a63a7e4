//! Plots and reports of results.
//!
//! Rendering reads results and writes files for viewing; all values are computed by studies.
//!
//! ```
//! use tailback_render::plot::{Axis, LineChart, Quantity, Series, to_svg};
//!
//! let (time, queue) = (Axis::new("time", Quantity::Time), Axis::new("queue", Quantity::Size));
//! let mut chart = LineChart::new("A queue", time, queue);
//! chart.series.push(Series::straight("sw0", vec![(0.0, 0.0), (1e-3, 30e3), (2e-3, 12e3)]));
//! let svg = to_svg(&chart.draw());
//! assert!(svg.starts_with("<svg ") && svg.contains("queue (KB)"));
//! ```

pub mod figure;
mod kept;
pub mod paper;
pub mod plot;
pub mod report;
pub mod stability;
