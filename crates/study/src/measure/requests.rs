//! Requests and their responses: how long clients wait, and how many requests they complete.

use super::measures::Measures;
use super::percentiles::Percentiles;
use fabric::FlowSummaries;
use fabric::record::schema::{self, Table};
use fabric::record::{Cell, Row};
use scenario::{Plan, RequestPlan};
use units::{Span, Time};

/// One request of a workload of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTime {
    /// Index in the plan's requests.
    pub workload: u32,
    /// Index of its first flow.
    pub first_flow: u32,
    /// When its first byte was ready at the client; `None` if the client has not come to it.
    pub start: Option<Time>,
    /// When the last byte of its last response arrived; `None` if some have not.
    pub end: Option<Time>,
}

impl RequestTime {
    /// Returns how long it took.
    #[must_use]
    pub fn time(&self) -> Option<Span> {
        Some(self.end?.saturating_since(self.start?))
    }
}

/// See [`schema::REQUESTS`].
pub(crate) struct RequestRow<'a> {
    plan: &'a Plan,
    /// Number among the requests of its workload.
    number: u32,
    request: &'a RequestTime,
}

impl<'a> RequestRow<'a> {
    pub(crate) fn all(plan: &'a Plan, requests: &'a [RequestTime]) -> Vec<RequestRow<'a>> {
        let mut next = vec![0; plan.requests.len()];
        let row = |request: &'a RequestTime| {
            let number = next.get_mut(request.workload as usize).map_or(0, |next| std::mem::replace(next, *next + 1));
            RequestRow { plan, number, request }
        };
        requests.iter().map(row).collect()
    }
}

impl Row for RequestRow<'_> {
    const TABLE: &'static Table = &schema::REQUESTS;
    fn cells(&self, put: &mut impl FnMut(Cell<'_>)) {
        let RequestRow { plan, number, request } = self;
        let of = &plan.requests[request.workload as usize];
        let client = plan.spec.flows.get(request.first_flow as usize).map(|flow| flow.source);
        let node = client.and_then(|host| plan.spec.graph.hosts().get(host.0 as usize).copied());
        let client = node.and_then(|node| plan.spec.graph.nodes.get(node.0 as usize));
        put(Cell::count(request.workload));
        put(Cell::count(*number));
        put(Cell::Text(plan.workload_names.get(of.workload as usize).map_or("", String::as_str)));
        put(Cell::Text(client.map_or("", |node| node.name.as_str())));
        put(Cell::count(of.fan_out));
        put(Cell::count(request.first_flow));
        put(Cell::maybe(request.start, Cell::at));
        put(Cell::maybe(request.end, Cell::at));
        put(Cell::maybe(request.time(), Cell::span));
    }
}

/// Summary of a workload of requests and responses.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSummary {
    /// Name of the workload.
    pub name: String,
    /// Number of requests.
    pub requests: usize,
    /// Number of those that were answered.
    pub answered: usize,
    /// Answered requests per second, from the start of the first one to the end of the last answer.
    pub per_second: Option<f64>,
    /// Times of the answered requests in seconds.
    pub time: Option<Percentiles>,
}

impl Measures {
    /// Returns one summary per workload of requests and responses.
    #[must_use]
    pub fn request_summaries(&self, plan: &Plan) -> Vec<RequestSummary> {
        let summary = |(number, of): (u32, &RequestPlan)| {
            let requests = || self.requests.iter().filter(|request| request.workload == number);
            let times: Vec<f64> = requests().filter_map(RequestTime::time).map(Span::as_secs_f64).collect();
            let answered = times.len();
            let first = requests().filter_map(|request| request.start).min();
            let last = requests().filter_map(|request| request.end).max();
            let span = last.zip(first).map(|(last, first)| last.saturating_since(first).as_secs_f64());
            RequestSummary {
                name: plan.workload_names.get(of.workload as usize).cloned().unwrap_or_default(),
                requests: requests().count(),
                answered,
                per_second: span.filter(|&span| span > 0.0).map(|span| answered as f64 / span),
                time: Percentiles::of(times),
            }
        };
        (0..).zip(&plan.requests).map(summary).collect()
    }
}

