//! Many runs: the points of a grid, a part of them for one task of a batch job, sweeps, and comparisons of recorded
//! runs.

mod claim;
mod compare;
mod error;
mod part;
pub(crate) mod points;
mod sweep;

pub use compare::{CompareError, CompareEvent, CompareStudy, Compared, LoadedComparison, Views};
pub use error::GridError;
pub use part::Part;
pub use points::{Grid, GridPoint, Older, PointResult, Sample, kind_of, quantity_keys, value_names};
pub use sweep::{Axis, Curve, SweepRow, SweepStudy, SweepTable, given_twice, parse_axis};
