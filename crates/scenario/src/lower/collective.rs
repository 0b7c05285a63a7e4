//! Workloads of collective operations.

use super::traffic::{Made, Work};
use crate::plan::CollectivePlan;
use crate::resolve::Gathered;
use fabric::graph::HostId;
use fabric::workload::FlowSpec;
use fabric::workload::collective::{Algorithm, Collective, Operation, Unsound};
use units::{Stream, math};

/// Dependencies that take about as much memory as a flow.
const PAIRS_PER_FLOW: u64 = 20;

impl Work<'_> {
    pub(super) fn collective(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Made> {
        let entry = self.entry;
        let hosts = self.placed(gathered)?;
        let operation = entry.text("operation")?;
        let (operation, _) = Operation::ALL.into_iter().find(|(_, name)| *name == operation)?;
        let algorithm = match entry.text("algorithm") {
            Some(algorithm) => Algorithm::ALL.into_iter().find(|(_, name)| *name == algorithm)?.0,
            None => {
                let usual = operation.algorithms()[0];
                gathered.computed(&entry.path, "algorithm", format!("{:?}", usual.name()));
                usual
            }
        };
        let ranks = match entry.count("ranks") {
            Some(ranks) => ranks as usize,
            None => {
                gathered.computed(&entry.path, "ranks", hosts.len());
                hosts.len()
            }
        };
        if ranks == 0 || !hosts.len().is_multiple_of(ranks) {
            let message = format!("{} hosts cannot be divided into groups of {ranks} ranks", hosts.len());
            gathered.refuse(entry.place_of("ranks"), message, "choose a divisor of the number of hosts");
            return None;
        }
        let mut collective = Collective {
            operation,
            algorithm,
            ranks: ranks as u32,
            size: entry.size("size")?,
            chunk: entry.size("chunk"),
            local_ranks: entry.count("local_ranks").unwrap_or(0) as u32,
            weights: Vec::new(),
            iterations: entry.count("iterations")? as u32,
            compute: entry.time("compute")?,
        };
        collective.weights = self.weights(gathered, &collective)?;
        if let Err(Unsound { about, what, help }) = collective.check() {
            let key = if about == "weights" && !entry.given("weights") { "skew" } else { about };
            gathered.refuse(entry.place_of(key), what, help);
            return None;
        }
        let groups = (hosts.len() / ranks) as u64;
        let (flows, pairs) = (collective.most_flows(), collective.most_pairs());
        self.fits(gathered, groups.saturating_mul(flows.saturating_add(pairs / PAIRS_PER_FLOW)))?;
        let mut made = Made::default();
        for members in hosts.chunks_exact(ranks) {
            let (flows, dependencies) = collective.flows(members, template);
            made.dependencies.append(&dependencies, made.flows.len() as u32);
            made.flows.extend(flows);
        }
        let transfers = made.flows.len() as u64 / groups / u64::from(collective.iterations);
        let (first_flow, workload) = (self.made as u32, 0);
        let plan = CollectivePlan { workload, first_flow, transfers: transfers as u32, hosts, collective };
        made.names = self.transfer_names(&plan, &made.flows);
        made.collective = Some(plan);
        Some(made)
    }

    /// The hosts of all ranks, in the order of the ranks.
    fn placed(&self, gathered: &mut Gathered<'_>) -> Option<Vec<HostId>> {
        let mut hosts = self.hosts(gathered, "hosts")?;
        self.several(gathered, &hosts)?;
        match self.entry.text("placement")?.as_str() {
            "random" => Stream::new(self.seed, 0, "placement").shuffle(&mut hosts),
            "strided" => {
                let stride = self.entry.count("stride")? as usize;
                if stride == 0 || !hosts.len().is_multiple_of(stride) {
                    let message = format!("{} hosts cannot be taken in strides of {stride}", hosts.len());
                    gathered.refuse(self.entry.place_of("stride"), message, "choose a divisor of the number of hosts");
                    return None;
                }
                let all = std::mem::take(&mut hosts);
                hosts = (0..stride).flat_map(|first| all.iter().skip(first).step_by(stride)).copied().collect();
            }
            _ => {}
        }
        Some(hosts)
    }

    /// The shares of the ranks in an all-to-all; empty if they are alike.
    fn weights(&self, gathered: &mut Gathered<'_>, collective: &Collective) -> Option<Vec<f64>> {
        let entry = self.entry;
        match (entry.counts("weights"), entry.number("skew")) {
            (Some(_), Some(_)) => {
                let message = "both `skew` and `weights` are given";
                gathered.refuse(entry.place_of("skew"), message, "keep one of the two");
                None
            }
            (Some(weights), None) => Some(weights.into_iter().map(|(weight, _)| weight as f64).collect()),
            (None, Some(skew)) => {
                // Which ranks are popular is drawn: neighbours are not alike.
                let mut order: Vec<usize> = (0..collective.ranks as usize).collect();
                Stream::new(self.seed, 0, "popularity").shuffle(&mut order);
                let mut weights = vec![0.0; order.len()];
                for (place, rank) in (1..).zip(order) {
                    weights[rank] = math::pow(f64::from(place), -skew);
                }
                Some(weights)
            }
            (None, None) => (!entry.given("weights") && !entry.given("skew")).then(Vec::new),
        }
    }

    /// Names by iteration, and by group where there are several; nothing for too many flows.
    fn transfer_names(&self, plan: &CollectivePlan, flows: &[FlowSpec]) -> Vec<Option<String>> {
        if flows.len() > super::traffic::MOST_NAMED {
            return Vec::new();
        }
        let iterations = plan.collective.iterations;
        let name = |(number, flow): (u32, &FlowSpec)| {
            let round = number / plan.transfers.max(1);
            let (group, iteration) = (round / iterations, round % iterations);
            let pair = super::traffic::flow_name(&self.name, flow, flows.len(), self.subject.hosts);
            let pair = pair.strip_prefix(&format!("{}/", self.name)).unwrap_or(&pair).to_owned();
            Some(match plan.groups() {
                1 => format!("{}/{iteration}/{pair}", self.name),
                _ => format!("{}/{group}/{iteration}/{pair}", self.name),
            })
        };
        (0..).zip(flows).map(name).collect()
    }
}
