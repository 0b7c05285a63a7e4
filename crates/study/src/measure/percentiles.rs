//! Percentiles of what was measured flow by flow, of all flows and by their size.

use super::measures::Measures;
use scenario::Plan;
use std::ops::Range;
use theory::quantile::{equal_bins, quantile_of_sorted};

/// Mean and percentiles of several values, exact and interpolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Maximum.
    pub most: f64,
}

impl Percentiles {
    /// Of values without NaN; `None` if there are none.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Percentiles> {
        // Values that are equal in this order are the same bits.
        values.sort_unstable_by(f64::total_cmp);
        let most = *values.last()?;
        let at = |part: f64| quantile_of_sorted(&values, part).unwrap_or(most);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(Percentiles { mean, p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999), most })
    }
}

/// Flows of similar size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeBin {
    /// Size of the smallest and of the largest of them in bytes.
    pub sizes: (u64, u64),
    /// Number of completed flows.
    pub flows: usize,
    /// Their slowdowns.
    pub slowdown: Percentiles,
}

/// Bins of flow sizes.
const BINS: usize = 10;

/// Returns the slowdowns of completed flows by size, in at most ten bins with about the same number of flows: the bins of
/// the HPCC paper, between deciles of the sizes. Flows of equal size are in one bin. Empty if all have the same size.
#[must_use]
pub fn slowdown_by_size(plan: &Plan, measures: &Measures) -> Vec<SizeBin> {
    let size = |flow: usize| plan.spec.flows[flow].size.map(units::Bytes::get);
    let complete = || (0..measures.flows.len()).filter_map(|flow| Some((size(flow)?, measures.flows.slowdown(flow)?)));
    // Of one size there are no bins, and no need for a list of millions of flows.
    let first = complete().next().map(|(size, _)| size);
    if complete().all(|(size, _)| Some(size) == first) {
        return Vec::new();
    }
    bins(complete().collect())
}

fn bins(mut flows: Vec<(u64, f64)>) -> Vec<SizeBin> {
    flows.sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    let sizes: Vec<u64> = flows.iter().map(|&(size, _)| size).collect();
    let bin = |range: Range<usize>| {
        let (least, most) = (sizes[range.start], sizes[range.end - 1]);
        let slowdown = Percentiles::of(flows[range.clone()].iter().map(|&(_, slowdown)| slowdown).collect())?;
        Some(SizeBin { sizes: (least, most), flows: range.len(), slowdown })
    };
    let bins: Vec<SizeBin> = equal_bins(&sizes, BINS).into_iter().filter_map(bin).collect();
    if bins.len() > 1 { bins } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_do_not_exceed_the_maximum() {
        let some = Percentiles::of((1..=1000).map(f64::from).collect()).unwrap();
        assert_eq!((some.mean, some.p50, some.most), (500.5, 500.5, 1000.0));
        assert!((some.p99 - 990.01).abs() < 1e-9 && (some.p999 - 999.001).abs() < 1e-9);
        let one = Percentiles::of(vec![3.0]).unwrap();
        assert_eq!([one.mean, one.p50, one.p95, one.p99, one.p999, one.most], [3.0; 6]);
        assert_eq!(Percentiles::of(vec![]), None);
    }

    #[test]
    fn bins_hold_each_flow_once_and_equal_sizes_together() {
        let flows: Vec<(u64, f64)> = (0..95).map(|flow| (1000 * (flow % 7 + 1), flow as f64)).collect();
        let found = bins(flows);
        assert_eq!(found.iter().map(|bin| bin.flows).sum::<usize>(), 95);
        assert!(found.windows(2).all(|pair| pair[0].sizes.1 < pair[1].sizes.0));
        let many: Vec<(u64, f64)> = (0..1000).map(|flow| (flow + 1, 1.0)).collect();
        assert_eq!(bins(many).last().map(|bin| (bin.sizes, bin.flows)), Some(((901, 1000), 100)));
        assert!(bins(vec![(5, 1.0), (5, 2.0)]).is_empty());
    }
}
