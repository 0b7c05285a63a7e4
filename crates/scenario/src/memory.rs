//! Estimates of memory use, checked before allocation.
//!
//! A few extra zeros in a scenario or a grid would otherwise abort this program or another one. An estimate is a sum
//! of counts times a size per element. The sizes of a flow and of a forwarding table entry were measured and rounded
//! up: 9.7 million flows took 0.49 GB in `check`; a flow that has ended takes 89 B in a run without recording and 181 B in a
//! recorded one; 0.2 million flows with recovery took 0.19 GB; an entry 4 to 6 B. The other sizes are conservative choices,
//! not measurements.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use units::{Bytes, grouped};

/// Default limit, if that much memory is available.
const USUAL: u64 = 4 << 30;

/// The environment variable that sets the limit.
pub const VARIABLE: &str = "TAILBACK_MEMORY";

/// A node, with its name and its state.
const NODE: u64 = 400;
/// A cable and its two ports.
const CABLE: u64 = 800;
/// An entry of the forwarding tables, for a switch and a host: the tables, a copy during computation, and a copy for
/// the run.
const ROUTE: u64 = 8;
/// An entry of tables that are kept for later cable failures.
const LATER_ROUTE: u64 = 2;
/// A flow with its names, its state and its counters.
const FLOW: u64 = 900;
/// A flow that is active for a part of the run, without its state.
const BRIEF_FLOW: u64 = 300;
/// What loss recovery adds to a flow, at both ends.
const RECOVERY: u64 = 1000;
/// A flow with its names, before it runs.
const PLANNED_FLOW: u64 = 60;
/// A receiver in the list of a sender with many receivers.
const RECEIVER: u64 = 8;
/// A cell of a grid, and each of its values.
const CELL: (u64, u64) = (1000, 100);
/// A run of a cell, with its measurements.
const RUN: u64 = 600;
/// The state that one bridge keeps of another.
const BRIDGE: u64 = 600;
/// A DCBX agent at a port, with its frames; 4.8 kB measured on a leaf-spine network of 2048 to 4096 hosts.
const AGENT: u64 = 6000;
/// What is kept of a port for each event; 0.6 kB measured.
const AGENT_STATE: u64 = 800;

/// Memory requirements, by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    parts: Vec<(u64, &'static str, u64)>,
}

impl Need {
    /// Adds `count` elements of `each` bytes.
    #[must_use]
    pub fn and(mut self, count: u64, what: &'static str, each: u64) -> Need {
        self.parts.push((count, what, count.saturating_mul(each)));
        self
    }

    /// Returns the requirements of a network with that number of nodes, cables and forwarding table entries.
    #[must_use]
    pub fn network(nodes: u64, cables: u64, routes: u64) -> Need {
        Need::default().and(nodes, "nodes", NODE).and(cables, "links", CABLE).and(routes, "forwarding entries", ROUTE)
    }

    /// Adds further forwarding tables.
    #[must_use]
    pub fn and_tables(self, routes: u64, changes: u64) -> Need {
        self.and(routes.saturating_mul(changes), "forwarding entries after failures", LATER_ROUTE)
    }

    /// Adds flows, of which some are active for a part of the run and some recover from losses.
    #[must_use]
    pub fn and_flows(self, flows: u64, brief: u64, recovering: u64, receivers: u64) -> Need {
        let (brief, lasting) = (brief.min(flows), flows.saturating_sub(brief));
        let bytes = brief.saturating_mul(BRIEF_FLOW).saturating_add(lasting.saturating_mul(FLOW));
        let mut need = self.and(flows, "flows", 0);
        if let Some(part) = need.parts.last_mut() {
            part.2 = bytes;
        }
        let need = need.and(recovering, "flows with recovery", RECOVERY);
        need.and(receivers, "receivers of senders with many", RECEIVER)
    }

    /// Adds flows of a scenario that is examined, but not run.
    #[must_use]
    pub fn and_planned_flows(self, flows: u64, receivers: u64) -> Need {
        self.and(flows, "flows", PLANNED_FLOW).and(receivers, "receivers of senders with many", RECEIVER)
    }

    /// Returns the requirements of a grid with that number of cells, values per cell, and seeds.
    #[must_use]
    pub fn grid(cells: u64, axes: u64, seeds: u64) -> Need {
        let cell = CELL.0.saturating_add(CELL.1.saturating_mul(axes));
        Need::default().and(cells, "cells", cell).and(cells.saturating_mul(seeds), "runs", RUN)
    }

    /// Adds bridges, each of which learns of all others.
    #[must_use]
    pub fn and_bridges(self, bridges: u64) -> Need {
        self.and(bridges.saturating_mul(bridges), "pairs of bridges", BRIDGE)
    }

    /// DCBX agents at so many ports, through so many events.
    #[must_use]
    pub fn and_agents(self, ports: u64, events: u64) -> Need {
        let states = ports.saturating_mul(events);
        self.and(ports, "ports with DCBX agents", AGENT).and(states, "states of ports after events", AGENT_STATE)
    }

