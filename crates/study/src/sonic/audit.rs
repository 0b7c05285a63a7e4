//! What an operator wants to know of the configurations of a fabric, each with the numbers it follows from.

use scenario::import::sonic::{Cable, End, Fabric, NUMBERS, Port, Profile, Switch, Threshold};
use std::collections::{BTreeMap, BTreeSet};
use theory::headroom::{HeadroomSpec, Medium, headroom, mlx5};
use units::{Bytes, Rate, Span};

/// A weighted class with a smaller part of a link than this may starve.
const LEAST_SHARE: f64 = 0.05;
/// Propagation in fibre, in picoseconds per metre.
const PICOS_PER_METRE: u64 = 5_000;

/// Something about some ports of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// The switch.
    pub switch: String,
    /// Its ports; empty if it concerns the whole switch.
    pub ports: Vec<String>,
    /// Traffic classes; empty if it concerns all.
    pub classes: Vec<u8>,
    /// What it is.
    pub what: What,
}

/// What is found, with the numbers it follows from.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Headroom of a profile, and what a cable needs.
    Headroom {
        /// The profile.
        profile: String,
        /// Headroom of each class.
        have: Bytes,
        /// What arrives after XOFF if no device takes time to respond.
        exact: Bytes,
        /// What may arrive with the delays that the standards allow.
        hardware: Bytes,
        /// What the Linux driver mlx5 reserves.
        driver: Bytes,
        /// Rate of the ports.
        rate: Rate,
        /// Length of their cables.
        metres: u64,
    },
    /// PFC is on, but the priority group of the class has no headroom.
    NoHeadroom {
        /// The priority group.
        group: u8,
        /// Its profile.
        profile: String,
    },
    /// PFC is on, but the configuration has no profile of the priority group: the switch makes one by itself, or there is
    /// none.
    NoProfile {
        /// Whether other ports of the switch have a profile for the class, and this one has no row.
        is_exception: bool,
        /// What arrives after XOFF if no device takes time to respond.
        exact: Bytes,
        /// What may arrive with the delays that the standards allow.
        hardware: Bytes,
        /// Rate of the ports.
        rate: Rate,
        /// Length of their cables.
        metres: u64,
    },
    /// A priority group has headroom, but PFC is off for its class.
    UnusedHeadroom {
        /// Profile of the group.
        profile: String,
    },
    /// A class is lossless here, but not at the other end of the cable.
    OneEnd {
        /// The other end.
        far: String,
    },
    /// A pause from here stops another queue than that of the class at the other end.
    WrongQueue {
        /// The other end.
        far: String,
        /// Priority of the pause.
        priority: u8,
        /// Queue that it stops.
        stops: u8,
        /// Queue of the class.
        queue: u8,
    },
    /// The ends of a cable have different lengths.
    Lengths {
        /// The other end.
        far: String,
        /// Length here and there, in metres.
        metres: [u64; 2],
    },
    /// The ends of a cable have different MTUs.
    Mtus {
        /// The other end.
        far: String,
        /// MTU here and there, in bytes.
        bytes: [u64; 2],
    },
    /// A profile is named after another speed or length than that of its port.
    ProfileOfAnother {
        /// The profile.
        profile: String,
        /// Speed and length in its name.
        named: (Rate, u64),
        /// Speed and length of the port.
        actual: (Rate, u64),
    },
    /// Frames are marked only after their sender is paused.
    MarksAfterPause {
        /// Early detection.
        wred: String,
        /// Length at which marks begin.
        least: Bytes,
        /// Length at which an input is paused, if it alone fills the memory.
        pause: Bytes,
        /// Number of full inputs from which on pauses come first; 1 if always.
        inputs: u64,
    },
    /// Early detection drops frames of a lossless class.
    EarlyDrops {
        /// Early detection.
        wred: String,
    },
    /// A queue of a lossless class has a limit below the memory that its inputs may fill.
    QueueLimit {
        /// Profile of the queue.
        profile: String,
        /// Its limit.
        limit: Bytes,
        /// The shared memory.
        pool: Bytes,
    },
    /// A map differs from that of most ports.
    MapDiffers {
        /// Table of the map.
        table: &'static str,
        /// The first entry that differs: what is mapped, to what, and to what elsewhere.
        entry: (usize, u8, u8),
    },
    /// A class has a small part of a link.
    SmallShare {
        /// Its part.
        share: f64,
    },
    /// A lossless class has strict priority over others.
    StrictLossless,
    /// A class without PFC has strict priority over others, and no limit of its rate.
    Strict,
    /// Headroom that ports share is less than what all of them reserve.
    SharedHeadroom {
        /// The pool.
        pool: String,
        /// Its headroom.
        have: Bytes,
        /// Headroom of all lossless classes of all ports.
        all: Bytes,
        /// Number of ports and classes that it suffices for.
        users: u64,
    },
    /// Lossless ports without a watchdog.
    NoWatchdog,
}

