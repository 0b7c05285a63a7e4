//! Headroom: the bytes that arrive after a receiver has decided to pause its sender.
//!
//! IEEE 802.1Qbb calls it the delay value and adds it up in bit times of the link:
//!
//! | term | reason |
//! |---|---|
//! | `8 (L_R + 20)` | the receiver has just begun a frame of its own, and the PFC frame waits behind it |
//! | `672` | the PFC frame itself: 64 bytes and 20 of preamble and gap |
//! | `2 * propagation` | the PFC frame travels to the sender, and the sender's last bits travel back |
//! | `2 * interface` | both pass through the physical layers at both ends |
//! | `header` | cut-through ends accept a frame one header delay after its first bit, however short it is; the standard has no such term |
//! | `response` | the sender's time to act on the PFC frame (the standard's higher layer delay) |
//! | `8 (L_T + 20)` | the sender has just begun a frame of the paused priority and may finish it |
//!
//! A receiver detects that its queue has passed the threshold only with the frame that passes it, so the queue may by
//! then be `L_T - 1` bytes above the threshold. A buffer for a threshold XOFF is therefore lossless if it holds at
//! least `XOFF + (L_T - 1) + delay value`. Preambles and gaps are counted although no buffer stores them, because the
//! standard counts them and because they add a small safety margin.

use crate::Error;
use std::fmt;
use std::ops::Add;
use units::{Bytes, Rate, Span, grouped};

/// Preamble, start delimiter and minimum gap, in bytes of link time per frame.
pub const FRAME_OVERHEAD: Bytes = Bytes::new(20);

/// Length of a PFC frame, without overhead.
pub const PFC_FRAME: Bytes = Bytes::new(64);

/// Bits in a pause quantum, the unit of IEEE 802.3's response times.
const QUANTUM: u64 = 512;

/// A number of bits on a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(u64);

impl Bits {
    /// Creates a number of bits.
    #[must_use]
    pub const fn new(bits: u64) -> Bits {
        Bits(bits)
    }

    /// Returns the number of bits.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of bytes that hold the bits, rounded up.
    #[must_use]
    pub const fn in_bytes(self) -> Bytes {
        Bytes::new(self.0.div_ceil(8))
    }

    /// Returns the bits that a link of that rate carries in that time, rounded up.
    #[must_use]
    pub fn carried(rate: Rate, span: Span) -> Bits {
        let exact = u128::from(rate.as_bits_per_sec()) * u128::from(span.as_picos());
        Bits(u64::try_from(exact.div_ceil(1_000_000_000_000)).unwrap_or(u64::MAX))
    }

    /// The time a link of that rate takes for them, rounded up to picoseconds.
    fn duration(self, rate: Rate) -> Span {
        let exact = u128::from(self.0) * 1_000_000_000_000;
        Span::from_picos(exact.div_ceil(u128::from(rate.as_bits_per_sec())) as u64)
    }
}

impl Add for Bits {
    type Output = Bits;
    fn add(self, other: Bits) -> Bits {
        Bits(self.0 + other.0)
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bits", grouped(self.0))
    }
}

/// The medium of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Fibre: 5 ns per metre (5000 bit times per 100 m at 10 Gb/s).
    Optical,
    /// Copper of a direct-attach cable: 5.556 ns per metre (5556 bit times per 100 m at 10 Gb/s).
    Copper,
    /// Copper with the 10GBASE-T physical layer, whose interface delay is twice that of the others.
    TwistedPair,
}

impl Medium {
    const fn name(self) -> &'static str {
        match self {
            Medium::Optical => "fibre",
            Medium::Copper => "copper",
            Medium::TwistedPair => "twisted pair",
        }
    }

    const fn picos_per_metre(self) -> u64 {
        match self {
            Medium::Optical => 5_000,
            Medium::Copper | Medium::TwistedPair => 5_556,
        }
    }
}

/// The parameters of the delay value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadroomSpec {
    /// Rate of the link, equal in both directions.
    pub rate: Rate,
    /// Propagation delay of the cable, one way.
    pub one_way_delay: Span,
    /// Delay of the physical and MAC layers of one end, both directions together (the standard's ID).
    pub interface_delay: Span,
    /// Time that both cut-through ends together wait for a header; zero for store-and-forward.
    pub header_delay: Span,
    /// Time from the reception of a PFC frame until the sender starts no further frame (the standard's HD).
    pub response_delay: Span,
    /// Largest frame of any priority that the data's receiver may be sending (L_R).
    pub largest_reverse_frame: Bytes,
    /// Largest frame of the paused priority (L_T).
    pub largest_frame: Bytes,
    /// Link time per frame in addition to its bytes; [`FRAME_OVERHEAD`] on Ethernet.
    pub overhead: Bytes,
    /// Length of the pause frame; [`PFC_FRAME`] on Ethernet.
    pub pause_frame: Bytes,
}

