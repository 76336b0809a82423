//! Splittable hashing: a draw for every (seed, host, page, purpose), independent of all others.

/// What a draw decides; each purpose has its own stream.
#[derive(Debug, Clone, Copy)]
#[repr(u64)]
pub enum Purpose {
    Shape = 1,
    Words,
    LinkCount,
    Links,
    Size,
    Text,
    Kind,
    KindDetail,
    Original,
    Robots,
    RobotsDetail,
    Meta,
    Sitemap,
    Mirror,
    Latency,
    Drip,
    Address,
    Trap,
    Rate,
    Change,
    Validator,
    Charset,
    Encoding,
    Style,
    Dead,
    Pool,
}

/// A stream of draws.
#[derive(Debug, Clone, Copy)]
pub struct Draw(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Draw {
    #[inline]
    #[must_use]
    pub fn new(seed: u64, purpose: Purpose, host: u64, page: u64) -> Draw {
        let a = mix(seed.wrapping_add((purpose as u64).wrapping_mul(GOLDEN)));
        let b = mix(a ^ host.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Draw(mix(b ^ page.wrapping_mul(0xa076_1d64_78bd_642f)))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number in `0..bound`; 0 for an empty range.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with that probability.
    #[inline]
    pub fn chance(&mut self, rate: f64) -> bool {
        self.unit() < rate
    }

    /// A standard normal draw (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A rank in `0..count` with probability about proportional to (rank+1)^-exponent:
    /// the inverse of the continuous distribution function. The exponent is 1 - 1/`inverse`, so
    /// that a whole power does, which is fast and the same on every machine.
    #[inline]
    pub fn power_law(&mut self, count: u64, reach: f64, inverse: i32) -> u64 {
        let x = (reach * self.unit() + 1.0).powi(inverse);
        (x as u64).clamp(1, count.max(1)) - 1
    }
}

/// The constant that `power_law` needs for that many ranks.
#[must_use]
pub fn reach(count: u64, inverse: i32) -> f64 {
    ((count + 1) as f64).powf(1.0 / f64::from(inverse)) - 1.0
}
