//! Two agents over a line that loses, delays and reorders.

use crate::kit::{Line, pfc, seconds, storage, table};
use control::{Agent, Settings};
use proptest::prelude::*;
use units::{Span, Stream};

fn any_settings() -> impl Strategy<Value = Settings> {
    let recommendation =
        prop_oneof![Just(None), Just(Some(storage())), Just(Some(table([0; 8], [100, 0, 0, 0, 0, 0, 0, 0])))];
    (any::<bool>(), any::<u8>(), any::<bool>(), recommendation, any::<u8>()).prop_map(
        |(pfc_willing, priorities, ets_willing, recommendation, congestion)| {
            let mut settings = Settings { congestion, ..pfc(pfc_willing, priorities) };
            (settings.ets.willing, settings.ets.recommendation) = (ets_willing, recommendation);
            settings
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What a bad line does to frames does not matter for the end, once it lets through what is said again.
    #[test]
    fn loss_and_delay_do_not_matter_in_the_end(
        a in any_settings(), b in any_settings(), seed: u64, loss in 0u32..90, delay_ms in 0u64..20_000,
    ) {
        let mut chance = Stream::new(seed, 0, "line");
        let mut bad = Line::new(a, b);
        bad.run(seconds(600), |_| {
            let lost = chance.below(100) < u64::from(loss);
            (!lost).then(|| Span::from_millis(chance.below(delay_ms + 1)))
        });
        bad.run(seconds(700), |_| Some(Span::from_micros(3)));
        let mut good = Line::new(a, b);
        good.run_well(seconds(10));
        for end in 0..2 {
            prop_assert_eq!(bad.ends[end].operating(), good.ends[end].operating());
            let (bad, good): (Vec<_>, Vec<_>) = (bad.ends[end].mismatches().collect(), good.ends[end].mismatches().collect());
            prop_assert_eq!(bad, good);
        }
    }

    /// The two ends pause the same priorities, or both say that they do not.
    #[test]
    fn ends_agree_or_know_it(a in any_settings(), b in any_settings()) {
        let mut line = Line::new(a, b);
        line.run_well(seconds(40));
        let differs = |end: &Agent| end.mismatches().any(|mismatch| mismatch.name() == "pfc-differs");
        let same = line.pfc()[0] == line.pfc()[1];
        prop_assert_eq!(line.ends.each_ref().map(differs), [!same; 2]);
        prop_assert!(same || !a.pfc.willing && !b.pfc.willing);
    }

    /// Nothing is said twice for nothing: quick ones after the neighbour, a few for changes, then one each interval.
    #[test]
    fn a_settled_line_is_quiet(a in any_settings(), b in any_settings()) {
        let mut line = Line::new(a, b);
        line.run_well(seconds(60));
        let before = line.ends.each_ref().map(|end| end.counters().sent);
        prop_assert!(before.iter().all(|&sent| sent <= 10), "{:?}", before);
        line.run_well(seconds(60 + 300));
        let after = line.ends.each_ref().map(|end| end.counters().sent);
        prop_assert_eq!([after[0] - before[0], after[1] - before[1]], [10, 10]);
    }
}
