//! Buffers of switches and adapters: capacity, thresholds and the headroom required by a standard.

use super::frames::LargestFrames;
use super::names::Names;
use crate::resolve::{Gathered, Node};
use fabric::graph::{Graph, NodeId};
use fabric::spec::{ClassBuffer, ClassSpec, CreditUnit, FlowControl};
use fabric::workload::FlowSpec;
use theory::headroom::{Breakdown, HeadroomSpec, Medium, headroom};
use units::{Bytes, Span};

/// Common settings of devices.
pub(crate) struct Rules<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) classes: &'a [ClassSpec],
    pub(crate) class_names: &'a Names<'a>,
    pub(crate) overhead: Bytes,
    /// Largest frame of each class.
    pub(crate) largest: Vec<Bytes>,
    /// Those of each direction.
    frames: LargestFrames,
    /// Whether default thresholds are for the simulated links, not for hardware.
    pub(crate) exact: bool,
    /// For every node, how long a cut-through node waits for a header.
    pub(crate) headers: Vec<Span>,
}

/// The cables over which a device receives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach<'a> {
    /// What is wrong with the names of the devices has been said.
    Unknown,
    /// All cables of these nodes.
    Nodes(&'a [u32]),
    /// These cables, each at a node.
    Ends(&'a [(u32, u32)]),
}

/// What the headroom of a cable depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    rate: units::Rate,
    latency: Span,
    /// Time that both ends wait for a header.
    header: Span,
    /// Largest frame that comes.
    frame: Bytes,
    /// Largest frame in the way of a pause.
    reverse: Bytes,
}

/// Flow control of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Treatment {
    /// Senders are paused above a threshold.
    Paused,
    /// Senders have credits for the available space.
    Credited,
    /// Frames that do not fit are dropped.
    Dropped,
}

/// Returns for every cable how long its two ends wait for a header, given the delays of the nodes. Frames from a cable
/// slower than a node's fastest one are stored and forwarded.
pub(crate) fn header_delays(graph: &Graph, of_node: &[Span]) -> Vec<Span> {
    let mut fastest = vec![units::Rate::ZERO; graph.nodes.len()];
    for cable in &graph.cables {
        for end in [cable.a, cable.b] {
            let rate = &mut fastest[end.0 as usize];
            *rate = cable.link.rate.max(*rate);
        }
    }
    let waits = |node: u32, rate| if rate >= fastest[node as usize] { of_node[node as usize] } else { Span::ZERO };
    graph.cables.iter().map(|cable| waits(cable.a.0, cable.link.rate) + waits(cable.b.0, cable.link.rate)).collect()
}

