//! Axes: units, tick positions and tick labels.

use results::Quantity;

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Label, without the unit.
    pub label: String,
    /// Quantity of the values.
    pub quantity: Quantity,
    /// Displayed range; derived from the data if absent.
    pub range: Option<(f64, f64)>,
    /// Whether the axis is logarithmic; values up to zero are then not drawn.
    pub logarithmic: bool,
}

impl Axis {
    /// Creates an axis whose range is derived from the data.
    #[must_use]
    pub fn new(label: &str, quantity: Quantity) -> Axis {
        Axis { label: label.to_owned(), quantity, range: None, logarithmic: false }
    }

    /// Creates an axis from `low` to `high`.
    #[must_use]
    pub fn within(label: &str, quantity: Quantity, low: f64, high: f64) -> Axis {
        Axis { range: Some((low, high)), ..Axis::new(label, quantity) }
    }

    /// Creates a logarithmic axis whose range is derived from the data.
    #[must_use]
    pub fn logarithmic(label: &str, quantity: Quantity) -> Axis {
        Axis { logarithmic: true, ..Axis::new(label, quantity) }
    }

    /// Returns the position of a value along the axis: the value, or its decimal logarithm. Ranges, ticks and spans are
    /// positions.
    pub(super) fn position(&self, value: f64) -> f64 {
        if self.logarithmic { value.log10() } else { value }
    }

    /// Returns the label with the unit for values up to `most`.
    pub(super) fn title(&self, most: f64) -> String {
        if self.logarithmic {
            return self.label.clone();
        }
        let (unit, _) = self.quantity.unit(most);
        match (self.label.is_empty(), unit.is_empty()) {
            (_, true) => self.label.clone(),
            (true, false) => unit,
            (false, false) => format!("{} ({unit})", self.label),
        }
    }

    /// Returns about `wanted` ticks in a range, each with its value and label.
    pub(super) fn ticks(&self, low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
        if self.logarithmic {
            return self.powers(low, high, wanted);
        }
        let (_, factor) = self.quantity.unit(high.abs().max(low.abs()));
        let step = nice_step((high - low) / factor, wanted);
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let first = (low / factor / step - 1e-9).ceil();
        let last = (high / factor / step + 1e-9).floor();
        let count = (last - first).clamp(0.0, 100.0) as usize;
        (0..=count)
            .map(|tick| (first + tick as f64) * step)
            .map(|value| (value * factor, format!("{:.decimals$}", value + 0.0)))
            .collect()
    }

    /// Returns ticks at powers of ten, and at 2 and 5 times these where there is room, each with its unit.
    fn powers(&self, low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
        let leading: &[f64] = if high - low > wanted as f64 / 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = (low - 1e-9).floor() as i32..=(high + 1e-9).floor() as i32;
        let values = powers.flat_map(|power| leading.iter().map(move |leading| leading * 10f64.powi(power)));
        let shown = values.filter(|value| (low - 1e-9..=high + 1e-9).contains(&value.log10()));
        let label = |value: f64| {
            let (unit, factor) = self.quantity.unit(value);
            let number = (value / factor * 1e3).round() / 1e3;
            if unit.is_empty() { number.to_string() } else { format!("{number} {unit}") }
        };
        shown.map(|value| (value.log10(), label(value))).collect()
    }

    /// Returns the displayed range for data between `low` and `high`: from zero up to a round number.
    pub(super) fn span(&self, low: f64, high: f64, wanted: usize) -> (f64, f64) {
        if let Some((from, to)) = self.range
            && to > from
        {
            return (from, to);
        }
        if self.logarithmic {
            // From 1, 2 or 5 times a power of ten to another.
            let round = [0.0, 2f64.log10(), 5f64.log10(), 1.0];
            let below = |at: f64| round.into_iter().map(|part| at.floor() + part).rfind(|&edge| edge <= at + 1e-9);
            let above = |at: f64| round.into_iter().map(|part| at.floor() + part).find(|&edge| edge >= at - 1e-9);
            let (low, high) = (below(low).unwrap_or(low), above(high).unwrap_or(high));
            return (low, high.max(low + 0.3));
        }
        let (low, high) = (low.min(0.0), high.max(0.0));
        if high <= low {
            return (0.0, self.quantity.unit(0.0).1.max(f64::MIN_POSITIVE));
        }
        let (_, factor) = self.quantity.unit(high.max(-low));
        let step = nice_step((high - low) / factor, wanted) * factor;
        ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
    }
}

