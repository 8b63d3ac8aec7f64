//! The measurements of a load.

use std::fmt;
use std::time::Duration;

use pratique_harness::ToolError;

/// Times of requests, and what went wrong.
#[derive(Clone, Debug, Default)]
pub struct MeasuredRequests {
    /// Of each request, in the end sorted.
    times: Vec<Duration>,
    errors: Vec<String>,
    elapsed: Duration,
}

impl MeasuredRequests {
    /// A request was answered.
    pub fn answered(&mut self, took: Duration) {
        self.times.push(took);
    }

    /// A request was not answered as it should have been.
    pub fn failed(&mut self, why: String) {
        self.errors.push(why);
    }

    /// All together, within this time.
    pub fn merge(all: Vec<MeasuredRequests>, elapsed: Duration) -> Self {
        let mut whole = MeasuredRequests {
            elapsed,
            ..MeasuredRequests::default()
        };
        for one in all {
            whole.times.extend(one.times);
            whole.errors.extend(one.errors);
        }
        whole.times.sort_unstable();
        whole
    }

    /// How many requests were answered.
    pub fn answers(&self) -> usize {
        self.times.len()
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.errors.iter().map(String::as_str)
    }

    /// An error if anything went wrong: the first one.
    pub fn flawless(&self) -> Result<(), ToolError> {
        match self.errors.first() {
            None if self.times.is_empty() => Err("nothing was answered".into()),
            None => Ok(()),
            Some(first) => Err(format!("{} errors, such as: {first}\n{self}", self.errors.len()).into()),
        }
    }

    /// How many requests were answered in a second.
    #[expect(clippy::cast_precision_loss, reason = "requests are few enough")]
    pub fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// The time that this part of all requests took at most.
    pub fn percentile(&self, part: f64) -> Duration {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "requests are few enough"
        )]
        let index = (self.times.len() as f64 * part) as usize;
        let last = self.times.len().saturating_sub(1);
        self.times.get(index.min(last)).copied().unwrap_or_default()
    }
}

impl fmt::Display for MeasuredRequests {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, p999, most] = [0.5, 0.99, 0.999, 1.0].map(|part| self.percentile(part));
        write!(
            formatter,
            "{} requests in {:.1?}, {:.0} a second, p50 {p50:.2?}, p99 {p99:.2?}, p99.9 {p999:.2?}, most {most:.2?}, {} errors",
            self.times.len(),
            self.elapsed,
            self.rate(),
            self.errors.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_all() {
        let mut parts = vec![MeasuredRequests::default(), MeasuredRequests::default()];
        for (index, millis) in (1..=100).rev().enumerate() {
            if let Some(part) = parts.get_mut(index % 2) {
                part.answered(Duration::from_millis(millis));
            }
        }
        let whole = MeasuredRequests::merge(parts, Duration::from_secs(1));
        let check = |part, millis| assert_eq!(whole.percentile(part), Duration::from_millis(millis));
        check(0.0, 1);
        check(0.5, 51);
        check(0.99, 100);
        check(1.0, 100);
        assert!(whole.flawless().is_ok());
        assert!(MeasuredRequests::default().flawless().is_err());
    }
}
