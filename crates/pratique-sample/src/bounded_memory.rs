//! What is kept from one edit of a policy to the next, by a text of all that it depends on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by a key, of which those that nobody has asked for the longest are forgotten when they take too many bytes.
#[derive(Debug)]
pub struct BoundedMemory<T> {
    kept: Mutex<KeptValues<T>>,
    /// The most bytes of the values and keys.
    most_bytes: usize,
}

#[derive(Debug)]
struct KeptValues<T> {
    values: HashMap<String, KeptValue<T>>,
    bytes: usize,
    /// How often values were asked for.
    round: u64,
}

#[derive(Debug)]
struct KeptValue<T> {
    value: Arc<T>,
    bytes: usize,
    /// When it was asked for last.
    round: u64,
}

impl<T> BoundedMemory<T> {
    /// An empty one.
    pub fn new(most_bytes: usize) -> Self {
        BoundedMemory {
            kept: Mutex::new(KeptValues {
                values: HashMap::new(),
                bytes: 0,
                round: 0,
            }),
            most_bytes,
        }
    }

    /// The value of a key, if it is kept.
    pub fn recall(&self, key: &str) -> Option<Arc<T>> {
        self.with_kept(|kept| {
            kept.round += 1;
            let known = kept.values.get_mut(key)?;
            known.round = kept.round;
            Some(Arc::clone(&known.value))
        })
    }

    /// Keeps the value of a key, with about how many bytes it takes.
    pub fn keep(&self, key: String, value: Arc<T>, value_bytes: usize) {
        let bytes = key.len() + value_bytes;
        if bytes > self.most_bytes {
            return;
        }
        self.with_kept(|kept| {
            kept.forget(&key);
            while kept.bytes + bytes > self.most_bytes {
                let oldest = kept.values.iter().min_by_key(|(_, known)| known.round);
                let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                    return;
                };
                kept.forget(&oldest);
            }
            kept.bytes += bytes;
            let round = kept.round;
            kept.values.insert(key, KeptValue { value, bytes, round });
        });
    }

    fn with_kept<R>(&self, run: impl FnOnce(&mut KeptValues<T>) -> R) -> R {
        run(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> KeptValues<T> {
    fn forget(&mut self, key: &str) {
        self.bytes -= self.values.remove(key).map_or(0, |known| known.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        const EACH: usize = 100;
        let memory = BoundedMemory::new(10 * EACH);
        let keep = |key: usize| memory.keep(key.to_string(), Arc::new(key), EACH - key.to_string().len());
        for key in 0..30 {
            keep(key);
            assert_eq!(memory.recall("0").as_deref(), Some(&0), "{key}");
        }
        assert_eq!(memory.recall("29").as_deref(), Some(&29));
        assert!(memory.recall("1").is_none());
        let counts = || {
            memory.with_kept(|kept| {
                let bytes: usize = kept.values.values().map(|known| known.bytes).sum();
                assert_eq!(bytes, kept.bytes);
                (kept.values.len(), bytes)
            })
        };
        assert_eq!(counts(), (10, 10 * EACH));
        // A key has one value, and what is larger than all is not kept.
        keep(29);
        memory.keep("large".to_owned(), Arc::new(0), 11 * EACH);
        assert!(memory.recall("large").is_none());
        assert_eq!(counts(), (10, 10 * EACH));
        keep(1);
        assert!(memory.recall("1").is_some());
    }
}
