//! The gate before a page: robots rules (RFC 9309), and what their absence means.

use super::host::RobotsKind;
use super::queued::Queued;
use super::{Frontier, Micros, damaged};
use crate::links::Score;
use crate::links::patterns::Placing;
use crate::outcome::Outcome;
use crate::store::state::{Reads, StateError};

/// What the gate says to a URL at the host's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Go,
    /// The rules must be fetched first.
    Fetch,
    Refuse(Outcome),
    /// It comes later, with this score.
    Low(Score),
    /// The rules cannot be had; not before this frontier time.
    Wait(Micros),
}

impl Frontier {
    pub(super) fn gate(
        &mut self,
        slot: u32,
        queued: &Queued<'_>,
        time: Micros,
        reads: &dyn Reads,
    ) -> Result<Gate, StateError> {
        let Some(host) = self.host(slot) else {
            return Ok(Gate::Fetch);
        };
        if self.filter.is_set() {
            let link = queued.link(&host.record.name, host.key);
            let link = link.ok_or_else(|| damaged("queue"))?;
            if let Some(outcome) = self.filter.refuses(&link, queued.known_kind()) {
                return Ok(Gate::Refuse(outcome));
            }
            match self.filter.placing(&link)? {
                Placing::Aside => return Ok(Gate::Refuse(Outcome::SetAside)),
                Placing::Low(score) if queued.score.band() < score.band() => {
                    return Ok(Gate::Low(score));
                }
                Placing::Low(_) | Placing::Waits | Placing::Usual => {}
            }
        }
        let https = queued.https();
        let (key, robots) = (host.key, host.record.robots[usize::from(https)]);
        if robots.kind == RobotsKind::Unknown || time >= robots.until_us() {
            return Ok(Gate::Fetch);
        }
        let settings = &self.settings;
        match robots.kind {
            RobotsKind::Unknown => Ok(Gate::Fetch),
            RobotsKind::AllowAll => Ok(Gate::Go),
            RobotsKind::Rules => {
                let room = settings.rules_in_ram;
                let allows =
                    self.rules
                        .allows(reads, key, https, robots.until, queued.path(), room)?;
                Ok(match allows {
                    Some(true) => Gate::Go,
                    Some(false) => Gate::Refuse(Outcome::RobotsRefused),
                    // Not in the store, or of another fetch: fetch rather than guess.
                    None => Gate::Fetch,
                })
            }
            RobotsKind::Unreachable => {
                if let Some(outcome) = robots.unanswered
                    && robots.tries >= settings.patience(outcome).tries
                {
                    return Ok(Gate::Refuse(super::robots::refusal(outcome)));
                }
                let lasted = time.saturating_sub(robots.since_us());
                Ok(if lasted >= settings.robots_give_up {
                    Gate::Refuse(Outcome::RobotsUnreachable)
                } else {
                    Gate::Wait(robots.until_us())
                })
            }
        }
    }
}
