//! DCBX of Converged Enhanced Ethernet (version 1.01), the predecessor of IEEE's, for peers without a newer version.
//!
//! Each end advertises its desired, not its operating configuration, with three bits per feature: enabled, willing, and
//! error (the configurations are incompatible). An advertisement has a sequence number, the peer acknowledges it, and
//! nothing is decided until the last one is acknowledged. The rules per feature are those of lldpad:
//!
//! | the peer's | willing here | willing there | operates on |
//! |---|---|---|---|
//! | absent | | | off, with an error |
//! | disabled | | | off |
//! | present | yes | no | the peer's |
//! | present | no | yes | its own |
//! | equal | as there | as here | its own |
//! | different | as there | as here | off, with an error; priority groups may differ |
//!
//! A feature that the peer reports as in error is off.

use crate::resolve::{Chosen, Operating, Origin};
use crate::settings::Settings;
use crate::{Advertisement, Applications};
use wire::Priority;
use wire::lldp::cee::{self, Cee, Control, Feature, PriorityGroups};
use wire::lldp::ieee::{Application, EtsConfiguration, EtsTable, FlowControl, Selection};

/// The organisation that stands for the numbers of IEEE and IANA in CEE's table of applications.
const NUMBERS: [u8; 3] = [0x00, 0x1B, 0x21];

/// The CEE-specific part of a peer's advertisement; its settings are translated to IEEE's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converged {
    /// Sequence number of the advertisement.
    pub sequence: u32,
    /// Sequence number that the peer acknowledges.
    pub acknowledged: u32,
    /// Bits of its priority groups, flow control and applications.
    pub features: [Option<Feature>; 3],
}

/// A feature of CEE's DCBX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvergedFeature {
    /// Priority groups: shares of the link.
    PriorityGroups,
    /// Priority flow control.
    FlowControl,
    /// Application priorities.
    Applications,
}

impl ConvergedFeature {
    const ALL: [ConvergedFeature; 3] =
        [ConvergedFeature::PriorityGroups, ConvergedFeature::FlowControl, ConvergedFeature::Applications];
}

/// The reason that a feature is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// The peer does not advertise it.
    Absent,
    /// The peer has disabled it.
    Disabled,
    /// Both ends are willing, or neither is, and their configurations differ.
    Differs,
    /// The peer reports an error.
    PeerError,
}

/// The decision about a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    from: Origin,
    off: Option<Off>,
}

impl Decision {
    fn error(self) -> bool {
        matches!(self.off, Some(Off::Absent | Off::Differs))
    }

    fn choose<T>(self, ours: T, theirs: Option<T>, nothing: T) -> Chosen<T> {
        match (self.off, self.from, theirs) {
            (Some(_), ..) => Chosen { value: nothing, from: Origin::Local },
            (None, Origin::Peer, Some(value)) => Chosen { value, from: Origin::Peer },
            _ => Chosen { value: ours, from: Origin::Local },
        }
    }
}

fn decide(willing: bool, theirs: Option<Feature>, same: bool) -> Decision {
    let local = |off| Decision { from: Origin::Local, off };
    let Some(theirs) = theirs else { return local(Some(Off::Absent)) };
    if !theirs.enabled {
        return local(Some(Off::Disabled));
    }
    let off = theirs.error.then_some(Off::PeerError);
    match (willing, theirs.willing) {
        (true, false) => Decision { from: Origin::Peer, off },
        (false, true) => local(off),
        _ if same => local(off),
        _ => local(Some(Off::Differs)),
    }
}

/// An agent's advertisement in CEE's DCBX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    sequence: u32,
    acknowledged: u32,
    features: Features,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Features {
    settings: Settings,
    errors: [bool; 3],
}

impl Own {
    pub(crate) fn new(settings: &Settings) -> Own {
        Own { sequence: 1, acknowledged: 0, features: Features { settings: *settings, errors: [false; 3] } }
    }

    /// Resolves the settings with the peer's advertisement. Returns the new operating configuration; `None` for no
    /// change, because the peer has not acknowledged the last advertisement.
    pub(crate) fn settle(&mut self, settings: &Settings, said: Option<&Advertisement>) -> Option<Operating> {
        let Some((said, theirs)) = said.and_then(|said| Some((said, said.converged?))) else {
            self.say(Features { settings: *settings, errors: [false; 3] });
            self.acknowledged = 0;
            return Some(crate::resolve::operating(settings, wire::Address([0; 6]), None));
        };
        self.acknowledged = theirs.sequence;
        if theirs.acknowledged != self.sequence {
            return None;
        }
        let decisions = decisions(settings, said, &theirs);
        self.say(Features { settings: *settings, errors: decisions.map(Decision::error) });
        let [groups, flow_control, applications] = decisions;
        let default = Settings::default();
        // An empty table says nothing.
        let table = said.applications.filter(|table| !table.is_empty());
        let heard = crate::resolve::operating(settings, wire::Address([0; 6]), None);
        Some(Operating {
            pfc: flow_control.choose(settings.pfc.priorities, said.flow_control.map(|it| it.priorities), 0),
            ets: groups.choose(settings.ets.table, said.configuration.map(|it| it.table), default.ets.table),
            apps: applications.choose(settings.applications.table, table, Applications::default()),
            cn: heard.cn,
        })
    }

    fn say(&mut self, features: Features) {
        if features != self.features {
            self.features = features;
            self.sequence = self.sequence.wrapping_add(1);
        }
    }

