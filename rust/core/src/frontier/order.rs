//! Order: which URL of a host comes first.
//!
//! Takes what is known of a URL when it is queued; gives its band. A policy is a pure function, so
//! that a queue can be put in another order at any time by asking again. Seeds, and what stands at
//! their depth (where they redirect to, the sitemaps of their hosts), come first in every order.
//! A further order is a further value here, and what it must know of a URL a further field of
//! [`Traits`].

use super::queued::BANDS;

const LAST: u8 = BANDS - 1;

/// Bands for each of two groups.
const HALF: u8 = BANDS / 2;

/// What an order may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Links from a seed.
    pub depth: u16,
    /// The URL has a query.
    pub dynamic: bool,
    pub seed: bool,
}

/// The order of a host's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// What is near the seeds first.
    #[default]
    Breadth,
    /// What is far from the seeds first.
    Deep,
    /// In the order of coming.
    Arrival,
    /// URLs without a query first; with and without, what is near the seeds first.
    Static,
}

impl Order {
    pub const ALL: [Order; 4] = [Order::Breadth, Order::Deep, Order::Arrival, Order::Static];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Order::Breadth => "breadth",
            Order::Deep => "deep",
            Order::Arrival => "arrival",
            Order::Static => "static",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|order| order.as_str() == name)
    }

    /// The band of a URL: 0 is the best.
    #[must_use]
    pub fn band(self, of: Traits) -> u8 {
        if of.seed || of.depth == 0 {
            return 0;
        }
        let depth = u8::try_from(of.depth).unwrap_or(u8::MAX);
        match self {
            Order::Breadth => depth.min(LAST),
            Order::Deep => BANDS - depth.min(LAST),
            Order::Arrival => 1,
            Order::Static if of.dynamic => HALF + (depth - 1).min(HALF - 1),
            Order::Static => depth.min(HALF - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bands(order: Order, dynamic: bool) -> Vec<u8> {
        let depths = [0, 1, 2, 3, 4, 6, 7, 8, u16::MAX];
        let of = |depth| Traits {
            depth,
            dynamic,
            seed: false,
        };
        depths.map(|depth| order.band(of(depth))).to_vec()
    }

    #[test]
    fn each_order_has_its_bands() {
        for dynamic in [false, true] {
            assert_eq!(bands(Order::Breadth, dynamic), [0, 1, 2, 3, 4, 6, 7, 7, 7]);
            assert_eq!(bands(Order::Deep, dynamic), [0, 7, 6, 5, 4, 2, 1, 1, 1]);
            assert_eq!(bands(Order::Arrival, dynamic), [0, 1, 1, 1, 1, 1, 1, 1, 1]);
        }
        assert_eq!(bands(Order::Static, false), [0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(bands(Order::Static, true), [0, 4, 5, 6, 7, 7, 7, 7, 7]);
    }

    #[test]
    fn seeds_come_first_in_every_order() {
        for order in Order::ALL {
            for (depth, dynamic) in [(0, false), (0, true), (9, false), (9, true)] {
                let seed = Traits {
                    depth,
                    dynamic,
                    seed: true,
                };
                assert_eq!(order.band(seed), 0);
                let other = Traits {
                    seed: false,
                    ..seed
                };
                assert_eq!(order.band(other) == 0, depth == 0);
                assert!(order.band(other) < BANDS);
            }
            assert_eq!(Order::from_name(order.as_str()), Some(order));
        }
        assert_eq!(Order::from_name("none"), None);
    }
}
