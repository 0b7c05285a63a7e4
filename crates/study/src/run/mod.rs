//! Execution of one plan: building, running, measuring, recording.
//!
//! [`execute()`] does all of it; the other files name the results, bound their size, describe the network to readers
//! of the results, and load the plan of a recorded run again. A [`Session`] runs in steps, and a [`LiveRun`] does so and
//! keeps its recording in memory.

mod change;
mod ended;
pub(crate) mod execute;
#[cfg(test)]
mod infiniband_tests;
#[cfg(test)]
mod limit_tests;
mod live;
mod loss;
pub(crate) mod names;
mod network;
mod ranks;
mod recorded_plan;
mod saved;
mod session;
pub(crate) mod volume;

pub use change::ChangeError;
pub use execute::{
    Captured, Draft, Execution, Existing, Options, Recording, StudyError, cores, execute, execute_among, execute_with,
    finish, recorder_spec,
};
pub use live::{LiveResult, LiveRun};
pub use loss::explain_loss;
pub use names::{file_name, slug, usual_place};
pub use ranks::assist;
pub use recorded_plan::{load_recorded, recorded_texts};
pub use saved::SavedError;
pub use session::Session;
pub use volume::Volume;
