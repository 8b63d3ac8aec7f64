//! How long a thread works.

use std::time::Duration;

/// The time for which the current thread has worked since a moment. What waits for a processor does not work: a turn that
/// others interrupt costs them no more than one that nobody does.
#[derive(Debug)]
pub(super) struct WorkTime(StartMoment);

#[cfg(unix)]
type StartMoment = Duration;
#[cfg(not(unix))]
type StartMoment = std::time::Instant;

#[cfg(unix)]
impl WorkTime {
    pub(super) fn start() -> Self {
        WorkTime(processor_time())
    }

    pub(super) fn elapsed(&self) -> Duration {
        processor_time().saturating_sub(self.0)
    }
}

/// Where systems do not tell what a thread worked, it is the time that passes.
#[cfg(not(unix))]
impl WorkTime {
    pub(super) fn start() -> Self {
        WorkTime(StartMoment::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(unix)]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    // Neither part is ever negative.
    clock_gettime(ClockId::ThreadCPUTime)
        .try_into()
        .unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_work() {
        let pause = Duration::from_millis(50);
        let time = WorkTime::start();
        std::thread::sleep(pause);
        assert!(time.elapsed() < pause);
        let mut worked = 0u64;
        while time.elapsed() < pause {
            worked += 1;
        }
        assert!(worked > 0);
    }
}
