//! Token buckets, the least recently used of which are forgotten.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::configuration::{Limit, LimitType};

/// A bucket for each key.
pub(super) struct Buckets {
    rate: f64,
    burst: f64,
    /// How many keys are kept.
    capacity: usize,
    buckets: HashMap<String, Bucket>,
    /// The keys by when they were used last.
    used: BTreeMap<u64, String>,
    uses: u64,
}

struct Bucket {
    tokens: f64,
    last: Option<Duration>,
    used: u64,
}

impl Buckets {
    pub(super) fn new(limit: &Limit) -> Self {
        Buckets {
            rate: limit.qps as f64,
            burst: limit.burst as f64,
            capacity: match (limit.limit_type, limit.cache_size) {
                (LimitType::Server, _) => 1,
                (_, 0) => 4096,
                (_, size) => usize::try_from(size).unwrap_or(usize::MAX),
            },
            buckets: HashMap::new(),
            used: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Takes a token from the bucket of a key; false where there is none.
    // Upstream: golang.org/x/time/rate/rate.go, Limiter.reserveN
    pub(super) fn take(&mut self, key: &str, now: Duration) -> bool {
        let (rate, burst) = (self.rate, self.burst);
        let bucket = self.bucket(key);
        let last = bucket.last.map_or(now, |last| last.min(now));
        let elapsed = now.saturating_sub(last).as_secs_f64();
        let tokens = (bucket.tokens + elapsed * rate).min(burst) - 1.0;
        // What is missing by less than a nanosecond is there.
        let is_there = tokens >= 0.0 || -tokens / rate * 1e9 < 1.0;
        if is_there {
            bucket.tokens = tokens;
            bucket.last = Some(now);
        }
        is_there
    }

    fn bucket(&mut self, key: &str) -> &mut Bucket {
        self.uses += 1;
        let used = self.uses;
        if let Some(bucket) = self.buckets.get(key) {
            self.used.remove(&bucket.used);
        } else if self.buckets.len() >= self.capacity
            && let Some((_, oldest)) = self.used.pop_first()
        {
            self.buckets.remove(&oldest);
        }
        self.used.insert(used, key.to_owned());
        let burst = self.burst;
        let bucket = self.buckets.entry(key.to_owned()).or_insert(Bucket {
            tokens: burst,
            last: None,
            used,
        });
        bucket.used = used;
        bucket
    }
}
