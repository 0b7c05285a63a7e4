//! `network.json`: the network of a run, as readers of its tables need it.

use super::runs::Runs;
use super::{Document, unhashed};
use serde::{Deserialize, Serialize};

/// The network of a run. Lists are indexed like the tables: by node, class, workload and flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Name of the topology; `None` if the scenario lists its nodes.
    pub topology: Option<String>,
    /// The nodes.
    pub nodes: NetworkNodes,
    /// Traffic classes.
    pub classes: Vec<NetworkClass>,
    /// Names of the workloads.
    pub workloads: Vec<String>,
    /// The flows.
    pub flows: NetworkFlows,
    /// Buffers and flow control of the nodes.
    pub buffers: NetworkBuffers,
    /// Links that fail; earlier versions wrote none.
    #[serde(default)]
    pub faults: Vec<NetworkFault>,
    /// Warm-up in picoseconds.
    pub warm_up_ps: u64,
    /// Window over which throughput is averaged, in picoseconds.
    pub throughput_window_ps: u64,
}

impl Document for Network {
    const FORMAT: &'static str = "tailback network";
    const VERSION: u64 = 1;
    const FILE: &'static str = "network.json";
    const KEYS: &'static [&'static str] = &["nodes", "flows", "buffers"];
    /// One number per line would make it several times as long.
    const COMPACT: bool = true;

    /// The lists with an entry for each flow are written one by one: as a tree of values they take a hundred bytes for each.
    fn unhashed(&self) -> String {
        let few = Network {
            topology: self.topology.clone(),
            nodes: self.nodes.clone(),
            classes: self.classes.clone(),
            workloads: self.workloads.clone(),
            flows: NetworkFlows::default(),
            buffers: self.buffers.clone(),
            faults: self.faults.clone(),
            warm_up_ps: self.warm_up_ps,
            throughput_window_ps: self.throughput_window_ps,
        };
        let text = unhashed(&few);
        let nothing = format!("\"flows\":{}", serde_json::to_value(&few.flows).unwrap_or_default());
        let Some((before, after)) = text.split_once(&nothing) else { return unhashed(self) };
        // In the order of their names, as all others.
        let lists = [
            list("bottleneck", &self.flows.bottleneck),
            list("fair_share", &self.flows.fair_share),
            list("path", &self.flows.path),
            list("stop_ps", &self.flows.stop_ps),
            list("workload", &self.flows.workload),
        ];
        format!("{before}\"flows\":{{{}}}{after}", lists.join(","))
    }
}

/// Returns a list with its name.
fn list(name: &str, values: &impl Serialize) -> String {
    format!("\"{name}\":{}", serde_json::to_string(values).unwrap_or_default())
}

/// The nodes of a network, one entry per node in each list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkNodes {
    /// Names.
    pub name: Vec<String>,
    /// `host` or `switch`.
    pub role: Vec<String>,
    /// Distance from the hosts in a layered topology: hosts 0, edge switches 1, and so on.
    pub layer: Vec<u16>,
}

/// A traffic class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkClass {
    /// Name of the class.
    pub name: String,
    /// Whether no frame of the class may be dropped.
    pub lossless: bool,
}

/// The flows of a run, one entry per flow in each list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkFlows {
    /// Index of the workload.
    pub workload: Runs<u32>,
    /// Port numbers along the path; `None` if the flow has several paths. Empty if there are too many flows.
    pub path: Vec<Option<Vec<u32>>>,
    /// When the flow is stopped, in picoseconds; `None` if it is not. Earlier versions wrote none.
    #[serde(default)]
    pub stop_ps: Runs<Option<u64>>,
    /// Mean max-min fair share in bits per second, among the flows active with it.
    pub fair_share: Runs<Option<f64>>,
    /// The link that limits the fair share.
    pub bottleneck: Runs<Option<String>>,
}

/// Buffers and flow control, by kind of node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkBuffers {
    /// Index of each node's kind: in `switches` for a switch, in `adapters` for a host.
    pub kind_of: Vec<u32>,
    /// Kinds of switches.
    pub switches: Vec<BufferKind>,
    /// Kinds of adapters.
    pub adapters: Vec<BufferKind>,
}

/// The input buffers of a kind of switch or adapter. Sizes are in bytes, or in frames if `frames` is true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferKind {
    /// `none`, `pause`, `pfc` or `credits`.
    pub flow_control: String,
    /// Whether sizes count frames.
    pub frames: bool,
    /// Size of a buffer shared by all ports and classes; `None` if each port has its own.
    pub shared: Option<u64>,
    /// Capacity for each class; `None` if it is unlimited.
    pub capacity: Vec<Option<u64>>,
    /// XOFF threshold for each class; `None` if it has none.
    pub xoff: Vec<Option<u64>>,
}

/// A link that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkFault {
    /// Port numbers at both ends.
    pub ports: Option<Vec<u32>>,
    /// Time of the failure, in picoseconds.
    pub down_ps: u64,
    /// Time of the restoration, in picoseconds; `None` if the link stays down.
    pub up_ps: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_flows_are_written_as_in_a_tree_of_values() {
        let mut network = Network { warm_up_ps: 7, workloads: vec!["\"flows\":{".into()], ..Network::default() };
        assert_eq!(network.unhashed(), unhashed(&network));
        network.flows = NetworkFlows {
            workload: [0, 0, 1].into_iter().collect(),
            path: vec![None, Some(vec![3, 4]), None],
            stop_ps: [None, Some(u64::MAX), None].into_iter().collect(),
            fair_share: [Some(1e10 / 3.0), None, Some(f64::NAN)].into_iter().collect(),
            bottleneck: [Some("a \"b\" -> c".to_owned()), None, None].into_iter().collect(),
        };
        assert_eq!(network.unhashed(), unhashed(&network));
    }
}
