//! Rate limiting of log lines. A line says how many were left out before it.

use std::time::{Duration, Instant};

/// The minimum interval of lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// A rate limiter for one kind of log line.
#[derive(Debug, Default)]
pub(crate) struct LogThrottle {
    written: Option<Instant>,
    left_out: u64,
}

impl LogThrottle {
    /// The number of lines that were left out, if a line may be written now.
    pub(crate) fn permits(&mut self) -> Option<u64> {
        self.permits_at(Instant::now())
    }

    fn permits_at(&mut self, now: Instant) -> Option<u64> {
        let is_recent = |written: Instant| now.saturating_duration_since(written) < INTERVAL;
        if self.written.is_some_and(is_recent) {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        }
        self.written = Some(now);
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_few_and_say_how_many_were_left_out() {
        let (mut throttle, start) = (LogThrottle::default(), Instant::now());
        let mut check = |after: Duration, expected| {
            assert_eq!(throttle.permits_at(start + after), expected, "{after:?}");
        };
        check(Duration::ZERO, Some(0));
        check(Duration::ZERO, None);
        check(INTERVAL / 2, None);
        check(INTERVAL, Some(2));
        check(INTERVAL * 2, Some(0));
    }
}