/// Examines a fabric.
#[must_use]
pub fn audit(fabric: &Fabric) -> Vec<Issue> {
    let mut found = Found { fabric, classes: fabric.classes(), issues: Vec::new() };
    let mut ends: Vec<(&Cable, End)> =
        fabric.cables.iter().flat_map(|cable| cable.ends().map(move |end| (cable, end))).collect();
    ends.sort_by_key(|(_, end)| *end);
    for &(cable, end) in &ends {
        found.buffers(cable, end);
        found.marking(end, ends.iter().filter(|(_, other)| other.switch == end.switch).count());
        found.shares(end);
        found.watchdog(end);
    }
    for cable in &fabric.cables {
        if let Some(b) = cable.b {
            found.both_ends(cable.a, b);
        }
    }
    found.maps(&ends);
    found.shared_headroom(&ends);
    joined(found.issues)
}

struct Found<'a> {
    fabric: &'a Fabric,
    classes: Vec<u8>,
    issues: Vec<Issue>,
}

impl Found<'_> {
    /// Adds an issue of a port, and of a class if it concerns one.
    fn add(&mut self, end: End, tc: Option<u8>, what: What) {
        let (switch, port) = self.fabric.at(end);
        let (switch, ports) = (switch.name.clone(), vec![port.name.clone()]);
        self.issues.push(Issue { switch, ports, classes: tc.into_iter().collect(), what });
    }

    fn name(&self, end: End) -> String {
        let (switch, port) = self.fabric.at(end);
        format!("{} {}", switch.name, port.name)
    }

    fn buffers(&mut self, cable: &Cable, end: End) {
        let fabric = self.fabric;
        let (switch, port) = fabric.at(end);
        let far = cable.far(end).map(|far| fabric.at(far).1);
        let frame = far.map_or(port.largest_frame(), |far| far.largest_frame().max(port.largest_frame()));
        for tc in self.classes.clone() {
            let profile = port.group_profile(tc).and_then(|name| switch.profiles.get(name));
            match (port.is_lossless(tc), profile) {
                (true, Some(profile)) => match profile.headroom {
                    Some(have) => {
                        let (exact, hardware) = needed(port.speed, cable.metres, frame);
                        let (name, rate, metres) = (profile.name.clone(), port.speed, cable.metres);
                        let driver = mlx5(rate, metres, frame);
                        let what = What::Headroom { profile: name, have, exact, hardware, driver, rate, metres };
                        self.add(end, Some(tc), what);
                        self.named(cable, end, profile);
                    }
                    None => {
                        let group = port.maps.tc_to_group[usize::from(tc)];
                        self.add(end, Some(tc), What::NoHeadroom { group, profile: profile.name.clone() });
                    }
                },
                (true, None) => {
                    let (exact, hardware) = needed(port.speed, cable.metres, frame);
                    let has_profile = |other: &Port| other.is_lossless(tc) && other.group_profile(tc).is_some();
                    let what = What::NoProfile {
                        is_exception: !port.is_computed(tc) && switch.ports.iter().any(has_profile),
                        exact,
                        hardware,
                        rate: port.speed,
                        metres: cable.metres,
                    };
                    self.add(end, Some(tc), what);
                }
                (false, Some(profile)) if profile.headroom.is_some() => {
                    self.add(end, Some(tc), What::UnusedHeadroom { profile: profile.name.clone() });
                }
                (false, _) => {}
            }
            if port.is_lossless(tc) {
                self.queue(switch, port, end, tc);
            }
        }
    }

    /// A queue that drops what its inputs hold.
    fn queue(&mut self, switch: &Switch, port: &Port, end: End, tc: u8) {
        let queue = usize::from(port.maps.tc_to_queue[usize::from(tc)]);
        if let Some(wred) = port.wred[queue].as_ref().filter(|wred| !wred.marks) {
            self.add(end, Some(tc), What::EarlyDrops { wred: wred.name.clone() });
        }
        let Some(profile) = port.queue_profile(tc).and_then(|name| switch.profiles.get(name)) else { return };
        let pool = port.group_profile(tc).and_then(|name| switch.profiles.get(name));
        let pool = pool.and_then(|profile| switch.pools.get(&profile.pool)).and_then(|pool| pool.size);
        if let (Threshold::Static(limit), Some(pool)) = (profile.threshold, pool)
            && limit < pool
        {
            self.add(end, Some(tc), What::QueueLimit { profile: profile.name.clone(), limit, pool });
        }
    }

    /// A profile such as pg_lossless_100000_40m_profile belongs to a speed and a length.
    fn named(&mut self, cable: &Cable, end: End, profile: &Profile) {
        let Some(name) = profile.name.strip_prefix("pg_lossless_") else { return };
        let mut parts = name.split('_');
        let (Some(speed), Some(length)) = (parts.next(), parts.next()) else { return };
        let (Ok(speed), Some(Ok(metres))) = (speed.parse::<u64>(), length.strip_suffix('m').map(str::parse::<u64>))
        else {
            return;
        };
        let named = (Rate::from_bits_per_sec(speed.saturating_mul(1_000_000)), metres);
        let port = self.fabric.at(end).1;
        let actual = (port.speed, port.metres.unwrap_or(cable.metres));
        if named != actual {
            self.add(end, None, What::ProfileOfAnother { profile: profile.name.clone(), named, actual });
        }
    }

    fn marking(&mut self, end: End, inputs: usize) {
        let (switch, port) = self.fabric.at(end);
        for tc in self.classes.clone().into_iter().filter(|tc| port.is_lossless(*tc)) {
            let queue = usize::from(port.maps.tc_to_queue[usize::from(tc)]);
            let Some(wred) = port.wred[queue].as_ref().filter(|wred| wred.marks) else { continue };
            let Some(profile) = port.group_profile(tc).and_then(|name| switch.profiles.get(name)) else { continue };
            let Some(pool) = switch.pools.get(&profile.pool).and_then(|pool| pool.size) else { continue };
            let pause = paused_at(profile, pool, 1);
            let first = (1..=inputs as u64).find(|full| paused_at(profile, pool, *full) <= wred.least);
            if let Some(first) = first {
                let (wred, least) = (wred.name.clone(), wred.least);
                self.add(end, Some(tc), What::MarksAfterPause { wred, least, pause, inputs: first });
            }
        }
    }

    fn shares(&mut self, end: End) {
        let port = self.fabric.at(end).1;
        let mut weights: BTreeMap<u8, Option<u64>> = BTreeMap::new();
        let mut limited = BTreeSet::new();
        for &tc in &self.classes {
            let queue = port.maps.tc_to_queue[usize::from(tc)];
            let scheduler = port.schedulers[usize::from(queue)].as_ref();
            weights.insert(queue, scheduler.map_or(Some(1), |scheduler| scheduler.weight));
            limited.extend(scheduler.filter(|scheduler| scheduler.is_limited).map(|_| queue));
        }
        let sum: u64 = weights.values().flatten().sum();
        for tc in self.classes.clone() {
            match weights[&port.maps.tc_to_queue[usize::from(tc)]] {
                Some(weight) if (weight as f64) < LEAST_SHARE * sum as f64 => {
                    self.add(end, Some(tc), What::SmallShare { share: weight as f64 / sum as f64 });
                }
                None if port.is_lossless(tc) && weights.len() > 1 => self.add(end, Some(tc), What::StrictLossless),
                // Strict classes alone serve each other by priority, as is asked for.
                None if sum > 0 && !limited.contains(&port.maps.tc_to_queue[usize::from(tc)]) => {
                    self.add(end, Some(tc), What::Strict);
                }
                _ => {}
            }
        }
    }

    fn watchdog(&mut self, end: End) {
        let port = self.fabric.at(end).1;
        if port.pfc != 0 && port.watchdog.is_none() {
            self.add(end, None, What::NoWatchdog);
        }
    }

    fn both_ends(&mut self, a: End, b: End) {
        let (one, other) = (self.fabric.at(a).1, self.fabric.at(b).1);
        for tc in self.classes.clone() {
            let (with, without) = match (one.is_lossless(tc), other.is_lossless(tc)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                (true, true) => {
                    self.wrong_queue(a, b, tc);
                    self.wrong_queue(b, a, tc);
                    continue;
                }
                (false, false) => continue,
            };
            let far = self.name(without);
            self.add(with, Some(tc), What::OneEnd { far });
        }
        if let (Some(here), Some(there)) = (one.metres, other.metres)
            && here != there
        {
            let far = self.name(b);
            self.add(a, None, What::Lengths { far, metres: [here, there] });
        }
        if one.mtu != other.mtu {
            let (far, bytes) = (self.name(b), [one.mtu, other.mtu]);
            self.add(a, None, What::Mtus { far, bytes });
        }
    }

    /// A pause carries the number of the priority group; the far end stops the queue that this priority has there.
    fn wrong_queue(&mut self, from: End, to: End, tc: u8) {
        let (sender, receiver) = (&self.fabric.at(from).1.maps, &self.fabric.at(to).1.maps);
        let priority = sender.tc_to_group[usize::from(tc)];
        let (stops, queue) = (receiver.pfc_to_queue[usize::from(priority)], receiver.tc_to_queue[usize::from(tc)]);
        if stops != queue {
            let far = self.name(to);
            self.add(from, Some(tc), What::WrongQueue { far, priority, stops, queue });
        }
    }

    /// Compares the maps of all ports with those that most have.
    fn maps(&mut self, ends: &[(&Cable, End)]) {
        type Read = fn(&Port) -> Vec<u8>;
        let tables: [(&'static str, Read); 4] = [
            ("DSCP_TO_TC_MAP", |port| port.maps.dscp_to_tc.clone().unwrap_or_default()),
            ("TC_TO_QUEUE_MAP", |port| port.maps.tc_to_queue.to_vec()),
            ("TC_TO_PRIORITY_GROUP_MAP", |port| port.maps.tc_to_group.to_vec()),
            ("MAP_PFC_PRIORITY_TO_QUEUE", |port| port.maps.pfc_to_queue.to_vec()),
        ];
        for (table, read) in tables {
            let mut counts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
            for (_, end) in ends {
                *counts.entry(read(self.fabric.at(*end).1)).or_default() += 1;
            }
            let Some((usual, _)) = counts.into_iter().max_by_key(|(_, count)| *count) else { continue };
            for (_, end) in ends {
                let own = read(self.fabric.at(*end).1);
                let length = own.len().max(usual.len());
                let at = |map: &[u8], place: usize| map.get(place).copied().unwrap_or(0);
                let differs = (0..length).find(|place| at(&own, *place) != at(&usual, *place));
                if let Some(place) = differs {
                    let entry = (place, at(&own, place), at(&usual, place));
                    self.add(*end, None, What::MapDiffers { table, entry });
                }
            }
        }
    }

    fn shared_headroom(&mut self, ends: &[(&Cable, End)]) {
        for (number, switch) in self.fabric.switches.iter().enumerate() {
            for (name, pool) in &switch.pools {
                let Some(have) = pool.headroom else { continue };
                let mut each = Vec::new();
                for (_, end) in ends.iter().filter(|(_, end)| end.switch == number) {
                    let port = self.fabric.at(*end).1;
                    let groups =
                        (0..NUMBERS as u8).filter(|tc| port.is_lossless(*tc)).filter_map(|tc| port.group_profile(tc));
                    let profiles =
                        groups.filter_map(|name| switch.profiles.get(name)).filter(|profile| profile.pool == *name);
                    each.extend(profiles.filter_map(|profile| profile.headroom));
                }
                let all = each.iter().fold(Bytes::ZERO, |sum, each| sum + *each);
                if all > have {
                    // The largest first: so many may use theirs at once, whichever they are.
                    each.sort_by_key(|each| std::cmp::Reverse(*each));
                    let mut left = have.get();
                    let fits = |each: &&Bytes| match left.checked_sub(each.get()) {
                        Some(rest) => {
                            left = rest;
                            true
                        }
                        None => false,
                    };
                    let users = each.iter().take_while(fits).count() as u64;
                    let what = What::SharedHeadroom { pool: name.clone(), have, all, users };
                    let (ports, classes) = (Vec::new(), Vec::new());
                    self.issues.push(Issue { switch: switch.name.clone(), ports, classes, what });
                }
            }
        }
    }
}

