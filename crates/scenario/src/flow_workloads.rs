//! The workload of each flow. The flows of a workload follow each other, so millions of them take no memory here.

use std::ops::Range;

/// The workload of each flow, in the order of the flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowWorkloads {
    /// By workload: the index after its last flow.
    ends: Vec<usize>,
}

impl FlowWorkloads {
    /// Adds the flows of the next workload. Workloads that were left out have none.
    pub(crate) fn add(&mut self, workload: usize, flows: usize) {
        self.ends.resize(workload, self.len());
        self.ends.push(self.len() + flows);
    }

    /// Returns the number of flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns whether there are no flows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the workload of a flow; `None` if there is no such flow.
    #[must_use]
    pub fn get(&self, flow: usize) -> Option<u32> {
        (flow < self.len()).then(|| self.ends.partition_point(|&end| end <= flow) as u32)
    }

    /// Returns the flows of a workload; none if there is no such workload.
    #[must_use]
    pub fn flows(&self, workload: u32) -> Range<usize> {
        let workload = workload as usize;
        let Some(&end) = self.ends.get(workload) else { return 0..0 };
        workload.checked_sub(1).map_or(0, |before| self.ends[before])..end
    }

    /// Returns the workload of each flow.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.ends.len() as u32).flat_map(|workload| self.flows(workload).map(move |_| workload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_without_flows_have_none() {
        let mut workloads = FlowWorkloads::default();
        assert!(workloads.is_empty() && workloads.get(0).is_none());
        [(0, 2), (2, 3)].into_iter().for_each(|(workload, flows)| workloads.add(workload, flows));
        assert_eq!(workloads.iter().collect::<Vec<_>>(), [0, 0, 2, 2, 2]);
        assert_eq!([0, 1, 2, 4, 5].map(|flow| workloads.get(flow)), [Some(0), Some(0), Some(2), Some(2), None]);
        assert_eq!([0, 1, 2, 3].map(|workload| workloads.flows(workload)), [0..2, 2..2, 2..5, 0..0]);
    }
}