    /// Passes the advertisement to `write`.
    pub(crate) fn emit<T>(&self, write: impl FnOnce(Cee<'_>) -> T) -> T {
        let Features { settings, errors: [groups, flow_control, applications] } = &self.features;
        let feature = |willing: bool, error: bool| Feature { version: 0, highest: 0, enabled: true, willing, error };
        let mut entries = [[0; 6]; cee::Applications::MOST];
        let uses = settings.applications.table.iter().filter_map(encode);
        let count = entries.iter_mut().zip(uses).map(|(place, entry)| *place = entry).count();
        let table = cee::Applications::new(entries.get(..count).unwrap_or_default());
        write(Cee {
            control: Control { version: 0, highest: 0, sequence: self.sequence, acknowledged: self.acknowledged },
            groups: Some((feature(settings.ets.willing, *groups), groups_of(settings))),
            flow_control: Some((
                feature(settings.pfc.willing, *flow_control),
                cee::FlowControl { priorities: settings.pfc.priorities, classes: settings.pfc.capability },
            )),
            applications: table.map(|table| (feature(settings.applications.willing, *applications), table)),
        })
    }
}

fn decisions(settings: &Settings, said: &Advertisement, theirs: &Converged) -> [Decision; 3] {
    let [groups, flow_control, applications] = theirs.features;
    let paused = said.flow_control.is_some_and(|it| it.priorities == settings.pfc.priorities);
    let table = said.applications.unwrap_or_default();
    let nobody = applications.is_none() && settings.applications.table.is_empty();
    [
        decide(settings.ets.willing, groups, true),
        decide(settings.pfc.willing, flow_control, paused),
        // Where neither end speaks of applications nothing is missing.
        if nobody {
            Decision { from: Origin::Local, off: None }
        } else {
            decide(settings.applications.willing, applications, table == settings.applications.table)
        },
    ]
}

/// The features that are off, once both have heard each other.
pub(crate) fn off(settings: &Settings, said: &Advertisement) -> impl Iterator<Item = (ConvergedFeature, Off)> {
    let decisions = said.converged.map(|theirs| decisions(settings, said, &theirs));
    let all = decisions.into_iter().flat_map(|decisions| ConvergedFeature::ALL.into_iter().zip(decisions));
    all.filter_map(|(feature, decision)| Some((feature, decision.off?)))
}

/// Translates CEE's TLV to IEEE's: an end that is not willing recommends its own configuration.
pub(crate) fn advertisement(cee: &Cee<'_>) -> Advertisement {
    let groups = cee.groups.map(|(feature, groups)| (feature, table_of(&groups), groups.classes));
    Advertisement {
        configuration: groups.map(|(feature, table, most_classes)| EtsConfiguration {
            willing: feature.willing,
            shaper: false,
            most_classes,
            table,
        }),
        recommendation: groups.filter(|(feature, ..)| !feature.willing).map(|(_, table, _)| table),
        flow_control: cee.flow_control.map(|(feature, it)| FlowControl {
            willing: feature.willing,
            bypass: false,
            capability: it.classes,
            priorities: it.priorities,
        }),
        applications: cee
            .applications
            .map(|(_, table)| Applications::new(table.iter().filter_map(decode)).unwrap_or_default()),
        congestion: None,
        converged: Some(Converged {
            sequence: cee.control.sequence,
            acknowledged: cee.control.acknowledged,
            features: [
                cee.groups.map(|(feature, _)| feature),
                cee.flow_control.map(|(feature, _)| feature),
                cee.applications.map(|(feature, _)| feature),
            ],
        }),
    }
}

/// Classes that share are groups; those that are strict are group 15, which goes before all.
fn groups_of(settings: &Settings) -> PriorityGroups {
    let EtsTable { classes, shares, selection } = settings.ets.table;
    let shares_link = |class: &u8| selection[usize::from(*class & 7)] == Selection::Share;
    let shares = std::array::from_fn(|class| if selection[class] == Selection::Share { shares[class] } else { 0 });
    PriorityGroups {
        groups: classes.map(|class| class.filter(shares_link)),
        shares,
        classes: settings.ets.most_classes,
    }
}

fn table_of(groups: &PriorityGroups) -> EtsTable {
    let used = |class: u8| groups.groups.contains(&Some(class)) || groups.shares[usize::from(class)] > 0;
    // Eight priorities: where one is in group 15, a class is free.
    let strict = (0..8).rev().find(|&class| !used(class)).unwrap_or(7);
    EtsTable {
        classes: groups.groups.map(|group| Some(group.map_or(strict, |group| group & 7))),
        shares: groups.shares,
        selection: std::array::from_fn(|class| if used(class as u8) { Selection::Share } else { Selection::Strict }),
    }
}

/// An application as CEE writes it; those of a DSCP it does not know.
fn encode(application: Application) -> Option<[u8; 6]> {
    let selector = match application.selector {
        1 => 0,
        2..=4 => 1,
        _ => return None,
    };
    let priorities = 1 << application.priority.get();
    Some(cee::Application { protocol: application.protocol, selector, organisation: NUMBERS, priorities }.encode())
}

/// Decodes an application; of several priorities, the lowest counts.
fn decode(application: cee::Application) -> Option<Application> {
    let selector = match application.selector {
        0 => 1,
        1 => 4,
        _ => return None,
    };
    let priority = (application.priorities != 0).then(|| application.priorities.trailing_zeros() as u8)?;
    Some(Application { priority: Priority::low_bits(priority), selector, protocol: application.protocol })
}