impl<'a> Rules<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        classes: &'a [ClassSpec],
        class_names: &'a Names<'a>,
        flows: &[FlowSpec],
        overhead: Bytes,
    ) -> Rules<'a> {
        let headers = vec![Span::ZERO; graph.nodes.len()];
        let frames = LargestFrames::new(graph, flows, classes.len());
        let largest = frames.of_all.clone();
        Rules { graph, classes, class_names, overhead, largest, frames, exact: false, headers }
    }

    /// Counts frames of that size in lossless classes on all links: those of a real network, whatever the workloads send.
    pub(crate) fn carry(&mut self, largest: Bytes) {
        for class in (0..self.classes.len()).filter(|class| self.classes[*class].lossless) {
            self.frames.everywhere(class as u8, largest);
        }
    }

    /// Returns the headroom of the cable that requires the most above a threshold. `class` is `None` for all together.
    fn worst(&self, reach: Reach<'_>, class: Option<usize>, response: Span) -> Option<Breakdown> {
        // The ends at which frames arrive.
        let mut at = vec![(false, false); self.graph.cables.len()];
        match reach {
            Reach::Unknown => return None,
            Reach::Ends(ends) => {
                for &(node, cable) in ends {
                    let end = self.graph.cables[cable as usize].a.0 == node;
                    let ends = &mut at[cable as usize];
                    if end { ends.0 = true } else { ends.1 = true }
                }
            }
            Reach::Nodes(nodes) => {
                let mut there = vec![false; self.graph.nodes.len()];
                nodes.iter().for_each(|&node| there[node as usize] = true);
                for (at, cable) in at.iter_mut().zip(&self.graph.cables) {
                    *at = (there[cable.a.0 as usize], there[cable.b.0 as usize]);
                }
            }
        }
        let headers = header_delays(self.graph, &self.headers);
        let mut links: Vec<Link> = Vec::new();
        for ((cable, header), (a, b)) in self.graph.cables.iter().zip(headers).zip(at) {
            let ends = [(a, cable.a, cable.b), (b, cable.b, cable.a)];
            for (_, receiver, sender) in ends.into_iter().filter(|(there, ..)| *there) {
                let (frame, reverse) = self.frames_between(receiver, sender, class);
                let link = Link { rate: cable.link.rate, latency: cable.link.latency, header, frame, reverse };
                if links.last() != Some(&link) {
                    links.push(link);
                }
            }
        }
        links.sort_unstable();
        links.dedup();
        // What never comes needs no room. Where nothing comes at all, anything might.
        if links.iter().any(|link| link.frame > Bytes::ZERO) {
            links.retain(|link| link.frame > Bytes::ZERO);
        } else {
            let frame = class.and_then(|class| self.largest.get(class)).or(self.largest.iter().max()).copied();
            links.iter_mut().for_each(|link| link.frame = frame.unwrap_or_default());
        }
        links.into_iter().map(|link| self.needed(link, response)).max_by_key(Breakdown::above_threshold)
    }

    /// The largest frame of a class that comes, and the largest in the way of a pause.
    fn frames_between(&self, receiver: NodeId, sender: NodeId, class: Option<usize>) -> (Bytes, Bytes) {
        let of = |frames: &[Bytes]| match class {
            Some(class) => frames.get(class).copied().unwrap_or_default(),
            None => frames.iter().copied().max().unwrap_or_default(),
        };
        match self.exact {
            true => (of(&self.frames.of_all), self.frames.of_all.iter().copied().max().unwrap_or_default()),
            false => (
                of(self.frames.arriving(self.graph, receiver, sender)),
                self.frames.in_the_way(self.graph, receiver, sender),
            ),
        }
    }

    /// Returns the bytes that arrive after XOFF over one cable.
    fn needed(&self, link: Link, response: Span) -> Breakdown {
        let Link { rate, latency, header, frame, reverse } = link;
        let spec = match self.exact {
            true => HeadroomSpec::simulated(rate, latency, response, reverse, frame),
            false => {
                let spec = HeadroomSpec::hardware_over(rate, latency, Medium::Optical, frame);
                let response_delay = spec.response_delay.max(response);
                HeadroomSpec { response_delay, largest_reverse_frame: reverse, ..spec }
            }
        };
        headroom(&HeadroomSpec { overhead: self.overhead, header_delay: header, ..spec })
    }

    fn treatment(&self, class: usize, control: FlowControl) -> Treatment {
        match control {
            FlowControl::Pause(_) => Treatment::Paused,
            FlowControl::Pfc(_) if self.classes[class].lossless => Treatment::Paused,
            FlowControl::Credits(_) if self.classes[class].lossless => Treatment::Credited,
            FlowControl::None | FlowControl::Pfc(_) | FlowControl::Credits(_) => Treatment::Dropped,
        }
    }

    /// Returns one buffer per class from the entries of a device.
    pub(crate) fn buffers(
        &self,
        gathered: &mut Gathered<'_>,
        device: &Node,
        control: FlowControl,
        shared: bool,
        reach: Reach<'_>,
    ) -> Option<Vec<ClassBuffer>> {
        // An entry whose classes are misspelt may have been meant for a class without one.
        let of_class = self.entries(gathered, device, device, control)?;
        let mut complete = true;
        let mut buffers = Vec::new();
        for (class, entry) in of_class.into_iter().enumerate() {
            let Some(entry) = entry else {
                let name = &self.classes[class].name;
                let help = "add an entry of `buffers` for it, or one without `classes` for all classes";
                gathered.refuse(device.place_of("buffers"), format!("class `{name}` has no buffer"), help);
                complete = false;
                continue;
            };
            match self.buffer(gathered, entry, control, shared, reach, class) {
                Some(buffer) => buffers.push(buffer),
                None => complete = false,
            }
        }
        complete.then_some(buffers)
    }

    /// Returns the buffers of ports over these cables: those of their switch, with the entries of `ports` instead.
    pub(crate) fn port_buffers(
        &self,
        gathered: &mut Gathered<'_>,
        (device, ports): (&Node, &Node),
        control: FlowControl,
        of_switch: &[ClassBuffer],
        ends: &[(u32, u32)],
    ) -> Option<Vec<ClassBuffer>> {
        let shared = device.text("buffer")? == "shared";
        let entries = self.entries(gathered, device, ports, control)?;
        let mut buffers = of_switch.to_vec();
        let mut good = true;
        for (class, entry) in entries.into_iter().enumerate() {
            let Some(entry) = entry else { continue };
            match self.buffer(gathered, entry, control, shared, Reach::Ends(ends), class) {
                Some(buffer) => buffers[class] = buffer,
                None => good = false,
            }
        }
        good.then_some(buffers)
    }

    /// Returns for each class the last of a holder's entries that names it; `None` if one of them is wrong.
    fn entries<'n>(
        &self,
        gathered: &mut Gathered<'_>,
        device: &Node,
        holder: &'n Node,
        control: FlowControl,
    ) -> Option<Vec<Option<&'n Node>>> {
        let mut of_class: Vec<Option<&Node>> = vec![None; self.classes.len()];
        let mut good = true;
        for entry in holder.tables("buffers") {
            let names = entry.names("classes").unwrap_or_default();
            let Some(classes) = self.class_names.select(gathered, &names, entry.place_of("classes")) else {
                good = false;
                continue;
            };
            classes.iter().for_each(|&class| of_class[class as usize] = Some(entry));
            let queueing = device.text("queueing").filter(|queueing| queueing != "output");
            if entry.given("frames")
                && !matches!(control, FlowControl::Credits(_))
                && let Some(queueing) = queueing
            {
                let message = format!("`frames` limits output queues, but queueing is \"{queueing}\"");
                gathered.refuse(entry.place_of("frames"), message, "remove it, or choose queueing = \"output\"");
                good = false;
            }
            good &= self.measured_as_given(gathered, entry, control, &classes);
            let paused = |&class: &u32| self.treatment(class as usize, control) == Treatment::Paused;
            if !classes.iter().any(paused) {
                for key in ["xoff", "xon", "resume", "headroom"].into_iter().filter(|key| entry.given(key)) {
                    let message = format!("`{key}` has no effect for classes without flow control");
                    gathered.refuse(entry.place_of(key), message, "remove it, or make the class lossless");
                    good = false;
                }
            }
        }
        good.then_some(of_class)
    }

    /// Refuses a size in a measure that no class of an entry has: credits may be worth a frame, and lossy classes have
    /// none.
    fn measured_as_given(
        &self,
        gathered: &mut Gathered<'_>,
        entry: &Node,
        control: FlowControl,
        classes: &[u32],
    ) -> bool {
        let FlowControl::Credits(credits) = control else { return true };
        let slots = credits.unit == CreditUnit::Frame;
        let credited = |&class: &u32| self.treatment(class as usize, control) == Treatment::Credited;
        let (any, all) = (classes.iter().any(credited), classes.iter().all(credited));
        let (key, reason, wanted) = match (slots, entry.given("frames"), entry.given("capacity")) {
            (false, true, _) => ("frames", "a credit is not a frame", "capacity"),
            // Without a capacity the class is named.
            (true, true, true) if !any => ("frames", "lossy classes have no credits", "capacity"),
            (true, _, true) if all => ("capacity", "a credit is a frame", "frames"),
            _ => return true,
        };
        let message = format!("`{key}` has no effect here: {reason}");
        gathered.refuse(entry.place_of(key), message, format!("use `{wanted}`"));
        false
    }

    fn buffer(
        &self,
        gathered: &mut Gathered<'_>,
        entry: &Node,
        control: FlowControl,
        shared: bool,
        reach: Reach<'_>,
        class: usize,
    ) -> Option<ClassBuffer> {
        let treatment = self.treatment(class, control);
        let capacity = self.capacity(gathered, entry, control, class)?;
        // Of a shared buffer.
        let part = |buffer: ClassBuffer| ClassBuffer {
            alpha: entry.ratio("alpha"),
            limit: entry.size("limit").unwrap_or(buffer.limit),
            ..buffer
        };
        let frames = match entry.count("frames").filter(|_| !matches!(control, FlowControl::Credits(_))) {
            Some(frames) => u32::try_from(frames).unwrap_or(u32::MAX),
            None => u32::MAX,
        };
        if frames != u32::MAX && treatment != Treatment::Dropped {
            let name = &self.classes[class].name;
            let message = format!("`frames` limits queues of lossy classes, but class `{name}` has flow control");
            gathered.refuse(entry.place_of("frames"), message, "remove it, or name lossy classes in `classes`");
            return None;
        }
        if treatment != Treatment::Paused {
            return Some(ClassBuffer { frames, ..part(ClassBuffer::drop_tail(capacity)) });
        }
        let response = match control {
            FlowControl::Pause(pause) | FlowControl::Pfc(pause) => pause.longest_response(),
            FlowControl::None | FlowControl::Credits(_) => Span::ZERO,
        };
        // PAUSE counts all classes together.
        let largest = match control {
            FlowControl::Pause(_) => self.largest.iter().copied().max(),
            _ => self.largest.get(class).copied(),
        };
        let largest = largest.unwrap_or_default();
        let hysteresis = Bytes::new(largest.get() * 2);
        let together = matches!(control, FlowControl::Pause(_));
        let worst = self.worst(reach, (!together).then_some(class), response);
        // What is wrong with `match` has been said; thresholds would be computed for no cable.
        if matches!(reach, Reach::Unknown) && !(entry.given("xoff") || shared) {
            return None;
        }
        if shared {
            let headroom = entry.size("headroom").or_else(|| {
                let needed = worst.map(|worst| worst.above_threshold()).unwrap_or_default();
                gathered.computed(&entry.path, "headroom", format!("\"{needed}\""));
                Some(needed)
            })?;
            let xon = entry.size("xon").unwrap_or_else(|| {
                gathered.computed(&entry.path, "xon", format!("\"{hysteresis}\""));
                hysteresis
            });
            let resume = entry.size("resume").unwrap_or_default();
            return Some(part(ClassBuffer { capacity, xon, resume, headroom, ..ClassBuffer::UNLIMITED }));
        }
        let xoff = match entry.size("xoff") {
            Some(xoff) => xoff,
            None => {
                let needed = worst.map(|worst| worst.above_threshold()).unwrap_or_default();
                let Some(xoff) = capacity.get().checked_sub(needed.get()).map(Bytes::new) else {
                    let arithmetic = worst.map(|worst| worst.to_string()).unwrap_or_default();
                    let message = format!("a buffer of {capacity} is too small for a lossless class");
                    let help = format!(
                        "{needed} can arrive after XOFF ({arithmetic}); increase the capacity, or set `xoff` explicitly{}",
                        if self.exact { "" } else { ", or network.headroom = \"exact\" for the simulated link alone" },
                    );
                    gathered.refuse(entry.place_of("capacity"), message, help);
                    return None;
                };
                gathered.computed(&entry.path, "xoff", format!("\"{xoff}\""));
                xoff
            }
        };
        let xon = entry.size("xon").unwrap_or_else(|| {
            let xon = Bytes::new(xoff.get().saturating_sub(hysteresis.get()));
            gathered.computed(&entry.path, "xon", format!("\"{xon}\""));
            xon
        });
        let mut good = true;
        if xoff >= capacity {
            let message = format!("xoff of {xoff} leaves no headroom in a buffer of {capacity}");
            gathered.refuse(entry.place_of("xoff"), message, "lower xoff, or increase capacity");
            good = false;
        }
        if xon > xoff {
            let (message, help) = if entry.given("xoff") {
                (
                    format!("xon of {xon} exceeds xoff of {xoff}"),
                    format!("XON must not exceed XOFF; lower xon to {xoff} or raise xoff"),
                )
            } else {
                let needed = worst.map(|worst| worst.above_threshold()).unwrap_or_default();
                (
                    format!("xon of {xon} exceeds xoff, which is not given and comes to {xoff}"),
                    format!(
                        "XON must not exceed XOFF, here the capacity of {capacity} less a headroom of {needed}; lower xon \
                         to {xoff} or raise capacity to {}",
                        xon + needed,
                    ),
                )
            };
            gathered.refuse(entry.place_of("xon"), message, help);
            good = false;
        }
        good.then_some(ClassBuffer::lossless(capacity, xoff, xon))
    }

    /// The size of a class's buffer: in frames where a credit is one, else in bytes.
    fn capacity(&self, gathered: &mut Gathered<'_>, entry: &Node, control: FlowControl, class: usize) -> Option<Bytes> {
        let by_frame = matches!(control, FlowControl::Credits(credits) if credits.unit == CreditUnit::Frame);
        let slots = by_frame && self.treatment(class, control) == Treatment::Credited;
        let wanted = if slots { "frames" } else { "capacity" };
        let found = if slots { entry.count("frames").map(Bytes::new) } else { entry.size("capacity") };
        if found.is_some() || entry.given(wanted) {
            return found;
        }
        let (message, help) = if by_frame && !slots {
            let name = &self.classes[class].name;
            (
                format!("class `{name}` has no buffer: it is lossy and has no credits, so `frames` gives it none"),
                "add `capacity`, for example `capacity = \"200KB\"`, or make the class lossless".to_owned(),
            )
        } else {
            let example = if slots { "frames = 4" } else { "capacity = \"200KB\"" };
            (format!("`{}` has no `{wanted}`", entry.path), format!("add it, for example `{example}`"))
        };
        gathered.refuse(entry.place, message, help);
        None
    }
}
