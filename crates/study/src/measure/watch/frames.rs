//! How long frames took: from source to destination, or in the queues of ports. The recorder keeps sketches; what is asked of
//! them is answered at the end of a run.

use fabric::record::{Ending, Sketch};
use scenario::{Expectation, Metric, Statistic};
use std::collections::BTreeSet;

/// What an expectation asks of the frames of some flows or ports.
#[derive(Debug)]
pub(crate) struct Frames {
    /// Numbers of flows or of ports.
    of: BTreeSet<u32>,
    /// Those whose value divides that of the others.
    over: Option<BTreeSet<u32>>,
    at_ports: bool,
    statistic: Statistic,
    around: Option<f64>,
    value: Option<f64>,
}

impl Frames {
    pub(super) fn new(expectation: &Expectation) -> Frames {
        let subjects = &expectation.subjects;
        let at_ports = expectation.metric == Metric::Wait;
        let all = |numbers: &Vec<u32>| numbers.iter().copied().collect();
        Frames {
            of: all(if at_ports { &subjects.ports } else { &subjects.flows }),
            over: subjects.over.as_ref().map(all),
            at_ports,
            statistic: expectation.statistic,
            around: expectation.around,
            value: None,
        }
    }

    /// The run has ended.
    pub(super) fn conclude(&mut self, ending: &Ending) {
        let sketch = |numbers: &BTreeSet<u32>| {
            let mut sum = Sketch::default();
            match self.at_ports {
                true => {
                    ending.waits.iter().filter(|row| numbers.contains(&row.port)).for_each(|row| sum.add(&row.waits))
                }
                false => {
                    let chosen = ending.flow_delays.iter().filter(|(flow, _)| numbers.contains(flow));
                    chosen.for_each(|(_, delays)| sum.add(delays));
                }
            }
            sum
        };
        let value = |numbers: &BTreeSet<u32>| of(self.statistic, self.around, &sketch(numbers));
        self.value = match &self.over {
            None => value(&self.of),
            Some(over) => {
                value(&self.of).zip(value(over)).map(|(this, other)| this / other).filter(|it| it.is_finite())
            }
        };
    }

    /// Returns the value, in seconds unless it is a ratio; `None` without frames.
    pub(super) fn close(self) -> Option<f64> {
        self.value
    }
}

/// A statistic of times in picoseconds, in seconds. Deviations take the least number of each bin.
fn of(statistic: Statistic, around: Option<f64>, sketch: &Sketch) -> Option<f64> {
    const SECOND: f64 = 1e12;
    let seconds = |picos: u64| picos as f64 / SECOND;
    let count = sketch.count();
    if count == 0 {
        return None;
    }
    let mean = sketch.mean() / SECOND;
    match statistic {
        Statistic::Mean => Some(mean),
        Statistic::Sum => Some(mean * count as f64),
        Statistic::Most => Some(seconds(sketch.most())),
        Statistic::Least => sketch.bins().next().map(|(least, _)| seconds(least)),
        Statistic::Quantile(thousandths) => sketch.quantile(thousandths).map(seconds),
        Statistic::Deviation | Statistic::Variation => {
            let square = |(least, times): (u64, u64)| (seconds(least) - mean).powi(2) * times as f64;
            statistic.spread_around(around, mean, sketch.bins().map(square).sum::<f64>() / count as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, execute};
    use scenario::{Limits, NoFiles, load_str};
    use std::sync::atomic::AtomicBool;

    /// Two flows of ten frames each into one link: nine gaps of a frame stand behind the second flow's last frame.
    #[test]
    fn delays_and_waits_of_frames_are_those_of_a_queue_worked_out_by_hand() {
        let statistics = ["mean", "least", "most", "p50", "p99"];
        let asked = |metric: &str, of: &str| {
            let one = |statistic: &&str| {
                format!(
                    "[[expectations]]\nmetric = \"{metric}\"\nof = \"{of}\"\nstatistic = \"{statistic}\"\nvalue = \"1us\"\n"
                )
            };
            statistics.iter().map(one).collect::<String>()
        };
        let text = format!(
            "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = 3\nlink = {{ rate = \"10Gb/s\", latency = \
             \"600ns\" }}\n[[switches]]\nflow_control = \"pfc\"\nbuffers = {{ capacity = \"200KB\" }}\n[[workloads]]\nname = \
             \"w\"\nkind = \"incast\"\nfrom = [\"h1\", \"h2\"]\nto = \"h0\"\nsize = \"10KB\"\nframe = \
             \"1000B\"\n[run]\nduration = \"1ms\"\n{}{}",
            asked("delay", "w"),
            asked("wait", "sw0->h0")
        );
        let plan = load_str("test", &text, &[], &NoFiles, Limits::default())
            .unwrap_or_else(|errors| panic!("{}", errors.render(false)));
        let interrupt = AtomicBool::new(false);
        let options = Options { threads: 2, time_up: None, interrupt: &interrupt, record: None, capture: None };
        let values = execute(&plan, &options, |_| {}).unwrap().measures.values;
        // A frame takes 816 ns on a link. Frame n of both flows arrives at the switch at once; 2n + 1 frames are before
        // the second of them, n of which have left, and n before the first.
        let frame = 816e-9;
        let waits: Vec<f64> = (0..10).flat_map(|n| [f64::from(n), f64::from(n + 1)]).map(|n| n * frame).collect();
        let near = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!(
                found >= expected * (1.0 - 1e-9) && found <= expected * (1.0 + 1.0 / 127.0) + 1e-15,
                "{found} {expected}"
            );
        };
        let mean = waits.iter().sum::<f64>() / 20.0;
        // The tenth and the twentieth of twenty in order.
        for (place, wait) in [(5, mean), (6, 0.0), (7, 10.0 * frame), (8, 5.0 * frame), (9, 10.0 * frame)] {
            near(values[place], wait);
        }
        // In addition two links and the two latencies.
        let base = 2.0 * frame + 1.2e-6;
        for (place, delay) in [(0, mean), (2, 10.0 * frame), (3, 5.0 * frame), (4, 10.0 * frame)] {
            near(values[place], base + delay);
        }
        // The least is that of a bin.
        assert!((values[1].unwrap() / base - 1.0).abs() < 1.0 / 127.0);
    }
}
