//! The time limits of one fetch: one timer for all phases.
//!
//! Each wait runs under the limit of its phase and under the total. The timer is made when a wait
//! first has to wait, and moved only when a limit comes nearer, so that a fetch whose data is
//! there costs no timer at all.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// What a fetch is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Dns,
    Connect,
    Tls,
    FirstByte,
    Stall,
    Total,
}

impl Phase {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Phase::Dns => "time limit of the name look-up",
            Phase::Connect => "time limit of the connection",
            Phase::Tls => "time limit of the TLS handshake",
            Phase::FirstByte => "time limit of the first byte",
            Phase::Stall => "time limit of a stall",
            Phase::Total => "time limit of the whole fetch",
        }
    }
}

#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    total_at: Instant,
    phase: Phase,
    phase_at: Instant,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Clock {
    pub(super) fn new(total: Duration) -> Self {
        let started = Instant::now();
        Clock {
            started,
            total_at: started + total,
            phase: Phase::Total,
            phase_at: started + total,
            sleep: None,
        }
    }

    /// Microseconds since the fetch began.
    pub(super) fn elapsed(&self) -> u64 {
        micros(self.started.elapsed())
    }

    /// Starts a phase: the waits that follow end when `limit` has passed from now.
    pub(super) fn phase(&mut self, phase: Phase, limit: Duration) {
        self.phase = phase;
        self.phase_at = Instant::now() + limit;
    }

    /// What is left of the phase.
    pub(super) fn left(&self) -> Duration {
        self.phase_at
            .min(self.total_at)
            .saturating_duration_since(Instant::now())
    }

    /// Runs a wait under the limits; `Err` names the limit that was reached.
    pub(super) async fn run<F: Future>(&mut self, future: F) -> Result<F::Output, Phase> {
        let (deadline, phase) = if self.total_at <= self.phase_at {
            (self.total_at, Phase::Total)
        } else {
            (self.phase_at, self.phase)
        };
        // Data that is always there must not outrun the total.
        if self.total_at <= Instant::now() {
            return Err(Phase::Total);
        }
        let mut future = pin!(future);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            let sleep = self
                .sleep
                .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
            if sleep.deadline() > deadline {
                sleep.as_mut().reset(deadline);
            }
            while sleep.as_mut().poll(context).is_ready() {
                if Instant::now() >= deadline {
                    return Poll::Ready(Err(phase));
                }
                sleep.as_mut().reset(deadline);
            }
            Poll::Pending
        })
        .await
    }
}

/// A duration in whole microseconds.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[tokio::test(start_paused = true)]
    async fn each_phase_and_the_total_end_a_wait() {
        let mut clock = Clock::new(Duration::from_secs(10));
        clock.phase(Phase::Connect, Duration::from_secs(4));
        let begun = Instant::now();
        assert_eq!(clock.run(pending::<()>()).await, Err(Phase::Connect));
        assert_eq!(begun.elapsed().as_secs(), 4);
        // A later limit moves the timer that has fired; data in time moves it again.
        clock.phase(Phase::Stall, Duration::from_secs(3));
        assert_eq!(
            clock.run(tokio::time::sleep(Duration::from_secs(2))).await,
            Ok(())
        );
        clock.phase(Phase::Stall, Duration::from_secs(3));
        assert_eq!(clock.run(pending::<()>()).await, Err(Phase::Stall));
        assert_eq!(begun.elapsed().as_secs(), 9);
        clock.phase(Phase::Stall, Duration::from_secs(3));
        assert_eq!(clock.run(pending::<()>()).await, Err(Phase::Total));
        assert_eq!(begun.elapsed().as_secs(), 10);
        assert_eq!(clock.run(std::future::ready(1)).await, Err(Phase::Total));
    }
}
