//! Flow sizes measured in data centres, by name.

use units::EmpiricalCdf;

/// A measured distribution of flow sizes.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredSizes {
    /// Name in scenarios.
    pub name: &'static str,
    /// What was measured.
    pub summary: &'static str,
    /// Where the figures are from.
    pub source: &'static str,
    /// Size in bytes and the percentage of flows that are not larger.
    points: &'static [(u32, f64)],
    /// How the percentage grows between two points.
    between: Between,
}

/// How a cumulative distribution grows between two points.
#[derive(Clone, Copy, Debug)]
enum Between {
    /// Linearly with the size.
    Linear,
    /// Linearly with the reciprocal of the size, from the second point on.
    Reciprocal,
}

/// The distributions there are.
pub const MEASURED_SIZES: &[MeasuredSizes] = &[
    MeasuredSizes {
        name: "web-search",
        summary: "web search; mean 1.7 MB, and half of the flows are below 73 kB",
        source: "measured for DCTCP (Alizadeh et al., SIGCOMM 2010), as tabulated by the public HPCC simulator",
        points: &[
            (0, 0.0),
            (10_000, 15.0),
            (20_000, 20.0),
            (30_000, 30.0),
            (50_000, 40.0),
            (80_000, 53.0),
            (200_000, 60.0),
            (1_000_000, 70.0),
            (2_000_000, 80.0),
            (5_000_000, 90.0),
            (10_000_000, 97.0),
            (30_000_000, 100.0),
        ],
        between: Between::Linear,
    },
    MeasuredSizes {
        name: "hadoop",
        summary: "Hadoop cluster; mean 120 kB, and half of the flows are below 700 B",
        source: "measured at Facebook (Roy et al., SIGCOMM 2015), as tabulated by the public HPCC simulator",
        points: &[
            (0, 0.0),
            (100, 1.0),
            (200, 2.0),
            (300, 5.0),
            (350, 15.0),
            (400, 20.0),
            (500, 30.0),
            (600, 40.0),
            (700, 50.0),
            (1_000, 60.0),
            (2_000, 67.0),
            (7_000, 70.0),
            (30_000, 72.0),
            (50_000, 82.0),
            (80_000, 87.0),
            (120_000, 90.0),
            (300_000, 95.0),
            (1_000_000, 97.5),
            (2_000_000, 99.0),
            (10_000_000, 100.0),
        ],
        between: Between::Linear,
    },
    MeasuredSizes {
        name: "storage",
        summary: "distributed storage; mean 41 kB, and half of the flows are below 6.4 kB",
        source: "measured at Alibaba in 2019, as tabulated by the public HPCC simulator",
        points: &[
            (0, 0.0),
            (4_000, 22.93),
            (8_000, 69.21),
            (16_000, 80.61),
            (32_000, 90.47),
            (64_000, 93.53),
            (128_000, 96.77),
            (256_000, 97.53),
            (2_000_000, 100.0),
        ],
        between: Between::Linear,
    },
    MeasuredSizes {
        name: "rpc",
        summary: "remote procedure calls; mean 2.9 kB, and half of the flows are below 260 B",
        source: "measured at Google before 2008, as tabulated by the public HPCC simulator, at powers of two",
        points: &[
            (0, 0.0),
            (3, 6.488_26),
            (32, 9.732_39),
            (64, 15.527_1),
            (128, 35.157_3),
            (256, 49.790_1),
            (512, 78.492_1),
            (1_024, 86.32),
            (2_048, 90.886_2),
            (4_096, 93.495_5),
            (8_192, 96.430_9),
            (16_384, 98.469_4),
            (32_768, 99.040_2),
            (65_536, 99.325_6),
            (131_072, 99.712_9),
            (262_144, 99.845_3),
            (524_288, 99.949_8),
            (15_158_197, 100.0),
        ],
        between: Between::Reciprocal,
    },
];

/// Points that stand for a curve between two given ones.
const STEPS: u32 = 64;

impl MeasuredSizes {
    /// Finds a distribution by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static MeasuredSizes> {
        MEASURED_SIZES.iter().find(|sizes| sizes.name == name)
    }

    /// Returns the distribution.
    #[must_use]
    pub fn distribution(&self) -> EmpiricalCdf {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for pair in self.points.windows(2) {
            let [(from, low), (to, high)] = [pair[0], pair[1]].map(|(size, share)| (f64::from(size), share / 100.0));
            points.push((from, low));
            // No reciprocal of zero; nor is the range up to the smallest message known to be curved.
            if matches!(self.between, Between::Reciprocal) && from > 3.0 {
                points.extend((1..STEPS).map(|step| {
                    let part = f64::from(step) / f64::from(STEPS);
                    (1.0 / (1.0 / from + (1.0 / to - 1.0 / from) * part), low + (high - low) * part)
                }));
            }
        }
        points.extend(self.points.last().map(|&(size, share)| (f64::from(size), share / 100.0)));
        EmpiricalCdf::new(&points).expect("the tables rise to one")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The summaries state means and medians.
    #[test]
    fn distributions_are_as_their_summaries_say() {
        for (name, mean, median) in
            [("web-search", 1.7e6, 73e3), ("hadoop", 120e3, 700.0), ("storage", 41e3, 6.4e3), ("rpc", 2.9e3, 260.0)]
        {
            let distribution = MeasuredSizes::named(name).expect("it is in the list").distribution();
            let about = |value: f64, told: f64| (value / told - 1.0).abs() < 0.05;
            assert!(about(distribution.mean(), mean), "{name}: mean {}", distribution.mean());
            assert!(about(distribution.quantile(0.5), median), "{name}: median {}", distribution.quantile(0.5));
        }
    }
}