/// Returns all requests of a run.
pub(crate) fn requests(plan: &Plan, flows: &FlowSummaries) -> Vec<RequestTime> {
    let mut found = Vec::new();
    for (workload, of) in (0..).zip(&plan.requests) {
        for request in 0..of.requests {
            let (sent, answers) = of.flows(request);
            let first_flow = sent.start as u32;
            let (Some(sent), Some(answers)) = (flows.range(sent), flows.range(answers)) else { continue };
            let start = sent.filter_map(|flow| flow.started).min();
            let whole = answers.clone().all(|flow| flow.completed.is_some());
            let end = answers.filter_map(|flow| flow.completed).max().filter(|_| whole);
            found.push(RequestTime { workload, first_flow, start, end });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Execution, Options, execute};
    use scenario::{Limits, NoFiles, Plan, load_str};
    use std::sync::atomic::AtomicBool;

    fn run(hosts: u32, rest: &str) -> (Plan, Execution) {
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = {hosts}\nlink = {{ rate = \"10Gb/s\", \
             latency = \"600ns\" }}\n[[switches]]\nflow_control = \"pfc\"\nbuffers = {{ capacity = \"200KB\" \
             }}\n[[workloads]]\nname = \"rpc\"\nkind = \"request-response\"\n{rest}"
        );
        let plan = load_str("test", &text, &[], &NoFiles, Limits::default())
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let interrupt = AtomicBool::new(false);
        let options = Options { threads: 2, time_up: None, interrupt: &interrupt, record: None, capture: None };
        let execution = execute(&plan, &options, |_| {}).unwrap();
        (plan, execution)
    }

    #[test]
    fn a_request_takes_both_ways_and_the_time_of_the_server() {
        let (plan, run) = run(
            2,
            "from = \"h0\"\nto = \"h1\"\nrequests = 5\nrequest_size = \"64B\"\nflow_size = \"10KB\"\nframe = \
             \"1000B\"\nserver_time = \"2us\"\nthink = \"7us\"\nthink_times = \"constant\"\n[run]\nduration = \
             \"1ms\"\n[[expectations]]\nmetric = \"request-time\"\nof = \"rpc\"\nstatistic = \"p99\"\nvalue = \"1us\"",
        );
        // A frame of 84 B on two links, and 10 frames of 1020 B, one of them on two links; four latencies.
        let time = (2.0 * 84.0 + 11.0 * 1020.0) * 0.8e-9 + 4.0 * 0.6e-6 + 2e-6;
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-9;
        let [summary] = &run.measures.request_summaries(&plan)[..] else { panic!("one workload") };
        let times = summary.time.unwrap();
        assert!(near(times.mean, time) && near(times.most, time), "{times:?}, {time}");
        assert_eq!((summary.requests, summary.answered), (5, 5));
        assert!(near(summary.per_second.unwrap(), 5.0 / (5.0 * time + 4.0 * 7e-6)));
        assert!(near(run.measures.values[0].unwrap(), time));
        assert!(near(run.measures.requests[0].start.unwrap().as_secs_f64(), 7e-6));
    }

    #[test]
    fn the_law_of_response_times_holds_where_many_clients_share_a_server() {
        // Sixteen clients keep the link of one server busy: each has one request at the server, under way, or in mind.
        let (plan, run) = run(
            17,
            "from = [\"h1\", \"h2\", \"h3\", \"h4\", \"h5\", \"h6\", \"h7\", \"h8\", \"h9\", \"h10\", \"h11\", \"h12\", \
             \"h13\", \"h14\", \"h15\", \"h16\"]\nto = \"h0\"\nrequests = 400\nflow_size = \"10KB\"\nframe = \
             \"1000B\"\nthink = \"100us\"\n[run]\nduration = \"80ms\"",
        );
        let [summary] = &run.measures.request_summaries(&plan)[..] else { panic!("one workload") };
        assert_eq!((summary.requests, summary.answered), (6400, 6400));
        // Over the time in which all clients are at work: throughput = clients / (response time + think time).
        let end = plan.requests[0].requests as usize;
        let last_of =
            |client: usize| run.measures.requests[client * 400..(client + 1) * 400].last().unwrap().end.unwrap();
        let until = (0..16).map(last_of).min().unwrap();
        let done = run.measures.requests[..end].iter().filter(|request| request.end.unwrap() <= until);
        let (count, sum) =
            done.fold((0.0, 0.0), |(count, sum), request| (count + 1.0, sum + request.time().unwrap().as_secs_f64()));
        let rate = count / until.as_secs_f64();
        let law = 16.0 / (sum / count + 100e-6);
        assert!((rate / law - 1.0).abs() < 0.03, "{rate} {law}");
        // The server's link carries 10 frames of 1020 B per request, so at most this many per second.
        assert!(rate < 1e10 / 81_600.0 && rate > 0.7e10 / 81_600.0, "{rate}");
    }

    #[test]
    fn each_request_has_a_row() {
        let (plan, run) = run(
            3,
            "from = [\"h0\", \"h1\"]\nto = \"h2\"\nrequests = 3\nflow_size = \"1KB\"\n[run]\nduration = \"8us\"",
        );
        let rows = super::RequestRow::all(&plan, &run.measures.requests);
        let batch = results::Batch::of(&rows);
        assert_eq!(batch.integers("request"), [0, 1, 2, 3, 4, 5]);
        assert_eq!(batch.texts("client"), ["h0", "h0", "h0", "h1", "h1", "h1"]);
        assert!(batch.texts("workload").iter().all(|name| name == "rpc"));
        let times: Vec<Option<i64>> = run
            .measures
            .requests
            .iter()
            .map(|request| request.time().map(|time| i64::try_from(time.as_picos()).unwrap()))
            .collect();
        assert!(times.contains(&None) && times.iter().any(Option::is_some), "{times:?}");
        let place = batch.table.columns.iter().position(|column| column.name == "duration").unwrap();
        for (row, time) in times.into_iter().enumerate() {
            let present = batch.present[place].as_ref().is_none_or(|present| present[row]);
            assert_eq!(present.then(|| batch.integers("duration")[row]), time);
        }
    }
}