impl HeadroomSpec {
    /// Returns a link with the delays that the standards allow, and frames of at most `largest_frame` in both
    /// directions.
    ///
    /// At 10 Gb/s the interface and response delays are those of 802.1Qbb. At 25 to 400 Gb/s, 802.3 states one bound
    /// for the sender's whole response, which is used here without an additional interface delay: add that of the
    /// receiver in [`HeadroomSpec::interface_delay`] where it is known.
    ///
    /// # Errors
    /// Fails if the standards state no delays for that rate and medium.
    pub fn standard(
        rate: Rate,
        cable_metres: u64,
        medium: Medium,
        largest_frame: Bytes,
    ) -> Result<HeadroomSpec, Error> {
        let one_way_delay = Span::from_picos(cable_metres * medium.picos_per_metre());
        HeadroomSpec::standard_over(rate, one_way_delay, medium, largest_frame)
    }

    /// Returns the same for a cable with a known delay instead of a known length.
    ///
    /// # Errors
    /// See [`HeadroomSpec::standard`].
    pub fn standard_over(
        rate: Rate,
        one_way_delay: Span,
        medium: Medium,
        largest_frame: Bytes,
    ) -> Result<HeadroomSpec, Error> {
        let delays = standard_delays(rate, medium);
        let (interface_delay, response_delay) = delays.ok_or(Error::NoStandardDelay { rate, medium: medium.name() })?;
        let simulated = HeadroomSpec::simulated(rate, one_way_delay, response_delay, largest_frame, largest_frame);
        Ok(HeadroomSpec { interface_delay, ..simulated })
    }

    /// Returns the same for any rate: where the standards state no delays, those of the nearest rate that has some, in
    /// time. At 800 Gb/s they are 905 quanta, as SONiC counts (sonic-swss, buffer_headroom_mellanox.lua).
    #[must_use]
    pub fn hardware_over(rate: Rate, one_way_delay: Span, medium: Medium, largest_frame: Bytes) -> HeadroomSpec {
        let distance = |standard: u64| {
            let ratio = rate.as_bits_per_sec() as f64 / (standard as f64 * 1e9);
            ratio.max(1.0 / ratio.max(1e-9))
        };
        let eight_hundred = (Span::ZERO, Bits(905 * QUANTUM).duration(Rate::from_gigabits(800)));
        let known = KNOWN_RATES.iter().filter_map(|&gigabits| {
            let delays = standard_delays(Rate::from_gigabits(gigabits), medium);
            Some((distance(gigabits), delays.or((gigabits == 800).then_some(eight_hundred))?))
        });
        let nearest = known.min_by(|(one, _), (other, _)| one.total_cmp(other));
        let (interface_delay, response_delay) = nearest.map_or((Span::ZERO, Span::ZERO), |(_, delays)| delays);
        let simulated = HeadroomSpec::simulated(rate, one_way_delay, response_delay, largest_frame, largest_frame);
        HeadroomSpec { interface_delay, ..simulated }
    }

    /// Returns a link with exactly known delays, as in a simulation: its whole delay is in the cable and the response.
    #[must_use]
    pub const fn simulated(
        rate: Rate,
        one_way_delay: Span,
        response_delay: Span,
        largest_reverse_frame: Bytes,
        largest_frame: Bytes,
    ) -> HeadroomSpec {
        HeadroomSpec {
            rate,
            one_way_delay,
            interface_delay: Span::ZERO,
            header_delay: Span::ZERO,
            response_delay,
            largest_reverse_frame,
            largest_frame,
            overhead: FRAME_OVERHEAD,
            pause_frame: PFC_FRAME,
        }
    }
}

/// Rates in Gb/s with known delays.
const KNOWN_RATES: [u64; 8] = [10, 25, 40, 50, 100, 200, 400, 800];

/// The interface and response delays of the standards; `None` if they state none.
fn standard_delays(rate: Rate, medium: Medium) -> Option<(Span, Span)> {
    let gigabits = rate.as_bits_per_sec() / 1_000_000_000;
    let (interface, response) = match (gigabits, medium) {
        _ if rate != Rate::from_gigabits(gigabits) => return None,
        (10, Medium::TwistedPair) => (37_888, 6_144),
        (_, Medium::TwistedPair) => return None,
        (10, _) => (18_944, 6_144),
        (25, _) => (0, 80 * QUANTUM),
        (40, _) => (0, 118 * QUANTUM),
        (50, _) => (0, 147 * QUANTUM),
        (100, _) => (0, 394 * QUANTUM),
        (200, _) => (0, 453 * QUANTUM),
        (400, _) => (0, 905 * QUANTUM),
        _ => return None,
    };
    Some((Bits(interface).duration(rate), Bits(response).duration(rate)))
}

