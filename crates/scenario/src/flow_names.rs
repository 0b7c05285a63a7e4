//! Names of flows. The flows of a large workload are numbered, and their names take no memory: ten million texts would
//! take half a gigabyte, and longer to compare than everything else in setting up a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Names of flows, in the order of the flows.
#[derive(Clone, Debug, Default)]
pub struct FlowNames {
    groups: Vec<Group>,
    count: usize,
}

/// Names of consecutive flows.
#[derive(Clone, Debug)]
struct Group {
    /// Index of the first flow.
    first: usize,
    names: Names,
}

#[derive(Clone, Debug)]
enum Names {
    Listed(Vec<String>),
    /// `WORKLOAD/0`, `WORKLOAD/1` and so on.
    Numbered {
        workload: String,
        count: usize,
    },
}

impl Names {
    fn len(&self) -> usize {
        match self {
            Names::Listed(names) => names.len(),
            Names::Numbered { count, .. } => *count,
        }
    }

    fn get(&self, number: usize) -> Option<Cow<'_, str>> {
        match self {
            Names::Listed(names) => names.get(number).map(|name| Cow::Borrowed(name.as_str())),
            Names::Numbered { workload, count } => {
                (number < *count).then(|| Cow::Owned(format!("{workload}/{number}")))
            }
        }
    }

    /// Returns whether this is the name of a numbered flow.
    fn numbers(&self, name: &str) -> bool {
        let Names::Numbered { workload, count } = self else { return false };
        let number = name.strip_prefix(workload.as_str()).and_then(|rest| rest.strip_prefix('/'));
        number.and_then(|text| text.parse::<usize>().ok()).is_some_and(|number| {
            // Not `WORKLOAD/007`.
            number < *count && name.len() == workload.len() + 1 + number.to_string().len()
        })
    }
}

impl FlowNames {
    /// Returns the number of flows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there are no flows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the name of a flow.
    #[must_use]
    pub fn get(&self, flow: usize) -> Option<Cow<'_, str>> {
        let group = self.groups.partition_point(|group| group.first <= flow).checked_sub(1)?;
        let group = &self.groups[group];
        group.names.get(flow - group.first)
    }

    /// Returns all names.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.groups.iter().flat_map(|group| (0..group.names.len()).filter_map(|number| group.names.get(number)))
    }

    /// Returns the index of the flow with a name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|one| one == name)
    }

    /// Adds flows with names of their own.
    pub(crate) fn list(&mut self, names: Vec<String>) {
        self.add(Names::Listed(names));
    }

    /// Adds the flows of a workload that are only numbered.
    pub(crate) fn number(&mut self, workload: &str, count: usize) {
        self.add(Names::Numbered { workload: workload.to_owned(), count });
    }

    fn add(&mut self, names: Names) {
        let first = self.count;
        self.count += names.len();
        self.groups.push(Group { first, names });
    }

    /// Numbers repeated names: the second `a` becomes `a#2`.
    pub(crate) fn make_unique(&mut self) {
        // Workloads have different names, so numbered flows of two of them cannot be confused.
        let listed = |group: &Group| match &group.names {
            Names::Listed(names) => names.clone(),
            Names::Numbered { .. } => Vec::new(),
        };
        if self.groups.iter().any(|group| matches!(group.names, Names::Numbered { .. })) {
            let texts: Vec<String> = self.groups.iter().flat_map(listed).collect();
            for group in &mut self.groups {
                if texts.iter().any(|name| group.names.numbers(name)) {
                    let names = (0..group.names.len()).filter_map(|number| group.names.get(number));
                    group.names = Names::Listed(names.map(Cow::into_owned).collect());
                }
            }
        }
        let mut met: BTreeMap<String, u32> = BTreeMap::new();
        let lists = self.groups.iter_mut().filter_map(|group| match &mut group.names {
            Names::Listed(names) => Some(names),
            Names::Numbered { .. } => None,
        });
        for name in lists.flatten() {
            let count = met.entry(name.clone()).or_insert(0);
            *count += 1;
            if *count > 1 {
                name.push_str(&format!("#{count}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &FlowNames) -> Vec<String> {
        of.iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn numbered_flows_have_names() {
        let mut flows = FlowNames::default();
        flows.list(vec!["a".into(), "b".into()]);
        flows.number("w", 12);
        flows.number("empty", 0);
        flows.list(vec!["c".into()]);
        flows.make_unique();
        assert_eq!(flows.len(), 15);
        assert_eq!([0, 1, 2, 13, 14].map(|flow| flows.get(flow)).map(Option::unwrap), ["a", "b", "w/0", "w/11", "c"]);
        assert_eq!((flows.get(15), flows.position("w/3"), flows.position("w/12")), (None, Some(5), None));
        assert_eq!(names(&flows).len(), 15);
        assert_eq!(FlowNames::default().get(0), None);
    }

    #[test]
    fn repeated_names_are_numbered() {
        let mut flows = FlowNames::default();
        flows.list(vec!["a".into(), "a".into(), "w/1".into(), "w/01".into(), "a".into()]);
        flows.number("w", 3);
        flows.make_unique();
        assert_eq!(names(&flows), ["a", "a#2", "w/1", "w/01", "a#3", "w/0", "w/1#2", "w/2"]);
    }
}
