//! An analysis of stability for people.

use super::super::console;
use scenario::fluid::{FluidPlan, Kind, Model, Origin};
use study::stability::{Analysis, BcnAnalysis, LoopAnalysis, Map, StabilityVerdict};
use theory::stability::switched::Cycle;
use theory::stability::{Condition, GainMargin, Margins, Roots, Theorem3};

/// A number for people: four digits that matter.
fn short(value: f64) -> String {
    if value.is_infinite() && value > 0.0 {
        return "unlimited".into();
    }
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let before = if value.abs() >= 1.0 { value.abs().log10().floor() as i32 + 1 } else { 0 };
    let zeros = if value.abs() < 1.0 && value != 0.0 { (-value.abs().log10()).floor() as i32 } else { 0 };
    let digits = (4 - before + zeros).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false if value > 0.0 => units::grouped(value.round() as u64),
        false => text,
    }
}

fn time(seconds: f64) -> String {
    if seconds.is_infinite() { "never".into() } else { console::seconds(seconds) }
}

fn limit(delay: f64) -> String {
    if delay.is_infinite() { "unlimited".into() } else { console::seconds(delay) }
}

fn gain(margin: GainMargin) -> String {
    match margin {
        GainMargin::Factor(factor) => short(factor),
        GainMargin::Unlimited => "unlimited".into(),
        GainMargin::None => "none".into(),
    }
}

fn verdict(stable: bool) -> &'static str {
    if stable { "stable" } else { "unstable" }
}

/// The dominant root of a loop.
fn root(roots: &Roots) -> String {
    let root = roots.dominant().map(|mode| format!("{:.2} +- {:.2}j", mode.root.re, mode.root.im));
    match (roots.complete, root) {
        (true, root) => root.unwrap_or_default(),
        (false, None) => "not found".into(),
        (false, Some(root)) => format!("{root} (not proven)"),
    }
}

/// A size that is not negative, in whole bytes.
fn bytes(value: f64) -> String {
    format!("{} B", units::grouped(value.round() as u64))
}

fn in_unit(name: &str, value: f64) -> String {
    match Kind::of(name) {
        Kind::Time => console::seconds(value),
        Kind::Rate => console::rate(value),
        Kind::Size => bytes(value),
        Kind::Number if value < 0.1 && value > 0.0 => format!("{} (1/{})", short(value), short(1.0 / value)),
        Kind::Number => short(value),
    }
}

pub(super) fn as_text(fluid: &FluidPlan, analysis: &Analysis, map: Option<&Map>) -> String {
    let model = &fluid.model;
    let value = |name: &str| in_unit(name, model.get(name).unwrap_or(f64::NAN));
    let aim = match model {
        Model::Bcn(_) | Model::Qcn(_) => format!("set point {}", value("set_point")),
        Model::Dcqcn(_) => format!("marks from {} to {}", value("kmin"), value("kmax")),
        Model::Timely(_) => format!("round trips from {} to {}", value("t_low"), value("t_high")),
    };
    let mut text = format!(
        "{}: {} sources on {}, loop delay {}, {aim}\n",
        model.name(),
        model.get("sources").unwrap_or(f64::NAN),
        value("capacity"),
        value("delay"),
    );
    text.push_str(&equilibrium(fluid, analysis));
    text.push_str("\nparameters:\n");
    let origin =
        |origin: &Origin| vec![origin.name.to_owned(), in_unit(origin.name, origin.value), origin.from.clone()];
    let rows: Vec<Vec<String>> = fluid.origins.iter().map(origin).collect();
    text.push_str(&console::table(&["parameter", "value", "source"], &rows));
    for left in &fluid.left_out {
        text.push_str(&format!("not modelled: {left}\n"));
    }
    if matches!(model, Model::Bcn(_)) {
        text.push_str("\ntheorem 1: all rates that fill the link are equilibria; the analysis uses equal rates\n");
    }
    if analysis.continuum.is_some() {
        text.push_str("\nno loop: there is no fixed point to linearise at\n");
        text.push_str(&headline(analysis));
        return text;
    }
    let lag = if analysis.bcn.is_some() { ", without the lag of sampling" } else { "" };
    text.push_str(&format!("\neach loop alone, exact, with its delay{lag}:\n"));
    let head = [
        "loop",
        "pole",
        "crossover",
        "phase margin",
        "gain margin",
        "critical delay",
        "root",
        "settling time",
        "oscillation",
        "verdict",
    ];
    let row = |of: &LoopAnalysis| {
        let mode = of.roots.dominant();
        let pole = of.pole.map_or_else(
            || of.open_poles.iter().map(|pole| short(pole.re)).collect::<Vec<_>>().join(", "),
            |pole| format!("{pole:.1} rad/s"),
        );
        vec![
            of.name.to_owned(),
            pole,
            of.margins.crossover.map_or_else(|| "none".into(), |crossover| format!("{crossover:.1} rad/s")),
            format!("{:.3} deg", of.margins.phase.to_degrees()),
            gain(of.margins.gain),
            limit(of.margins.critical_delay),
            root(&of.roots),
            mode.map_or_else(String::new, |mode| time(mode.settling)),
            mode.map_or_else(String::new, |mode| format!("{:.1} Hz", mode.frequency)),
            verdict(of.margins.stable).to_owned(),
        ]
    };
    text.push_str(&console::table(&head, &analysis.loops.iter().map(row).collect::<Vec<_>>()));
    if let Some(bcn) = &analysis.bcn {
        text.push_str(&bcn_text(bcn, analysis));
    }
    text.push_str(&headline(analysis));
    if let Some(map) = map {
        let points = map.points * map.points;
        let part = map.stable_part() * 100.0;
        text.push_str(&format!(
            "map of {} and {}: {} points, {part:.1} % stable by the exact loops alone\n",
            map.x.name,
            map.y.name,
            units::grouped(points as u64)
        ));
    }
    text
}