/// The terms of the delay value. The display shows the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// Frame that the PFC frame waits behind.
    pub reverse_frame: Bits,
    /// PFC frame.
    pub pause_frame: Bits,
    /// Round trip on the cable.
    pub cable: Bits,
    /// Interfaces of both ends.
    pub interfaces: Bits,
    /// Wait for a header at both ends.
    pub header: Bits,
    /// Response of the sender.
    pub response: Bits,
    /// Last frame of the sender.
    pub last_frame: Bits,
    /// Excess of the queue over the threshold when the receiver detects it: `L_T - 1`.
    pub overshoot: Bytes,
}

impl Breakdown {
    /// Returns the delay value: the sum of the terms, without the overshoot.
    #[must_use]
    pub fn delay_value(&self) -> Bits {
        self.reverse_frame
            + self.pause_frame
            + self.cable
            + self.interfaces
            + self.header
            + self.response
            + self.last_frame
    }

    /// Returns the room needed above the threshold: the delay value in bytes, and the overshoot.
    #[must_use]
    pub fn above_threshold(&self) -> Bytes {
        self.delay_value().in_bytes() + self.overshoot
    }

    /// Returns the smallest lossless buffer for that threshold.
    #[must_use]
    pub fn buffer_for(&self, xoff: Bytes) -> Bytes {
        xoff + self.above_threshold()
    }

    /// Returns the highest lossless threshold for that buffer; `None` if the buffer is too small for any.
    #[must_use]
    pub fn xoff_for(&self, buffer: Bytes) -> Option<Bytes> {
        buffer.get().checked_sub(self.above_threshold().get()).map(Bytes::new)
    }
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = [
            (self.reverse_frame, "frame in transmission to the sender"),
            (self.pause_frame, "PFC frame"),
            (self.cable, "propagation, round trip"),
            (self.interfaces, "interfaces at both ends"),
            (self.header, "headers, cutting through"),
            (self.response, "sender's response"),
            (self.last_frame, "sender's last frame"),
        ];
        let mut sign = "";
        for (bits, name) in terms.iter().filter(|(bits, _)| bits.0 > 0) {
            write!(f, "{sign}{} ({name})", grouped(bits.0))?;
            sign = " + ";
        }
        let total = self.delay_value();
        let [bytes, overshoot] = [total.in_bytes(), self.overshoot].map(|it| grouped(it.get()));
        write!(f, " = {total} = {bytes} B, plus {overshoot} B of overshoot")
    }
}

/// Computes the headroom, term by term.
#[must_use]
pub fn headroom(spec: &HeadroomSpec) -> Breakdown {
    let framed = |len: Bytes| Bits((len + spec.overhead).bits());
    Breakdown {
        reverse_frame: framed(spec.largest_reverse_frame),
        pause_frame: framed(spec.pause_frame),
        cable: Bits::carried(spec.rate, spec.one_way_delay * 2),
        interfaces: Bits::carried(spec.rate, spec.interface_delay * 2),
        header: Bits::carried(spec.rate, spec.header_delay),
        response: Bits::carried(spec.rate, spec.response_delay),
        last_frame: framed(spec.largest_frame),
        overshoot: Bytes::new(spec.largest_frame.get().saturating_sub(1)),
    }
}

