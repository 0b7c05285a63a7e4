//! Workloads of requests and responses.

use super::traffic::{Made, Work};
use crate::plan::RequestPlan;
use crate::resolve::Gathered;
use fabric::graph::HostId;
use fabric::workload::{FlowSpec, Requests};
use std::collections::BTreeSet;

impl Work<'_> {
    pub(super) fn requests(&self, gathered: &mut Gathered<'_>, template: &FlowSpec) -> Option<Made> {
        let entry = self.entry;
        let (clients, servers) = (self.hosts(gathered, "from"), self.hosts(gathered, "to"));
        let (clients, servers) = (clients?, servers?);
        let count = |key: &str| entry.count(key).map(|count| count as u32);
        let requests = Requests {
            outstanding: count("outstanding")?,
            requests: count("requests")?,
            fan_out: count("fan_out")?,
            request: entry.size("request_size")?,
            response: self.flow_size()?.0,
            think: entry.time("think")?,
            random_think: entry.text("think_times")? == "exponential",
            server_time: entry.time("server_time")?,
        };
        let servers: BTreeSet<HostId> = servers.into_iter().collect();
        let others = |client: &HostId| servers.len() - usize::from(servers.contains(client));
        let fewest = clients.iter().map(others).min().unwrap_or(0);
        if fewest < requests.fan_out as usize {
            let (key, help) = if entry.given("fan_out") && fewest > 0 {
                ("fan_out", "name more servers, or reduce `fan_out`")
            } else {
                ("to", "name other hosts as servers")
            };
            let message = format!(
                "a request goes to {} servers other than its client, but there are only {fewest}",
                requests.fan_out
            );
            gathered.refuse(entry.place_of(key), message, help);
            return None;
        }
        self.fits(gathered, requests.count(clients.len()))?;
        let servers: Vec<HostId> = servers.into_iter().collect();
        let (flows, dependencies) = requests.flows(&clients, &servers, template, self.seed);
        let plan = RequestPlan {
            workload: 0,
            first_flow: self.made as u32,
            requests: (flows.len() as u64 / requests.flows_per_request()) as u32,
            fan_out: requests.fan_out,
        };
        Some(Made { flows, dependencies, requests: Some(plan), ..Made::default() })
    }
}
