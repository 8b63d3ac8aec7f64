//! Token buckets, the least recently used of which are dropped.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use super::configuration::{LimitType, RateLimit};

/// A bucket for each key.
pub(super) struct TokenBuckets {
    rate: f64,
    burst: f64,
    /// How many keys are kept.
    capacity: usize,
    buckets: HashMap<String, TokenBucket>,
    /// The keys by when they were used last.
    used: BTreeMap<u64, String>,
    uses: u64,
    /// Of keys that are too long to be kept.
    hashers: [RandomState; 2],
}

/// The longest key that is kept: the texts of events may have megabytes.
const LONGEST_KEY: usize = 512;

struct TokenBucket {
    tokens: f64,
    last: Option<Duration>,
    used: u64,
}

impl TokenBuckets {
    pub(super) fn new(limit: &RateLimit) -> Self {
        TokenBuckets {
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
            hashers: [RandomState::new(), RandomState::new()],
        }
    }

    /// A key that may be kept.
    fn short<'k>(&self, key: &'k str) -> Cow<'k, str> {
        if key.len() <= LONGEST_KEY {
            return Cow::Borrowed(key);
        }
        let [first, second] = self.hashers.each_ref().map(|hasher| hasher.hash_one(key));
        Cow::Owned(format!("{first:016x}{second:016x} of {}", key.len()))
    }

    /// Takes a token from the bucket of a key; false where there is none.
    // Upstream: golang.org/x/time/rate/rate.go, Limiter.reserveN
    pub(super) fn take(&mut self, key: &str, now: Duration) -> bool {
        let (rate, burst) = (self.rate, self.burst);
        let key = self.short(key);
        let bucket = self.bucket(&key);
        let last = bucket.last.map_or(now, |last| last.min(now));
        let elapsed = now.saturating_sub(last).as_secs_f64();
        let tokens = (bucket.tokens + elapsed * rate).min(burst) - 1.0;
        // A token that will be there in less than a nanosecond counts.
        let is_there = tokens >= 0.0 || -tokens / rate * 1e9 < 1.0;
        if is_there {
            bucket.tokens = tokens;
            bucket.last = Some(now);
        }
        is_there
    }

    fn bucket(&mut self, key: &str) -> &mut TokenBucket {
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
        let bucket = self.buckets.entry(key.to_owned()).or_insert(TokenBucket {
            tokens: burst,
            last: None,
            used,
        });
        bucket.used = used;
        bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_are_distinguished_and_not_kept() {
        let limit = RateLimit {
            limit_type: LimitType::SourceAndObject,
            qps: 1,
            burst: 1,
            cache_size: 0,
        };
        let mut buckets = TokenBuckets::new(&limit);
        let key = |end: &str| "k".repeat(1 << 16) + end;
        assert!(buckets.take(&key("a"), Duration::ZERO) && buckets.take(&key("b"), Duration::ZERO));
        assert!(!buckets.take(&key("a"), Duration::ZERO));
        assert!(buckets.buckets.keys().all(|key| key.len() < LONGEST_KEY));
    }
}
