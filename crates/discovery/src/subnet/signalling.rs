//! Widths and speeds of InfiniBand links, as ibnetdiscover prints them: `4xHDR`.

use std::fmt;
use units::Rate;

/// Widths of links, in lanes (InfiniBand Architecture, volume 1, PortInfo.LinkWidthActive).
const WIDTHS: [u8; 5] = [4, 1, 2, 8, 12];

/// Names of speeds, bits of data per second of a lane, and the speed as opensm-subnet.lst writes it. The data rate is what is
/// left of the signalling rate after 8b/10b or 64b/66b coding (InfiniBand Architecture, volume 2).
const SPEEDS: [(&str, f64, &str); 9] = [
    ("SDR", 2.0e9, "2.5"),
    ("DDR", 4.0e9, "5"),
    ("QDR", 8.0e9, "10"),
    ("FDR10", 10.0e9, "FDR10"),
    ("FDR", 14.0625e9 * 64.0 / 66.0, "14"),
    ("EDR", 25.0e9, "25"),
    ("HDR", 50.0e9, "50"),
    ("NDR", 100.0e9, "100"),
    ("XDR", 200.0e9, "200"),
];

/// Width and speed of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signalling {
    /// Lanes.
    pub width: u8,
    /// Position in [`SPEEDS`].
    speed: usize,
}

impl Signalling {
    /// Reads a width and speed such as `4xEDR`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Signalling> {
        let (width, speed) = word.split_once('x')?;
        let width = width.parse().ok().filter(|width| WIDTHS.contains(width))?;
        let speed = SPEEDS.iter().position(|(name, ..)| *name == speed)?;
        Some(Signalling { width, speed })
    }

    /// Returns the rate of data.
    #[must_use]
    pub fn rate(self) -> Rate {
        Rate::from_bits_per_sec((f64::from(self.width) * SPEEDS[self.speed].1) as u64)
    }

    /// Returns the width and speed whose rate is nearest to that of a link. Of equal ones, four lanes come first, as
    /// most links have them, and then the slowest lanes.
    #[must_use]
    pub fn nearest(rate: Rate) -> Signalling {
        let mut best = Signalling { width: WIDTHS[0], speed: 0 };
        for width in WIDTHS {
            for speed in 0..SPEEDS.len() {
                let other = Signalling { width, speed };
                if other.distance(rate) < best.distance(rate) {
                    best = other;
                }
            }
        }
        best
    }

    fn distance(self, rate: Rate) -> u64 {
        self.rate().as_bits_per_sec().abs_diff(rate.as_bits_per_sec())
    }

    /// Returns the speed as opensm-subnet.lst writes it.
    #[must_use]
    pub fn speed_of_lane(self) -> &'static str {
        SPEEDS[self.speed].2
    }
}

impl fmt::Display for Signalling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, SPEEDS[self.speed].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_data() {
        let rate = |word: &str| Signalling::parse(word).map(|it| it.rate().as_bits_per_sec());
        assert_eq!(rate("4xQDR"), Some(32_000_000_000));
        assert_eq!(rate("4xFDR"), Some(54_545_454_545));
        assert_eq!(rate("2xHDR"), Some(100_000_000_000));
        assert_eq!(rate("4xXDR"), Some(800_000_000_000));
        let nonsense = ["4x???", "EDR", "0xEDR", "", "4xGDR", "3xEDR", "16xNDR"];
        assert!(nonsense.iter().all(|word| Signalling::parse(word).is_none()));
    }

    #[test]
    fn a_rate_has_a_width_and_a_speed() {
        let of = |rate: Rate| Signalling::nearest(rate).to_string();
        let gigabits = |rate| of(Rate::from_gigabits(rate));
        assert_eq!([8, 16, 32, 40, 100].map(gigabits), ["4xSDR", "4xDDR", "4xQDR", "4xFDR10", "4xEDR"]);
        assert_eq!([200, 400, 800, 1200].map(gigabits), ["4xHDR", "4xNDR", "4xXDR", "12xNDR"]);
        assert_eq!(of(Rate::from_bits_per_sec(54_545_454_545)), "4xFDR");
        // No link has 10 Gb/s of four lanes, nor 96 Gb/s.
        assert_eq!([10, 96].map(gigabits), ["1xFDR10", "12xQDR"]);
        for width in WIDTHS {
            for (name, ..) in SPEEDS {
                let word = format!("{width}x{name}");
                let known = Signalling::parse(&word).map(|it| it.to_string());
                assert_eq!(known, Some(word));
            }
        }
    }
}
