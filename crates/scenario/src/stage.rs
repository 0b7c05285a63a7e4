//! Stages of setting up a run, for callers that show progress: a large network takes seconds before its first frame.

use std::fmt;
use std::sync::Arc;

/// What is being set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The network is created and its routes are computed.
    Network,
    /// Flows are created.
    Flows,
    /// The network and its flows are validated.
    Validation,
    /// Buffers and cyclic dependencies of the routes are checked.
    Dependencies,
    /// The paths of all flows are checked.
    Paths,
    /// The state of the simulation is built.
    Building,
}

impl Stage {
    /// Returns what is being done, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Stage::Network => "creating the network and its routes",
            Stage::Flows => "creating flows",
            Stage::Validation => "validating the network and its flows",
            Stage::Dependencies => "checking buffers and dependencies of routes",
            Stage::Paths => "checking the paths of flows",
            Stage::Building => "building the simulation",
        }
    }
}

/// A function that is notified when a stage begins.
#[derive(Clone, Default)]
pub struct StageObserver(Option<Arc<dyn Fn(Stage) + Send + Sync>>);

impl StageObserver {
    /// Creates an observer.
    pub fn new(notify: impl Fn(Stage) + Send + Sync + 'static) -> StageObserver {
        StageObserver(Some(Arc::new(notify)))
    }

    pub(crate) fn notify(&self, stage: Stage) {
        if let Some(notify) = &self.0 {
            notify(stage);
        }
    }
}

impl fmt::Debug for StageObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "StageObserver(..)" } else { "StageObserver(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, load_observed};
    use std::path::Path;
    use std::sync::Mutex;

    #[test]
    fn stages_are_observed_in_order() {
        let seen: Arc<Mutex<Vec<Stage>>> = Arc::default();
        let observer = {
            let seen = Arc::clone(&seen);
            StageObserver::new(move |stage| seen.lock().expect("no panic").push(stage))
        };
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/victim.toml");
        let plan = load_observed(&file, &[], crate::Limits::default(), observer).expect("a scenario");
        let _ = check(&plan);
        plan.notify(Stage::Building);
        use Stage::{Building, Dependencies, Flows, Network, Paths, Validation};
        let all = [Network, Flows, Validation, Dependencies, Paths, Building];
        assert_eq!(*seen.lock().expect("no panic"), all);
        assert!(all.into_iter().all(|stage| !stage.words().is_empty()));
    }
}
