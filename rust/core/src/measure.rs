//! What a rehearsal measures itself by.

use std::time::Duration;

/// Time that all threads of this process have had on the processor, in the kernel too: what is merged
/// in the background is part of what a page costs.
pub(crate) fn process_cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
