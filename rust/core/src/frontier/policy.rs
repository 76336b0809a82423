//! What a host policy decides: how many pages, how often, how soon, and why.

use super::{Frontier, Micros};
use crate::codec::{Reader, put_bytes, put_number};
use crate::links::cut;
use crate::store::state::{Reads, StateError};

/// Weights are cut to this and to one over it: a policy can slow a host down, not starve it.
pub const HEAVIEST: f32 = 16.0;

/// Bytes kept of a reason.
const REASON_BYTES: usize = 256;

/// A decision about a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPolicy {
    /// Pages that may be visited in all; what is queued beyond that stays queued, and does not
    /// keep a crawl from ending. `None`: no limit but that of the settings.
    pub budget: Option<u32>,
    /// Its share among hosts that are due; 1 is usual.
    pub weight: f32,
    /// The least time between two visits, besides what else asks for one.
    pub delay: Micros,
    /// For people; shown by `why`.
    pub reason: Box<str>,
}

impl Default for HostPolicy {
    fn default() -> HostPolicy {
        HostPolicy {
            budget: None,
            weight: 1.0,
            delay: 0,
            reason: "".into(),
        }
    }
}

impl HostPolicy {
    /// The weight, as far as it counts.
    #[must_use]
    pub fn weight(&self) -> f32 {
        if self.weight.is_nan() {
            return 1.0;
        }
        self.weight.clamp(1.0 / HEAVIEST, HEAVIEST)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.budget.is_some()));
        put_number(out, u64::from(self.budget.unwrap_or(0)));
        out.extend_from_slice(&self.weight.to_bits().to_be_bytes());
        put_number(out, self.delay);
        put_bytes(out, cut(&self.reason, REASON_BYTES).as_bytes());
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<HostPolicy> {
        let (has_budget, budget) = (reader.byte()? != 0, reader.small()?);
        let weight = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
        Some(HostPolicy {
            budget: has_budget.then_some(budget),
            weight: f32::from_bits(weight),
            delay: reader.number()?,
            reason: std::str::from_utf8(reader.bytes()?).ok()?.into(),
        })
    }
}

impl Frontier {
    /// Takes a policy's decision about a host; `None` takes it back. False: the host is not known.
    pub fn set_policy(
        &mut self,
        key: u64,
        policy: Option<HostPolicy>,
        reads: &dyn Reads,
    ) -> Result<bool, StateError> {
        self.change(key, reads, |record| {
            record.policy = policy.map(|mut policy| {
                policy.reason = cut(&policy.reason, REASON_BYTES).into();
                Box::new(policy)
            });
        })
    }
}