/// Bytes above the threshold that a cable needs: without any response time, and with the delays of the standards.
fn needed(rate: Rate, metres: u64, frame: Bytes) -> (Bytes, Bytes) {
    let latency = Span::from_picos(metres * PICOS_PER_METRE);
    let exact = headroom(&HeadroomSpec::simulated(rate, latency, Span::ZERO, frame, frame));
    let hardware = headroom(&HeadroomSpec::hardware_over(rate, latency, Medium::Optical, frame));
    (exact.above_threshold(), hardware.above_threshold())
}

/// The length at which an input is paused if so many inputs are equally full.
fn paused_at(profile: &Profile, pool: Bytes, inputs: u64) -> Bytes {
    let shared = match profile.threshold {
        Threshold::Dynamic(power) => {
            let alpha = 2.0_f64.powi(i32::from(power));
            alpha * pool.get() as f64 / (1.0 + alpha * inputs as f64)
        }
        Threshold::Static(limit) => limit.get().min(pool.get() / inputs) as f64,
        Threshold::Unknown => pool.get() as f64 / (1.0 + inputs as f64),
    };
    profile.reserved + Bytes::new(shared as u64)
}

/// Joins issues that differ in their ports only, then those that differ in their classes only.
fn joined(issues: Vec<Issue>) -> Vec<Issue> {
    let mut by_port: Vec<Issue> = Vec::new();
    for issue in issues {
        let same = |known: &&mut Issue| {
            (&known.switch, &known.classes, &known.what) == (&issue.switch, &issue.classes, &issue.what)
        };
        match by_port.iter_mut().find(same) {
            Some(known) => {
                for port in issue.ports {
                    if !known.ports.contains(&port) {
                        known.ports.push(port);
                    }
                }
            }
            None => by_port.push(issue),
        }
    }
    let mut by_class: Vec<Issue> = Vec::new();
    for issue in by_port {
        let same = |known: &&mut Issue| {
            (&known.switch, &known.ports, &known.what) == (&issue.switch, &issue.ports, &issue.what)
        };
        match by_class.iter_mut().find(same) {
            Some(known) => known.classes.extend(issue.classes),
            None => by_class.push(issue),
        }
    }
    by_class
}