/// Where the model rests, and whether its sources are then equal.
fn equilibrium(fluid: &FluidPlan, analysis: &Analysis) -> String {
    let mut text = match analysis.continuum {
        Some(longest) => format!(
            "no unique fixed point: any rates that fill the link, with any queue from {} to {}\n",
            bytes(analysis.queue),
            bytes(longest)
        ),
        None => {
            format!("equilibrium: queue {}, {} for each source\n", bytes(analysis.queue), console::rate(analysis.rate))
        }
    };
    if let (Some(marking), Some(pmax)) = (analysis.marking, fluid.model.get("pmax")) {
        text.push_str(&format!("marking probability: {} (pmax {})\n", short(marking), short(pmax)));
        if marking > pmax {
            text.push_str("    above pmax: packets hold the queue at kmax, where the probability jumps to 1\n");
        }
    }
    if let Some(shares) = &analysis.shares {
        let percent = |part: f64| format!("{:.0} %", 100.0 * part);
        text.push_str(&format!(
            "shares: halves of the sources that start at {} and {} of the fair share have {} and {} after {}{}\n",
            percent(shares.start[0]),
            percent(shares.start[1]),
            percent(shares.end[0]),
            percent(shares.end[1]),
            console::seconds(shares.after),
            if shares.are_equal() { "" } else { ": they stay unequal" }
        ));
    }
    text
}

/// The verdict of all criteria together, and the criteria that differ.
fn headline(analysis: &Analysis) -> String {
    if analysis.continuum.is_some() {
        let decisive = analysis.decisive().name;
        return format!("\nverdict: {}: without {decisive}, queue and rates oscillate\n", analysis.verdict().word());
    }
    let criteria = analysis.criteria();
    let who = |stable: bool| -> String {
        let names: Vec<&str> = criteria.iter().filter(|of| of.stable == stable).map(|of| of.name.as_str()).collect();
        names.join(", ")
    };
    let (settling, frequency) = analysis.prediction();
    let oscillation = format!("oscillation frequency {frequency:.1} Hz");
    let decisive = format!("the most complete criterion ({})", analysis.decisive().name);
    let mut text = format!("\nverdict: {}", analysis.verdict().word());
    text.push_str(&match analysis.verdict() {
        StabilityVerdict::Stable => {
            format!(" by every criterion; predicted: settling time {} (to 2 %), {oscillation}\n", time(settling))
        }
        StabilityVerdict::Unstable => format!(" by {decisive}; predicted: does not settle, {oscillation}\n"),
        StabilityVerdict::InDoubt => {
            format!(": stable by {decisive}, but not by every criterion; predicted: {oscillation}\n")
        }
    });
    let (unstable, all) = (criteria.iter().filter(|of| !of.stable).count(), criteria.len());
    if unstable > 0 {
        text.push_str(&format!("    unstable by {unstable} of {all} criteria: {}\n", who(false)));
    }
    if unstable > 0 && unstable < all {
        text.push_str(&format!("    stable by {} of {all}: {}\n", all - unstable, who(true)));
    }
    text
}