/// Returns the headroom that the Linux driver mlx5 reserves (`calculate_xoff` in
/// drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c): (301 + 2.16 metres) x max(Gb/s, 40) + 2.72 MTU bytes.
#[must_use]
pub fn mlx5(rate: Rate, metres: u64, largest_frame: Bytes) -> Bytes {
    let megabits = u128::from((rate.as_bits_per_sec() / 1_000_000).max(40_000));
    let delay = (301 + 216 * u128::from(metres) / 100) * megabits / 1000;
    Bytes::new((delay + 272 * u128::from(largest_frame.get()) / 100) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard(gigabits: u64, medium: Medium) -> Breakdown {
        let spec = HeadroomSpec::standard(Rate::from_gigabits(gigabits), 100, medium, Bytes::new(1_518));
        headroom(&spec.expect("a standard speed"))
    }

    #[test]
    fn the_driver_reserves_what_its_formula_says() {
        // 311 ns and 387 ns at these rates, and 2.72 frames.
        assert_eq!(mlx5(Rate::from_gigabits(100), 5, Bytes::new(9_118)), Bytes::new(31_100 + 24_800));
        assert_eq!(mlx5(Rate::from_gigabits(400), 40, Bytes::new(9_118)), Bytes::new(154_800 + 24_800));
        assert_eq!(mlx5(Rate::from_gigabits(10), 0, Bytes::ZERO), Bytes::new(301 * 40));
    }

    #[test]
    fn ten_gigabits_over_a_hundred_metres_of_fibre() {
        let terms = standard(10, Medium::Optical);
        assert_eq!(terms.delay_value(), Bits(79_312));
        assert_eq!(terms.delay_value().in_bytes(), Bytes::new(9_914));
        assert_eq!(terms.pause_frame, Bits(672));
        assert_eq!(
            terms.to_string(),
            "12,304 (frame in transmission to the sender) + 672 (PFC frame) + 10,000 (propagation, round trip) + \
             37,888 (interfaces at both ends) + 6144 (sender's response) + 12,304 (sender's last frame) = 79,312 bits = \
             9914 B, plus 1517 B of overshoot"
        );
    }

    #[test]
    fn copper_is_slower_and_twisted_pair_slower_still() {
        assert_eq!(standard(10, Medium::Copper).delay_value(), Bits(79_312 + 2 * 556));
        assert_eq!(standard(10, Medium::TwistedPair).delay_value(), Bits(79_312 + 2 * 556 + 2 * 18_944));
    }

    #[test]
    fn faster_links_use_the_response_time_in_quanta() {
        let in_bytes = [25, 40, 50, 100, 200, 400].map(|speed| {
            let terms = standard(speed, Medium::Optical);
            assert_eq!(terms.interfaces, Bits(0));
            (terms.response.get() / QUANTUM, terms.delay_value().in_bytes().get())
        });
        // 2 * 12304 + 672 bits of frames, 1000 bits of cable per Gb/s, and the quanta.
        assert_eq!(
            in_bytes,
            [(80, 11_405), (118, 15_712), (147, 18_818), (394, 40_876), (453, 57_152), (905, 111_080)]
        );
    }

    #[test]
    fn other_speeds_have_no_standard() {
        for (rate, medium) in
            [("20Gb/s", Medium::Optical), ("10.5Gb/s", Medium::Copper), ("40Gb/s", Medium::TwistedPair)]
        {
            let rate: Rate = rate.parse().expect("a rate");
            let error = HeadroomSpec::standard(rate, 1, medium, Bytes::new(1_518)).expect_err("no standard");
            assert!(error.to_string().contains(&format!("no standard delays are known for {rate} over")), "{error}");
        }
    }

    #[test]
    fn hardware_of_any_rate_has_the_delays_of_the_nearest() {
        let frame = Bytes::new(1_518);
        let of =
            |gigabits| HeadroomSpec::hardware_over(Rate::from_gigabits(gigabits), Span::ZERO, Medium::Optical, frame);
        let standard = HeadroomSpec::standard(Rate::from_gigabits(400), 0, Medium::Optical, frame).expect("a standard");
        assert_eq!(of(400), standard);
        for faster in [800, 1_600] {
            assert_eq!(of(faster).response_delay * 2, standard.response_delay);
        }
        assert_eq!(of(1).interface_delay, of(10).interface_delay);
        assert_eq!(of(20).response_delay, of(25).response_delay);
    }

    #[test]
    fn a_simulated_link_has_only_what_is_simulated() {
        let frame = Bytes::new(1_000);
        let rate = Rate::from_gigabits(40);
        let terms = headroom(&HeadroomSpec::simulated(rate, Span::from_micros(1), Span::ZERO, frame, frame));
        // 80 000 bits of cable, two frames of 8160 bits and the PFC frame.
        assert_eq!(terms.delay_value(), Bits(80_000 + 2 * 8_160 + 672));
        assert!(!terms.to_string().contains("interfaces"), "{terms}");
    }

    #[test]
    fn thresholds_and_buffers_are_inverse() {
        let terms = standard(10, Medium::Optical);
        let buffer = terms.buffer_for(Bytes::new(20_000));
        assert_eq!(buffer, Bytes::new(20_000 + 1_517 + 9_914));
        assert_eq!(terms.xoff_for(buffer), Some(Bytes::new(20_000)));
        assert_eq!(terms.xoff_for(terms.above_threshold()), Some(Bytes::ZERO));
        assert_eq!(terms.xoff_for(Bytes::new(11_430)), None);
    }

    #[test]
    fn parts_of_a_bit_count_as_a_bit() {
        assert_eq!(Bits::carried(Rate::from_gigabits(10), Span::from_picos(101)), Bits(2));
        assert_eq!(Bits(9).in_bytes(), Bytes::new(2));
    }
}
