//! Measured numbers for readers: rounded, with a unit that suits their size.
//!
//! The exact forms that parse to the same value are those of `Display`.

/// Formats bits per second: `2.50 Gb/s`.
#[must_use]
pub fn rate(bits: f64) -> String {
    scaled(bits, "b/s", 1000.0)
}

/// Formats seconds: `12.30 ms`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".into(),
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Formats a part of a rate in bits per second with the unit of the whole: `8.23 of 9.87 Gb/s`.
#[must_use]
pub fn part_of_rate(part: f64, whole: f64) -> String {
    let step = (whole.abs().max(1.0).log10() / 3.0).floor().min(4.0);
    format!("{:.2} of {}", part / 1000f64.powf(step), rate(whole))
}

/// Formats a number with a prefix and a unit; each prefix is `base` times the one before it.
#[must_use]
pub fn scaled(value: f64, unit: &str, base: f64) -> String {
    let mut value = value;
    for prefix in ["", "k", "M", "G", "T"] {
        if value.abs() < base || prefix == "T" {
            let digits = if value.fract() == 0.0 && value.abs() < base { 0 } else { 2 };
            return format!("{value:.digits$} {prefix}{unit}");
        }
        value /= base;
    }
    format!("{value} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(rate(2.5e9), "2.50 Gb/s");
        assert_eq!(rate(950.0), "950 b/s");
        assert_eq!(part_of_rate(8.23e9, 9.868e9), "8.23 of 9.87 Gb/s");
        assert_eq!(part_of_rate(1e6, 9.868e9), "0.00 of 9.87 Gb/s");
        assert_eq!(part_of_rate(0.5, 950.0), "0.50 of 950 b/s");
        assert_eq!(seconds(0.0123), "12.30 ms");
        assert_eq!(scaled(1500.0, "B", 1000.0), "1.50 kB");
    }
}
