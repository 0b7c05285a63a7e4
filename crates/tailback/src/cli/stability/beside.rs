//! `stability --packets`: packets and fluid side by side, in words.

use super::super::console;
use study::stability::{Analysis, Behaviour, BesideFluid};

/// What both do, in words.
pub(super) fn text(both: &BesideFluid, analysis: &Analysis) -> String {
    let (from, until) = both.window;
    let mut text = format!(
        "\npackets and fluid from {} to {}, sampled every {}:\n",
        console::seconds(from),
        console::seconds(until),
        console::seconds(both.packets.spacing)
    );
    if both.packets.outcome != "finished" {
        text.push_str(&format!("the packet simulation ended early: {}\n", both.packets.outcome));
    }
    let each = |of: &[Option<Behaviour>; 2], show: &dyn Fn(&Behaviour) -> String| {
        of.each_ref().map(|seen| seen.as_ref().map_or_else(|| "not measured".into(), show))
    };
    let bytes = |value: f64| format!("{} B", units::grouped(value.round() as u64));
    let mut rows = Vec::new();
    let mut row = |what: &str, [packets, fluid]: [String; 2]| rows.push(vec![what.to_owned(), packets, fluid]);
    row("mean queue", each(&both.queue, &|seen| bytes(seen.mean)));
    row("deviation of the queue", each(&both.queue, &|seen| bytes(seen.deviation)));
    let rest = if analysis.shares.is_some() { "equilibrium" } else { "set point" };
    row(&format!("deviation around the {rest}"), each(&both.queue, &|seen| bytes(seen.around)));
    let swing = |seen: &Behaviour| seen.peak.map_or_else(|| "none".into(), |peak| format!("{:.1} Hz", peak.frequency));
    row("oscillation of the queue", each(&both.queue, &swing));
    row(
        "amplitude of the oscillation",
        each(&both.queue, &|seen| seen.peak.map_or_else(String::new, |peak| bytes(peak.amplitude))),
    );
    row(
        "its share of the variance",
        each(&both.queue, &|seen| seen.peak.map_or_else(String::new, |peak| format!("{:.0} %", peak.share * 100.0))),
    );
    row("mean total rate", each(&both.rate, &|seen| console::rate(seen.mean)));
    row("deviation of the total rate", each(&both.rate, &|seen| console::rate(seen.deviation)));
    text.push_str(&console::table(&["", "packets", "fluid"], &rows));
    let measured = match both.oscillation() {
        Some(peak) => format!("{:.1} Hz (resolution {:.1} Hz)", peak.frequency, peak.resolution),
        None => "no distinct oscillation".into(),
    };
    text.push_str(&format!("oscillation: predicted {:.1} Hz", analysis.prediction().1));
    let bcn = analysis.bcn.as_ref().filter(|bcn| bcn.sampled.measured.is_some());
    if let Some(cycle) = bcn.and_then(|bcn| bcn.measured) {
        text.push_str(&format!(" ({:.1} Hz without the lag of sampling)", cycle.frequency));
    }
    text.push_str(&format!(", measured on packets {measured}\n"));
    if let Some((cycle, critical)) = &both.unequal {
        text.push_str(&format!(
            "the sources are unequal, so decreases weigh {:.2} times as much; predicted with that weight: {:.1} Hz{}\n",
            both.inequality,
            cycle.frequency,
            critical.map_or_else(String::new, |delay| format!(", critical delay {}", console::seconds(delay)))
        ));
    }
    text
}
