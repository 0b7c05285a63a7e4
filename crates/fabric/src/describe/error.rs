//! Why a network cannot be built.

use crate::describe::graph::GraphError;
use std::fmt;

/// Why a network cannot be built: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    /// The graph itself is wrong.
    Graph(GraphError),
    /// A kind of switch contradicts itself or its surroundings.
    Switch {
        /// Position in [`NetworkSpec::switches`](crate::spec::NetworkSpec::switches).
        kind: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A kind of adapter contradicts itself or its surroundings.
    Adapter {
        /// Position in [`NetworkSpec::adapters`](crate::spec::NetworkSpec::adapters).
        kind: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A flow contradicts itself or the network.
    Flow {
        /// Position in [`NetworkSpec::flows`](crate::spec::NetworkSpec::flows).
        flow: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Anything else.
    Network {
        /// What is wrong and what to do.
        reason: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Graph(error) => error.fmt(f),
            BuildError::Switch { kind, reason } => write!(f, "switch kind {kind}: {reason}"),
            BuildError::Adapter { kind, reason } => write!(f, "adapter kind {kind}: {reason}"),
            BuildError::Flow { flow, reason } => write!(f, "flow {flow}: {reason}"),
            BuildError::Network { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for BuildError {}

/// All reasons why a network cannot be built, at least one. Printed, each has a line of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildErrors(pub(crate) Vec<BuildError>);

impl std::ops::Deref for BuildErrors {
    type Target = [BuildError];

    fn deref(&self) -> &[BuildError] {
        &self.0
    }
}

impl IntoIterator for BuildErrors {
    type Item = BuildError;
    type IntoIter = std::vec::IntoIter<BuildError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if place > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}
