//! Keys of workloads of kind `request-response`.

use crate::key::{Default, Key, Kind, key};

/// The largest request: 1 PB.
const LARGEST: u64 = 1_000_000_000_000_000;

pub(super) fn keys() -> Vec<Key> {
    let keys = vec![
        key(
            "requests",
            Kind::Count(1, 1 << 31),
            Default::Required,
            "Requests of each loop, one after the other. With more than fit into the run, the clients are busy to its end; \
             requests that were not sent are counted as waiting.",
        ),
        key(
            "outstanding",
            Kind::Count(1, 1 << 20),
            Default::Value("1", "our choice: a client that waits for its answer"),
            "Loops of each client, side by side: the requests that it has in flight or thinks about.",
        ),
        key(
            "fan_out",
            Kind::Count(1, 1 << 20),
            Default::Value("1", "our choice: one server per request"),
            "Servers that a request goes to, drawn at random for each request. The next request follows when all have \
             answered, as in partition and aggregate.",
        ),
        key(
            "request_size",
            Kind::size(1, LARGEST),
            Default::Value("64B", "our choice: a read, whose request fits into the smallest frame"),
            "Bytes of a request to one server.",
        ),
        key(
            "think",
            Kind::time(),
            Default::Value("0s", "our choice: the next request follows at once"),
            "Mean time between the last response and the next request of a loop; also before the first one.",
        ),
        key(
            "think_times",
            Kind::choice(&[("exponential", "exponentially distributed"), ("constant", "always the same")]),
            Default::Value(
                "exponential",
                "our choice: clients are independent, as in models of closed queueing networks",
            ),
            "Distribution of that time.",
        ),
        key(
            "server_time",
            Kind::time(),
            Default::Value("0s", "our choice: the network alone"),
            "Time from the last byte of a request at the server to the start of its response.",
        ),
    ];
    keys.into_iter().map(|key| key.only("kind", &["request-response"])).collect()
}