fn bcn_text(bcn: &BcnAnalysis, analysis: &Analysis) -> String {
    let mut text = String::new();
    let mut theorem = |title: String, of: &Theorem3| {
        let row = |condition: &Condition| {
            let word = if condition.holds { "holds" } else { "fails" };
            vec![
                condition.name.into(),
                condition.formula.into(),
                short(condition.left),
                short(condition.right),
                word.into(),
            ]
        };
        text.push_str(&format!("\n{title}: {}\n", if of.holds() { "holds" } else { "does not hold" }));
        let rows: Vec<Vec<String>> = of.conditions.iter().map(row).collect();
        text.push_str(&console::table(&["", "condition", "left", "right", ""], &rows));
    };
    let [a, _] = bcn.at_stated.a;
    theorem(format!("theorem 3 at a = {}, b = {:.4}", short(a), bcn.at_stated.b[0]), &bcn.at_stated);
    let (own, b) = (bcn.at_own.a, bcn.at_own.b);
    let title = format!(
        "theorem 3 at each pole's own a = {} and {}, b = {:.4} and {:.4}",
        short(own[0]),
        short(own[1]),
        b[0],
        b[1]
    );
    theorem(title, &bcn.at_own);
    match &bcn.at_common {
        Some(common) => {
            let failing: Vec<&str> = common.conditions.iter().filter(|c| !c.holds).map(|c| c.name).collect();
            let word = if failing.is_empty() { "all hold".into() } else { format!("{} fails", failing.join(", ")) };
            text.push_str(&format!("with one a for both, at most {}: {word}\n", short(common.a[0])));
        }
        None => text.push_str("no a of at least 1 is small enough for both poles\n"),
    }
    text.push_str(&format!(
        "the theorem neglects the delay of the inner pole: on its boundary at a = {} the exact phase margin is {:.3} \
         deg\n",
        short(a),
        bcn.edge_phase.to_degrees()
    ));
    text.push_str("the paper states the theorem as sufficient, not as necessary; the verdict below does not use it\n");
    if bcn.at_own.holds() != analysis.loops_are_stable() {
        text.push_str(&format!(
            "at each pole's own a the theorem and the exact loops disagree: alone, without the lag of sampling, the loops \
             are {}\n",
            if analysis.loops_are_stable() { "stable" } else { "not all stable" }
        ));
    }
    text.push_str("\ntheorem 2, the loops in turn:\n");
    let row = |name: &str, cycle: &Cycle, critical: Option<f64>| {
        let left = format!("{:.1} %", cycle.contraction * 100.0);
        vec![
            name.to_owned(),
            left,
            time(cycle.settling()),
            format!("{:.1} Hz", cycle.frequency),
            critical.map_or_else(String::new, limit),
            verdict(cycle.is_stable()).into(),
        ]
    };
    let sampled = &bcn.sampled;
    let mut rows = vec![row("the theorem, without delay", &bcn.undelayed, None)];
    rows.extend(bcn.estimate.as_ref().map(|cycle| row("estimated from the dominant roots", cycle, None)));
    rows.extend(bcn.measured.as_ref().map(|cycle| row("measured on the delayed loops", cycle, bcn.in_turn)));
    let lagging = sampled.measured.as_ref();
    rows.extend(lagging.map(|cycle| row("measured with the lag of sampling", cycle, sampled.in_turn)));
    let head = ["", "amplitude after a cycle", "settling time", "oscillation", "critical delay", "verdict"];
    text.push_str(&console::table(&head, &rows));
    if lagging.is_none() {
        text.push_str("with the lag of sampling the loops in turn have no cycle to measure\n");
    }
    if bcn.measured.is_none() {
        text.push_str("without the lag of sampling the delayed loops in turn have no cycle to measure\n");
    }
    if let Some(cycle) = bcn.measured.as_ref().filter(|cycle| cycle.is_stable() != analysis.loops_are_stable()) {
        let (alone, together) =
            if cycle.is_stable() { ("not all stable", "settle") } else { ("all stable", "do not settle") };
        let lagging = match lagging.map(Cycle::is_stable) {
            Some(true) => "with it they settle in turn",
            Some(false) => "with it they do not settle in turn",
            None => "with it they have no cycle",
        };
        text.push_str(&format!(
            "without the lag of sampling the loops are {alone} alone, but {together} in turn; {lagging}\n"
        ));
    }
    text.push_str(&format!(
        "\neach loop alone with the lag of sampling (queue growth estimated from samples {} apart on average):\n",
        time(sampled.gap)
    ));
    let row = |((of, margins), roots): ((&LoopAnalysis, &Margins), &Roots)| {
        let mode = roots.dominant();
        vec![
            of.name.to_owned(),
            format!("{:.3} deg", margins.phase.to_degrees()),
            limit(margins.critical_delay),
            root(roots),
            mode.map_or_else(String::new, |mode| time(mode.settling)),
            mode.map_or_else(String::new, |mode| format!("{:.1} Hz", mode.frequency)),
            verdict(margins.stable).to_owned(),
        ]
    };
    let each = analysis.loops.iter().zip(&sampled.margins).zip(&sampled.roots);
    let head = ["loop", "phase margin", "critical delay", "root", "settling time", "oscillation", "verdict"];
    text.push_str(&console::table(&head, &each.map(row).collect::<Vec<_>>()));
    if !bcn.claims.is_empty() {
        text.push_str("\nstated values:\n");
    }
    for claim in &bcn.claims {
        let (stated, follows) = (short(claim.stated), short(claim.follows));
        let word = if claim.agrees { "agrees" } else { "does not follow" };
        text.push_str(&format!("{}: stated {stated}, derived {follows}: {word}\n", claim.what));
        let ways: Vec<String> =
            claim.would_follow.iter().map(|(name, value)| format!("{name} = {}", in_unit(name, *value))).collect();
        if !ways.is_empty() {
            text.push_str(&format!("    {stated} would follow from {}\n", ways.join(", or ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::stability::analyse;
    use theory::fluid::Bcn;

    #[test]
    fn the_headline_does_not_overlook_a_row() {
        let said = |delay: f64| {
            let fluid = FluidPlan::new(Model::Bcn(Bcn { delay, ..Bcn::of_the_paper() }));
            let text = as_text(&fluid, &analyse(&fluid).expect("an analysis"), None);
            let (rows, headline) = text.split_once("\nverdict: ").expect("a headline");
            (rows.contains("unstable"), headline.to_owned())
        };
        for delay in [200e-6, 205e-6, 220e-6, 250e-6] {
            let (unstable, headline) = said(delay);
            assert_eq!(headline.starts_with("stable by every criterion"), !unstable, "{delay}: {headline}");
            assert_eq!(headline.contains("settling time"), !unstable, "{delay}: {headline}");
        }
        let (_, headline) = said(220e-6);
        let by = "the most complete criterion (the loops in turn with the lag of sampling)";
        assert!(headline.starts_with(&format!("unstable by {by}; predicted: does not settle")), "{headline}");
        let which = "unstable by 2 of 8 criteria: the loop \"increase\" alone with the lag of sampling";
        assert!(headline.contains(which), "{headline}");
        let (_, headline) = said(205e-6);
        assert!(headline.starts_with(&format!("in doubt: stable by {by}, but not by every criterion")), "{headline}");
    }

    #[test]
    fn each_line_names_what_it_judges() {
        let said = |of: Bcn| {
            let fluid = FluidPlan::new(Model::Bcn(of));
            as_text(&fluid, &analyse(&fluid).expect("an analysis"), None)
        };
        for of in [Bcn { delay: 229e-6, ..Bcn::of_the_paper() }, Bcn { sources: 5.0, ..Bcn::of_the_paper() }] {
            let text = said(of);
            let line = "without the lag of sampling the loops are not all stable alone, but settle in turn; with it they do \
                        not settle in turn\n";
            assert!(text.contains(line), "{text}");
        }
        // Without a cycle the headline's numbers are those of the decrease loop with the lag, and that row is there.
        let of = Bcn {
            delay: 48e-6,
            sources: 2.0,
            increase_gain: 0.5,
            weight: 4.0,
            probability: 0.002,
            ..Bcn::of_the_paper()
        };
        let text = said(of);
        let (rows, headline) = text.split_once("\nverdict: ").expect("a headline");
        let (_, alone) = rows.split_once("each loop alone with the lag of sampling (").expect("a table");
        let row = alone.lines().find(|line| line.starts_with("decrease ")).expect("a row");
        for number in ["209.80 ms", "809.6 Hz"] {
            assert!(headline.contains(number) && row.contains(number), "{text}");
        }
    }

    #[test]
    fn a_gain_margin_that_does_not_exist_is_none() {
        // Beyond the lead of 240 us no gain is small enough.
        let fluid = FluidPlan::new(Model::Bcn(Bcn { delay: 300e-6, ..Bcn::of_the_paper() }));
        let text = as_text(&fluid, &analyse(&fluid).expect("an analysis"), None);
        let row = text.lines().find(|line| line.starts_with("increase ")).expect("a row");
        assert_eq!(row.split_whitespace().nth(7), Some("none"), "{row}");
        assert_eq!([GainMargin::Unlimited, GainMargin::Factor(3.342)].map(gain), ["unlimited", "3.342"]);
    }

    #[test]
    fn four_digits_matter() {
        let texts: Vec<String> =
            [0.0, 5.0, 0.015_625, 666.666_67, 1734.61, 19.2, 1.6e7, 24.992, -0.5, 99_999.6, f64::INFINITY]
                .into_iter()
                .map(short)
                .collect();
        assert_eq!(
            texts,
            ["0", "5", "0.01562", "666.7", "1735", "19.2", "1.600e7", "24.99", "-0.5", "100,000", "unlimited"]
        );
    }
}
