//! One sentence for a flow: how much it lost, to what, and who is to blame.

use super::{CauseAnswer, FlowAnswer, LITTLE, span};
use units::text;

/// Flows that a sentence names.
const MOST_NAMES: usize = 6;
/// Part of the loss to roots that it does not use from which on a flow is a victim and nothing else.
const MOSTLY: f64 = 0.5;

impl FlowAnswer {
    /// One sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let name = &self.name;
        let bottleneck = self.bottleneck.as_ref().map(|link| format!(" (bottleneck: {link})")).unwrap_or_default();
        if self.is_unharmed() {
            return match self.rates {
                Some((fair, _)) => {
                    format!("{name}: not slowed; it gets its fair share of {}{bottleneck}", text::rate(fair))
                }
                None => {
                    let (time, lost) = (span(self.picoseconds), span(self.lost_picoseconds));
                    format!("{name}: not slowed; of {time} it lost {lost}")
                }
            };
        }
        let role = match self.is_victim() {
            true if self.victim_share >= MOSTLY => "victim: ",
            true => "partly a victim: ",
            false => "",
        };
        let lost = match (self.rates, self.lost_rate()) {
            (Some((fair, _)), Some(lost)) if self.loses_share() => {
                format!("{} lost", text::part_of_rate(lost, fair))
            }
            (Some((fair, _)), _) => format!("gets its fair share of {}", text::rate(fair)),
            (None, _) if self.complete => {
                format!("took {}, {} of it waiting", span(self.picoseconds), span(self.lost_picoseconds))
            }
            (None, _) => format!("not complete after {}; waited {}", span(self.picoseconds), self.lost_part()),
        };
        let place = self.lost_at.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        let lost = match self.lost_frames {
            (0, _) => lost,
            (frames, made) => format!("{lost}; {frames} of {made} frames dropped or lost and not retransmitted{place}"),
        };
        if self.waits_little() {
            let place =
                if self.lost_frames.0 > 0 { "" } else { ", but not at its source: its frames wait in the network" };
            return format!("{name}: {lost}{place}");
        }
        let losses = self.causes.iter().filter_map(|cause| Some((cause, cause.share_of_loss?)));
        let mut parts: Vec<String> = Vec::new();
        for (cause, share) in losses {
            if parts.is_empty() || share >= LITTLE {
                parts.push(format!("{:.0} % {}", share * 100.0, cause.words(name)));
            }
        }
        // A flow that gets its share has lost nothing.
        let of = match self.rates {
            Some(_) if !self.loses_share() => "; its waits:",
            _ if self.lost_frames.0 > 0 => "; its loss:",
            _ => ",",
        };
        format!("{name}: {role}{lost}{of} {}", parts.join("; "))
    }

    fn lost_part(&self) -> String {
        format!("{:.0} % of its time", self.lost_picoseconds as f64 / self.picoseconds.max(1) as f64 * 100.0)
    }
}

