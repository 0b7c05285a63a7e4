//! The flows of a network: a list that is shared instead of copied.

use super::FlowSpec;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Flows in order. A clone refers to the same flows, because networks have millions, and their descriptions and runs all
/// need them; whoever changes a list that others refer to gets a copy of its own.
///
/// ```
/// use tailback_fabric::graph::HostId;
/// use tailback_fabric::workload::{FlowList, FlowSpec};
///
/// let flows = FlowList::from(vec![FlowSpec::greedy(HostId(0), HostId(1))]);
/// let mut more = flows.clone();
/// more.push(FlowSpec::greedy(HostId(1), HostId(0)));
/// assert_eq!((flows.len(), more.len()), (1, 2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct FlowList(Arc<Vec<FlowSpec>>);

impl Deref for FlowList {
    type Target = Vec<FlowSpec>;

    #[inline]
    fn deref(&self) -> &Vec<FlowSpec> {
        &self.0
    }
}

impl DerefMut for FlowList {
    fn deref_mut(&mut self) -> &mut Vec<FlowSpec> {
        Arc::make_mut(&mut self.0)
    }
}

impl AsRef<[FlowSpec]> for FlowList {
    #[inline]
    fn as_ref(&self) -> &[FlowSpec] {
        &self.0
    }
}

impl From<Vec<FlowSpec>> for FlowList {
    fn from(flows: Vec<FlowSpec>) -> FlowList {
        FlowList(Arc::new(flows))
    }
}

impl<const N: usize> From<[FlowSpec; N]> for FlowList {
    fn from(flows: [FlowSpec; N]) -> FlowList {
        Vec::from(flows).into()
    }
}

impl FromIterator<FlowSpec> for FlowList {
    fn from_iter<I: IntoIterator<Item = FlowSpec>>(flows: I) -> FlowList {
        flows.into_iter().collect::<Vec<FlowSpec>>().into()
    }
}

impl<'a> IntoIterator for &'a FlowList {
    type Item = &'a FlowSpec;
    type IntoIter = std::slice::Iter<'a, FlowSpec>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut FlowList {
    type Item = &'a mut FlowSpec;
    type IntoIter = std::slice::IterMut<'a, FlowSpec>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl IntoIterator for FlowList {
    type Item = FlowSpec;
    type IntoIter = std::vec::IntoIter<FlowSpec>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}
