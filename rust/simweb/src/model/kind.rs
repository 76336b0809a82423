//! What a page does when it is asked for.

use super::hash::Purpose;
use super::{Model, Node, Place, links};

/// How a request can go wrong, once or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Only the first request; the next ones are served.
    Once,
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redirect {
    /// Stops between the page and the end; 0 to 3.
    pub stops: u8,
    /// Where it ends; the page itself in a loop.
    pub target: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Redirect(Redirect),
    /// 500.
    Error(Times),
    /// The connection is reset: before the first byte, or in the middle of the body.
    Reset {
        times: Times,
        midway: bool,
    },
    /// 429 or 503 once, with `Retry-After` or without.
    Throttle {
        status: u16,
        wait: Wait,
    },
    Duplicate {
        of: u64,
    },
    NearDuplicate {
        of: u64,
    },
}

/// What a throttling answer says about waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Unsaid,
    Seconds,
    Date,
}

/// Robots hints in the page or its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    pub in_header: bool,
    /// The agent named: all, the crawler `gossamer`, or one that is nobody here.
    pub agent: Agent,
    /// The words as written.
    pub words: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Any,
    Gossamer,
    Other,
}

/// The spellings of hints; what they mean is said in the reference.
pub const HINT_WORDS: [&str; 6] = [
    "noindex",
    "nofollow",
    "noindex,nofollow",
    "none",
    "NOINDEX, FOLLOW",
    "index, NoFollow",
];

impl Model {
    /// What a page does when it is asked for. Pages that hold the web together are plain.
    #[must_use]
    pub fn kind(&self, place: Place) -> Kind {
        let options = &self.options;
        let any = options.redirects
            + options.errors
            + options.resets
            + options.throttle
            + options.duplicates
            + options.near_duplicates;
        if any == 0.0 || self.is_structural(place) || self.is_orphan(place) {
            return Kind::Plain;
        }
        let host = self.hosts.content(place.host);
        let roll = self.draw(Purpose::Kind, host, place.page).unit();
        if roll >= any {
            return Kind::Plain;
        }
        let mut draw = self.draw(Purpose::KindDetail, host, place.page);
        let times = |bit: u64| {
            if bit & 1 == 0 {
                Times::Once
            } else {
                Times::Always
            }
        };
        let mut edge = options.redirects;
        if roll < edge {
            return Kind::Redirect(self.redirect(place));
        }
        edge += options.errors;
        if roll < edge {
            return Kind::Error(times(draw.bits()));
        }
        edge += options.resets;
        if roll < edge {
            return Kind::Reset {
                times: times(draw.bits()),
                midway: draw.bits() & 1 == 1,
            };
        }
        edge += options.throttle;
        if roll < edge {
            let wait = match draw.below(3) {
                0 => Wait::Unsaid,
                1 => Wait::Seconds,
                _ => Wait::Date,
            };
            return Kind::Throttle {
                status: if draw.bits() & 1 == 0 { 429 } else { 503 },
                wait,
            };
        }
        // Originals are pages that hold the web together: always plain, always reachable.
        let stems = (self.linked_pages(place.host) - 1)
            .div_ceil(links::BRANCH)
            .max(1);
        let of = self.draw(Purpose::Original, host, place.page).below(stems);
        edge += options.duplicates;
        if roll < edge {
            Kind::Duplicate { of }
        } else {
            Kind::NearDuplicate { of }
        }
    }

    fn redirect(&self, place: Place) -> Redirect {
        let host = self.hosts.content(place.host);
        let mut draw = self.draw(Purpose::KindDetail, host, place.page);
        let stops = draw.below(4) as u8;
        let roll = draw.unit();
        let target = if roll < 0.15 {
            place
        } else if roll < 0.4 {
            let other = draw.below(u64::from(self.hosts.count())) as u32;
            Place {
                host: other,
                page: draw.below(self.linked_pages(other)),
            }
        } else {
            Place {
                host: place.host,
                page: draw.below(self.linked_pages(place.host)),
            }
        };
        Redirect { stops, target }
    }

    /// Where a redirecting page or stop leads: the next node.
    #[must_use]
    pub fn next_stop(&self, place: Place, redirect: Redirect, stop: u8) -> Node {
        if stop < redirect.stops {
            Node::Hop(place, stop + 1)
        } else {
            Node::Page(redirect.target)
        }
    }

    /// The status of a redirect answer.
    #[must_use]
    pub fn redirect_status(&self, place: Place, stop: u8) -> u16 {
        let host = self.hosts.content(place.host);
        let roll = self.draw(Purpose::Style, host, place.page).bits() >> (stop * 3);
        [301, 302, 303, 307, 308][(roll % 5) as usize]
    }

    /// The robots hint of a page, by the page whose bytes it shows.
    #[must_use]
    pub fn hint(&self, original: Place) -> Option<Hint> {
        if self.options.meta_robots == 0.0 || self.is_structural(original) {
            return None;
        }
        let host = self.hosts.content(original.host);
        let mut draw = self.draw(Purpose::Meta, host, original.page);
        if !draw.chance(self.options.meta_robots) {
            return None;
        }
        let agent = match draw.below(4) {
            0 | 1 => Agent::Any,
            2 => Agent::Gossamer,
            _ => Agent::Other,
        };
        Some(Hint {
            in_header: draw.bits() & 1 == 0,
            agent,
            words: HINT_WORDS[draw.below(HINT_WORDS.len() as u64) as usize],
        })
    }

    /// How long the host takes to begin an answer, in microseconds.
    #[must_use]
    pub fn latency_us(&self, host: u32) -> u64 {
        use crate::options::Latency;
        let mut draw = self.draw(Purpose::Latency, host, 0);
        let ms = match self.options.latency {
            None => return 0,
            Some(Latency::Constant { ms }) => ms,
            Some(Latency::Uniform { low_ms, high_ms }) => low_ms + draw.unit() * (high_ms - low_ms),
            Some(Latency::Exponential { mean_ms }) => -mean_ms * (1.0 - draw.unit()).ln(),
            Some(Latency::Lognormal { median_ms, sigma }) => {
                median_ms * (sigma * draw.normal()).exp()
            }
        };
        (ms.min(600_000.0) * 1000.0) as u64
    }

    /// The host sends its bodies slowly. Never the first host, so that a crawl can begin.
    #[must_use]
    pub fn drips(&self, host: u32) -> bool {
        host > 0 && self.draw(Purpose::Drip, host, 0).chance(self.options.drip)
    }
}