/// Names in a list, at most so many; the flow that is spoken of is `itself`.
fn list<'a>(names: impl Iterator<Item = &'a String>, own: &str, most: usize) -> String {
    let names: Vec<&str> = names.map(|name| if name == own { "itself" } else { name.as_str() }).collect();
    let shown = names.iter().take(most).copied().collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl CauseAnswer {
    /// The flows to blame, at most so many by name.
    #[must_use]
    pub fn names(&self, most: usize) -> String {
        list(self.by.iter().map(|(name, _)| name), "", most)
    }

    /// The flows to blame after a few words, nothing if there are none.
    fn by(&self, own: &str, words: &str) -> String {
        match self.by.is_empty() {
            true => String::new(),
            false => format!("{words} {}", list(self.by.iter().map(|(name, _)| name), own, MOST_NAMES)),
        }
    }

    /// Which of the flows to blame came here because a link failed.
    fn detour(&self, own: &str) -> String {
        let Some((_, from)) = self.rerouted.first() else { return String::new() };
        let flows = self.rerouted.iter().filter(|(_, link)| link == from).map(|(name, _)| name);
        format!(" (rerouted from {from}: {})", list(flows, own, MOST_NAMES))
    }

    /// The cause as the end of a sentence about a flow.
    fn words(&self, own: &str) -> String {
        let link = self.link.as_deref().unwrap_or("?");
        let foreign = if self.on_path == Some(false) { ", which it does not use" } else { "" };
        let through = match &self.via {
            Some(via) if via != link => format!(", through {via}"),
            _ => String::new(),
        };
        let receiver = link.rsplit(" -> ").next().unwrap_or(link);
        let inside = if self.cause == "head-of-line" { " (head-of-line blocking in a switch)" } else { "" };
        let way = format!("{foreign}{through}{inside}");
        let culprits = self.by(own, if self.by.len() == 1 { ", culprit" } else { ", culprits" });
        // Nobody is guilty of a failure.
        let behind = self.by(own, ", behind frames of");
        let told = |how: &str| self.link.as_deref().map(|link| format!(", {how} {link}")).unwrap_or_default();
        let full = self.by(own, ", whose queue held frames of");
        match (self.cause.as_str(), self.root.as_deref()) {
            (_, Some("output")) => format!("to {link}{way}{culprits}{}", self.detour(own)),
            (_, Some("receiver")) => format!("to the slow receiver {receiver}{way}{behind}"),
            (_, Some("link")) => format!("to the failed link {link}{way}{behind}"),
            // All of its flows wait for each other.
            (_, Some("cycle")) => {
                let foreign = if foreign.is_empty() { "" } else { ", of which it uses none" };
                format!("to a cycle of blocked links through {link}{foreign}{inside}")
            }
            (_, Some("credits")) => format!("to {link}{foreign}, whose credits do not cover its round trip"),
            (_, Some(_)) => format!("to {link}{foreign}, which was paused and had not resumed"),
            ("contention", _) => format!("to contention at {link}{}{}", self.by(own, " by"), self.detour(own)),
            ("link-down", _) => format!("to the failed link {link}"),
            ("receiver", _) => format!("to its own slow receiver {receiver}"),
            ("crossbar", _) => format!("inside the switch before {link}"),
            ("signals", _) => format!("to pause and credit frames at {link}"),
            ("rate", _) => format!("to its rate limit{}", told("set by marks, notices or losses at")),
            ("window", _) => format!("to its window{}", told("set by marks or losses at")),
            ("retransmission", _) => "to retransmissions".to_owned(),
            ("recovery", _) => {
                format!("to waiting for acknowledgements and timeouts{}{full}", told("after losses at"))
            }
            ("delivery", _) => format!("to frames that have not arrived{}{full}", told("after losses at")),
            (other, _) => format!("to {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(cause: &str, share: Option<f64>) -> CauseAnswer {
        CauseAnswer {
            cause: cause.into(),
            root: None,
            port: None,
            link: None,
            on_path: None,
            via: None,
            by: Vec::new(),
            rerouted: Vec::new(),
            picoseconds: 1,
            share_of_loss: share,
        }
    }

    /// A cause at a link with a kind of root, on or off the path of the flow, and the flows to blame.
    fn rooted(root: &str, link: &str, on_path: bool, by: &[&str]) -> CauseAnswer {
        CauseAnswer {
            root: Some(root.into()),
            link: Some(link.into()),
            on_path: Some(on_path),
            via: Some("sw0 -> sw1".into()),
            by: by.iter().map(|&name| (name.to_owned(), 1)).collect(),
            ..cause("blocking", Some(0.97))
        }
    }

    fn answer(causes: Vec<CauseAnswer>) -> FlowAnswer {
        FlowAnswer {
            number: 0,
            name: "victim".into(),
            picoseconds: 4_000_000_000,
            lost_picoseconds: 3_300_000_000,
            complete: false,
            rates: Some((9.868e9, 1.64e9)),
            bottleneck: None,
            victim_share: 0.97,
            lost_frames: (0, 100),
            lost_at: None,
            causes,
        }
    }

    #[test]
    fn the_sentence_of_a_victim_names_root_link_and_culprits() {
        let root = rooted("output", "sw1 -> h6", false, &["hot h0->h6", "hot h1->h6"]);
        let mut answer = answer(vec![root, cause("path", None), cause("rate", Some(0.03))]);
        let text = "victim: victim: 8.23 of 9.87 Gb/s lost, 97 % to sw1 -> h6, which it does not use, through sw0 -> sw1, \
                    culprits hot h0->h6, hot h1->h6";
        assert_eq!(answer.sentence(), text);
        answer.victim_share = 0.3;
        assert!(answer.sentence().starts_with("victim: partly a victim: 8.23 of 9.87 Gb/s lost, "));
        answer.victim_share = 0.97;
        answer.rates = None;
        answer.complete = true;
        assert!(
            answer.sentence().starts_with("victim: victim: took 4.00 ms, 3.30 ms of it waiting, 97 % to sw1 -> h6")
        );
        answer.lost_picoseconds = 700;
        assert_eq!(answer.sentence(), "victim: not slowed; of 4.00 ms it lost 0.7 ns");
        answer.rates = Some((9.868e9, 1.64e9));
        let lost = "victim: 8.23 of 9.87 Gb/s lost";
        assert_eq!(answer.sentence(), format!("{lost}, but not at its source: its frames wait in the network"));
        answer.lost_frames.0 = 83;
        assert_eq!(answer.sentence(), format!("{lost}; 83 of 100 frames dropped or lost and not retransmitted"));
        answer.lost_at = Some("at sw1 -> h6, whose queue was full".into());
        assert!(answer.sentence().ends_with(" and not retransmitted, at sw1 -> h6, whose queue was full"));
        answer.rates = Some((9.868e9, 9.86e9));
        answer.lost_frames.0 = 0;
        assert_eq!(answer.sentence(), "victim: not slowed; it gets its fair share of 9.87 Gb/s");
        answer.bottleneck = Some("sw1 -> h5".into());
        assert!(answer.sentence().ends_with(" of 9.87 Gb/s (bottleneck: sw1 -> h5)"));
        assert!(!answer.is_victim());
    }

    /// A flow with a rate that it gets, and frames that a stopped receiver made a switch drop: its waits are no loss.
    #[test]
    fn a_flow_that_gets_its_share_waits_but_loses_nothing() {
        let mut answer = answer(vec![rooted("receiver", "sw1 -> h5", true, &["victim", "other"])]);
        (answer.rates, answer.victim_share, answer.lost_frames) = (Some((334e6, 334e6)), 0.0, (90, 100));
        answer.lost_at = Some("at sw1 -> h5, by a PFC watchdog".into());
        let text = "victim: gets its fair share of 334 Mb/s; 90 of 100 frames dropped or lost and not retransmitted, at \
                    sw1 -> h5, by a PFC watchdog; its waits: 97 % to the slow receiver h5, through sw0 -> sw1, behind frames \
                    of itself, other";
        assert_eq!(answer.sentence(), text);
    }

    #[test]
    fn only_outputs_have_culprits_and_a_flow_is_called_itself() {
        let words = |cause: CauseAnswer| cause.words("own");
        assert_eq!(
            words(rooted("output", "sw1 -> h6", true, &["own"])),
            "to sw1 -> h6, through sw0 -> sw1, culprit itself"
        );
        assert_eq!(
            words(rooted("link", "sw1 -> sw2", false, &["a", "b"])),
            "to the failed link sw1 -> sw2, which it does not use, through sw0 -> sw1, behind frames of a, b"
        );
        assert_eq!(
            words(rooted("cycle", "sw1 -> sw2", false, &["a", "b"])),
            "to a cycle of blocked links through sw1 -> sw2, of which it uses none"
        );
        assert_eq!(words(rooted("cycle", "sw1 -> sw2", true, &[])), "to a cycle of blocked links through sw1 -> sw2");
    }

    #[test]
    fn losses_name_the_queue_and_detours_the_failed_link() {
        let at = |name: &str, by: &[&str]| CauseAnswer { root: None, ..rooted("", "sw1 -> h6", true, by) }.named(name);
        assert_eq!(
            at("recovery", &["b", "own"]).words("own"),
            "to waiting for acknowledgements and timeouts, after losses at sw1 -> h6, whose queue held frames of b, itself"
        );
        let mut contention = at("contention", &["b", "c"]);
        contention.rerouted = vec![("b".into(), "sw1 -> sw3".into()), ("own".into(), "sw1 -> sw3".into())];
        assert_eq!(contention.words("own"), "to contention at sw1 -> h6 by b, c (rerouted from sw1 -> sw3: b, itself)");
    }

    impl CauseAnswer {
        fn named(self, cause: &str) -> CauseAnswer {
            CauseAnswer { cause: cause.to_owned(), ..self }
        }
    }
}
