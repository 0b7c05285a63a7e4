//! What holds whatever happens, for every protocol of the catalogue that notices reach.

use crate::{LINK, of_source, source};
use congestion::point::Guidance;
use congestion::{Feedback, HALTED, PROTOCOLS, Reaction, ReactionPoint};
use proptest::prelude::*;
use units::{Bytes, Rate, Span, Time};

const NAMES: [&str; 9] = ["qcn-2007", "qcn-p", "qcn-pr", "ecm", "e2cm", "e2cm-p", "e2cm-pr", "fecn-b", "fecn"];

/// Something that happens to a source.
#[derive(Clone, Copy, Debug)]
enum Step {
    Notice { feedback: u8, offset: i32, growth: i32, point: u32, guidance: Option<(u64, u64)> },
    Answer { number: u32, micros_ago: u64 },
    Send(u64),
    Deadline,
    Turn(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let guidance = prop::option::of((1..10_000_u64, 1..10_000_u64));
    let notice = (0..64_u8, -200_000..60_000_i32, -200_000..200_000_i32, 0..3_u32, guidance);
    prop_oneof![
        notice.prop_map(|(feedback, offset, growth, point, guidance)| Step::Notice {
            feedback,
            offset,
            growth,
            point,
            guidance
        }),
        (0..20_u32, 0..400_u64).prop_map(|(number, micros_ago)| Step::Answer { number, micros_ago }),
        (1..200_u64).prop_map(Step::Send),
        Just(Step::Deadline),
        any::<bool>().prop_map(Step::Turn),
    ]
}

fn take(source: &mut Reaction, now: &mut Time, step: Step) {
    *now += Span::from_micros(3);
    match step {
        Step::Notice { feedback, offset, growth, point, guidance } => {
            let rates = |(suggested, most)| Guidance {
                suggested: Rate::from_megabits(suggested),
                most: Rate::from_megabits(most),
            };
            let guidance = guidance.map(rates);
            source.on_feedback(*now, &Feedback::Notice { feedback, offset, growth, point, guidance });
        }
        Step::Answer { number, micros_ago } => {
            let value = now.as_picos().saturating_sub(micros_ago * 1_000_000);
            source.on_feedback(*now, &Feedback::PathProbe { number, value });
        }
        Step::Send(frames) => (0..frames).for_each(|_| {
            *now += Span::from_nanos(1_200);
            source.on_sent(*now, Bytes::new(1500));
        }),
        Step::Deadline => {
            if let Some(deadline) = source.deadline() {
                *now = (*now).max(deadline);
                source.on_deadline(*now);
            }
        }
        Step::Turn(on) => source.on_activity(*now, on),
    }
    source.path_probe(*now);
}

proptest! {
    /// A rate is between the least and that of the link, or it is a stop; a stop ends; and the same things make the
    /// same source.
    #[test]
    fn rates_keep_within_their_bounds(name in prop::sample::select(&NAMES[..]), steps in prop::collection::vec(step(), 1..200)) {
        let values = of_source(name);
        let least = values.rate("min_rate");
        let (mut one, mut same) = (source(name, &values), source(name, &values));
        let (mut now, mut again) = (Time::ZERO, Time::ZERO);
        for step in steps {
            take(&mut one, &mut now, step);
            take(&mut same, &mut again, step);
            prop_assert_eq!((one.allowance(), one.deadline(), one.tag()), (same.allowance(), same.deadline(), same.tag()));
            if let Some(rate) = one.allowance().rate {
                prop_assert!(rate == HALTED || (least..=LINK).contains(&rate), "{name} {step:?}: {rate}");
                prop_assert!(rate != HALTED || one.deadline().is_some());
            }
        }
    }

    /// More negative feedback leaves no more, and without guidance never more than there was.
    #[test]
    fn more_feedback_leaves_less(name in prop::sample::select(&NAMES[..7]), before in 1..64_u8, one in 1..64_u8, other in 1..64_u8) {
        let left = |feedback: u8| {
            let mut source = source(name, &of_source(name));
            let bytes = |feedback: u8| -2_000 * i32::from(feedback);
            for feedback in [before, feedback] {
                let quantised = if name.starts_with("qcn") { feedback } else { 0 };
                let (offset, growth, point, guidance) = (bytes(feedback), 0, 1, None);
                source.on_feedback(Time::ZERO, &Feedback::Notice { feedback: quantised, offset, growth, point, guidance });
            }
            source.allowance().rate.unwrap_or(LINK)
        };
        let (less, more) = (one.min(other), one.max(other));
        prop_assert!(left(more) <= left(less));
    }
}

#[test]
fn every_protocol_of_the_bake_off_is_in_the_catalogue() {
    for name in NAMES {
        let info = PROTOCOLS.iter().find(|info| info.name == name).unwrap();
        assert_eq!(info.presets.iter().map(|preset| preset.name).collect::<Vec<_>>(), ["run-1", "run-2"], "{name}");
        assert!(congestion::POINTS.iter().any(|point| point.name == name), "{name}");
    }
}