    /// Returns how many such requirements fit in the limit at once; at least one, because a single one was checked when
    /// it was created.
    #[must_use]
    pub fn at_once(&self, limit: u64) -> usize {
        usize::try_from(limit / self.total().max(1)).unwrap_or(usize::MAX).max(1)
    }

    /// Returns the total in bytes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.2))
    }

    /// Checks the total against a limit.
    ///
    /// # Errors
    /// Returns the problem and the remedy if the limit is exceeded.
    pub fn within(&self, limit: u64) -> Result<(), (String, String)> {
        let total = self.total();
        if total <= limit {
            return Ok(());
        }
        let mut text = format!("this needs {} of memory", about(total));
        if let Some((count, what, bytes)) = self.parts.iter().max_by_key(|part| part.2) {
            let _ = write!(text, ", {} of it for {} {what}", shown(*bytes), grouped(*count));
        }
        let _ = write!(text, "; the limit is {}", shown(limit));
        Err((
            text,
            format!("make it smaller, or raise the limit: set {VARIABLE}={} in the environment", allowance(total)),
        ))
    }
}

/// Formats a number of bytes for humans.
#[must_use]
pub fn shown(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{bytes} B"),
        1_000_000..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        1_000_000_000..1_000_000_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => "more than 1000 TB".into(),
    }
}

/// Formats an estimated number of bytes for humans.
#[must_use]
pub fn about(bytes: u64) -> String {
    let shown = shown(bytes);
    if shown.starts_with("more than") { shown } else { format!("about {shown}") }
}

/// Returns the value of the environment variable that permits that many bytes.
fn allowance(bytes: u64) -> String {
    format!("{}GB", (bytes / 1_000_000_000).saturating_add(1).min(1_000_000))
}

/// Returns the memory limit: that of the environment, or else 4 GiB or three quarters of the available memory,
/// whichever is less.
#[must_use]
pub fn limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    let usual = || USUAL.min(available().unwrap_or(u64::MAX) / 4 * 3);
    *LIMIT.get_or_init(|| said().ok().flatten().unwrap_or_else(usual))
}

/// Returns the memory limit set in the environment.
///
/// # Errors
/// Returns an error if it is not a size.
pub fn said() -> Result<Option<u64>, String> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
    let text = text.to_string_lossy();
    let size = text.trim().parse::<Bytes>();
    size.map(|size| Some(size.get())).map_err(|error| format!("{VARIABLE} in the environment: {error}"))
}

/// Returns the minimum of the machine's memory, the container's limit and the limit of the address space.
fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let number = |text: &str| text.split_whitespace().find_map(|word| word.parse::<u64>().ok());
    let line = |text: String, name: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    let machine = read("/proc/meminfo").and_then(|text| number(&line(text, "MemAvailable:")?)).map(|it| it * 1024);
    let container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| number(&read(path)?));
    let used = ["/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes"]
        .iter()
        .find_map(|path| number(&read(path)?));
    let container = container.map(|most| most.saturating_sub(used.unwrap_or(0).min(most / 2)));
    let space = read("/proc/self/limits").and_then(|text| number(&line(text, "Max address space")?));
    machine.into_iter().chain(container).chain(space).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_told_with_its_largest_part() {
        let need = Need::network(10_000, 20_000, 25_000_000).and_flows(9_995_082, 0, 0, 0);
        assert!(need.within(u64::MAX).is_ok());
        let (message, help) = need.within(4 << 30).expect_err("it is too much");
        assert!(message.contains("9.0 GB of it for 9,995,082 flows; the limit is 4.3 GB"), "{message}");
        assert!(help.contains("TAILBACK_MEMORY=10GB"), "{help}");
        let brief = Need::network(10_000, 20_000, 25_000_000).and_flows(9_995_082, 9_995_082, 0, 0);
        assert_eq!(need.total() - brief.total(), 9_995_082 * (FLOW - BRIEF_FLOW));
    }

    #[test]
    fn as_many_at_once_as_fit() {
        let need = Need::network(2, 1, 2).and_flows(1000, 0, 10, 0);
        assert_eq!(
            [0, need.total(), 2 * need.total() - 1, 2 * need.total()].map(|most| need.at_once(most)),
            [1, 1, 1, 2]
        );
        assert_eq!(Need::default().at_once(u64::MAX), usize::MAX);
    }

    #[test]
    fn nothing_overflows() {
        let huge = u64::MAX;
        let needs = [
            Need::network(huge, huge, huge).and_tables(huge, huge).and_flows(huge, huge, huge, huge).and_bridges(huge),
            Need::grid(huge, huge, huge),
        ];
        for need in needs {
            assert_eq!(need.total(), u64::MAX);
            assert!(need.within(1 << 60).is_err_and(|(message, _)| message.contains("more than 1000 TB")));
        }
    }

    #[test]
    fn there_is_some_memory() {
        assert!(limit() > 1 << 20 && available().is_none_or(|bytes| bytes > 1 << 20));
    }
}
