//! Random streams named by seed, entity and purpose.
//!
//! A shared generator would tie every draw to all draws before it: one additional packet in one part of the network
//! would change all random draws elsewhere. Here each entity has its own stream for each purpose, so that draws of one
//! entity do not affect another. A stream is derived from its name alone, never from the clock, the system, the order
//! of creation or another stream, so there is no `split` and no `Default`.
//!
//! The generator is xoshiro256++ of Blackman and Vigna: 256 bits of state, period 2^256 - 1. The name is converted to
//! the state by three steps of SplitMix64's finaliser, a permutation of 64 bits, each applied to the sum of the
//! previous step's result and the next part of the name; a fourth step fills the last word. Every step is invertible,
//! so two names have the same state only if their purposes have the same FNV-1a hash.
//!
//! All of this is implemented here rather than taken from a library, so that no update of a dependency can change a
//! result. The test vectors are part of the contract: changing them changes every published run.

/// A random number generator that belongs to one entity and one purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    state: [u64; 4],
}

crate::encoded!(struct Stream { state });
crate::state!(struct Stream { plain: state; });

/// 2^64 divided by the golden ratio: odd, and without structure that matters here.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Outputs thrown away so that a difference in one word of the state has reached all of it.
const WARM_UP: usize = 8;

/// SplitMix64's finaliser: a permutation in which every input bit changes half of the output bits.
const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The FNV-1a hash of a purpose.
const fn hash(purpose: &str) -> u64 {
    let octets = purpose.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < octets.len() {
        hash = (hash ^ octets[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

impl Stream {
    /// Creates the stream of a run's `seed` for one entity (a flow, a port, a link) and one purpose (`"arrivals"`).
    ///
    /// The same name always yields the same stream; any other name yields an unrelated one.
    #[must_use]
    pub fn new(seed: u64, entity: u64, purpose: &str) -> Stream {
        let first = mix(seed.wrapping_add(GOLDEN));
        let second = mix(first.wrapping_add(entity));
        let third = mix(second.wrapping_add(hash(purpose)));
        // `mix` maps only zero to zero, so third and fourth are never both zero: the one state to avoid is avoided.
        let fourth = mix(third.wrapping_add(GOLDEN));
        let mut stream = Stream { state: [first, second, third, fourth] };
        for _ in 0..WARM_UP {
            stream.next_u64();
        }
        stream
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let output = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_four(mut stream: Stream) -> [u64; 4] {
        std::array::from_fn(|_| stream.next_u64())
    }

    #[test]
    fn a_stream_is_32_bytes() {
        assert_eq!(size_of::<Stream>(), 32);
    }

    #[test]
    fn the_generator_is_xoshiro256_plus_plus() {
        let stream = Stream { state: [1, 2, 3, 4] };
        assert_eq!(first_four(stream), [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn the_mixing_is_splitmix64_and_the_hash_fnv_1a() {
        assert_eq!(mix(GOLDEN), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0), 0);
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn frozen_streams() {
        assert_eq!(
            first_four(Stream::new(0, 0, "")),
            [0xd772_ba11_07e1_5a38, 0x5430_6758_bf0b_f04c, 0x9732_0280_b3f5_1ca9, 0x2eb3_c2a1_9b6f_7a79]
        );
        assert_eq!(
            first_four(Stream::new(1, 0, "arrivals")),
            [0xbf6e_621b_9e3f_0a8b, 0x36b3_70fa_9b79_eb3f, 0x5487_3b52_f1e1_b430, 0x95a2_0ddc_d1fa_a0f5]
        );
        assert_eq!(
            first_four(Stream::new(1, 1, "arrivals")),
            [0x1b52_06fc_e718_6083, 0xfb4d_dcdc_f2d1_8b8d, 0x8624_cc77_9b18_9ae0, 0xc423_3667_5a37_152d]
        );
        assert_eq!(
            first_four(Stream::new(u64::MAX, u64::MAX, "sizes")),
            [0xc92c_dbd8_8f7b_e43f, 0x0818_f734_1a42_5ad1, 0x1415_e4c3_c142_dc1a, 0x76d3_accc_b303_ffda]
        );
    }

    /// The share of equal bits in the first draws of two streams; a half, give or take, if they are unrelated.
    fn agreement(mut one: Stream, mut other: Stream) -> f64 {
        let draws = 4_000;
        let equal: u32 = (0..draws).map(|_| (one.next_u64() ^ other.next_u64()).count_zeros()).sum();
        f64::from(equal) / f64::from(draws * 64)
    }

    #[test]
    fn neighbouring_names_give_unrelated_streams() {
        // 256 000 bits: the standard deviation of the share is 0.001; five of them are allowed.
        for near in 0..64_u32 {
            let base = || Stream::new(7, 9, "marking");
            let others = [
                Stream::new(7 ^ (1 << near), 9, "marking"),
                Stream::new(7, 9 ^ (1 << near), "marking"),
                Stream::new(7, 9, &format!("marking{near}")),
                Stream::new(9 + u64::from(near), 7, "marking"),
            ];
            for other in others {
                let share = agreement(base(), other);
                assert!((share - 0.5).abs() < 0.005, "neighbour {near}: {share}");
            }
        }
    }

    #[test]
    fn first_draws_over_entities_are_uniform() {
        // One draw from each of 2^16 neighbouring streams, into 256 bins by its top byte and by its low byte.
        for shift in [56, 0] {
            let mut bins = [0_u32; 256];
            for entity in 0..1 << 16 {
                bins[(Stream::new(3, entity, "start").next_u64() >> shift) as usize & 255] += 1;
            }
            let chi_squared: f64 = bins.iter().map(|n| (f64::from(*n) - 256.0).powi(2) / 256.0).sum();
            // 255 degrees of freedom: mean 255, standard deviation 22.6.
            assert!((255.0 - 90.0..255.0 + 113.0).contains(&chi_squared), "{chi_squared}");
        }
    }

    #[test]
    fn serial_correlation_of_draws_is_small() {
        let mut stream = Stream::new(11, 0, "serial");
        let centred: Vec<f64> = (0..100_000).map(|_| stream.unit_f64() - 0.5).collect();
        for lag in 1..6 {
            let sum: f64 = centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum();
            // Each product has variance 1/144, so the sum of 100 000 has a standard deviation of 26.
            assert!(sum.abs() < 130.0, "lag {lag}: {sum}");
        }
    }
}