/// Returns 1, 2 or 5 times a power of ten, such that about `wanted` steps cover `extent`.
fn nice_step(extent: f64, wanted: usize) -> f64 {
    let rough = extent / wanted.max(1) as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let leading = [1.0, 2.0, 5.0].into_iter().find(|step| rough <= step * power * 1.0001);
    leading.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_the_values() {
        let unit = |quantity: Quantity, most: f64| quantity.unit(most).0;
        assert_eq!(unit(Quantity::Rate, 10e9), "Gb/s");
        assert_eq!(unit(Quantity::Rate, 450e6), "Mb/s");
        assert_eq!(unit(Quantity::Size, 150e3), "KB");
        assert_eq!(unit(Quantity::Time, 0.0045), "ms");
        assert_eq!(unit(Quantity::Time, 20e-6), "µs");
        assert_eq!(unit(Quantity::Time, 0.0), "ps");
        assert_eq!(Axis::new("queue", Quantity::Size).title(2e5), "queue (KB)");
        assert_eq!(Axis::new("utilisation", Quantity::Fraction).title(1.0), "utilisation (%)");
        assert_eq!(Axis::new("frames", Quantity::Plain(String::new())).title(1.0), "frames");
    }

    #[test]
    fn ticks_are_round_numbers_of_the_unit() {
        let texts = |axis: &Axis, low, high| -> Vec<String> {
            axis.ticks(low, high, 5).into_iter().map(|(_, text)| text).collect()
        };
        let rate = Axis::new("", Quantity::Rate);
        assert_eq!(texts(&rate, 0.0, 10e9), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&rate, 0.0, 1.2e9), ["0.0", "0.5", "1.0"]);
        assert_eq!(texts(&Axis::new("", Quantity::Fraction), 0.0, 1.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(&Axis::new("", Quantity::Time), 0.0, 4e-3), ["0", "1", "2", "3", "4"]);
        assert_eq!(texts(&rate, 0.0, 0.0).len(), 1);
    }

    #[test]
    fn a_logarithmic_axis_has_ticks_with_units_at_round_numbers() {
        let axis = Axis::logarithmic("size", Quantity::Size);
        let texts = |low: f64, high: f64, wanted: usize| -> Vec<String> {
            axis.ticks(low.log10(), high.log10(), wanted).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(900.0, 2e6, 5), ["1 KB", "10 KB", "100 KB", "1 MB"]);
        assert_eq!(texts(1e3, 2e4, 8), ["1 KB", "2 KB", "5 KB", "10 KB", "20 KB"]);
        let (low, high) = axis.span(0.99f64.log10(), 5.3f64.log10(), 5);
        assert!((10f64.powf(low) - 0.5).abs() < 1e-9 && (10f64.powf(high) - 10.0).abs() < 1e-9);
        assert_eq!(axis.title(1e6), "size");
    }

    #[test]
    fn ranges_end_at_a_tick_and_begin_at_zero() {
        let rate = Axis::new("", Quantity::Rate);
        assert_eq!(rate.span(3e9, 9.4e9, 5), (0.0, 10e9));
        assert_eq!(rate.span(0.0, 10e9, 5), (0.0, 10e9));
        assert_eq!(rate.span(-1.0, 1.0, 5), (-1.0, 1.0));
        let (low, high) = rate.span(0.0, 0.0, 5);
        assert!(low < high);
        assert_eq!(Axis::within("", Quantity::Time, 1.0, 3.0).span(0.0, 9.0, 5), (1.0, 3.0));
    }
}
