//! What clients may take of a server.

use std::time::Duration;

/// Bounds of what clients may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest body, in bytes: 32 MiB.
    ///
    /// What an API server sends is larger than what it takes: a review has the object and the old object, as JSON in which
    /// Go's encoder writes each `<`, `>`, `&` and control character in six bytes. Requests have up to 3 MiB
    /// (`MaxRequestBodyBytes`), and etcd stores up to 1.5 MiB (`--max-request-bytes`): 6 × 3 MiB + 6 × 1.5 MiB are 27 MiB,
    /// and options and the user come on top. A review that is refused for its size passes where the failure policy is
    /// `Ignore`, so that a lower bound lets requests past the policies.
    pub body: usize,
    /// How many bytes of memory all requests may take together, from the first byte of a body until the last byte of the
    /// answer is read, and audit events until they are written: 512 MiB. A quarter is for small requests only; one request
    /// may take all the rest. What the queue of an audit log may have is kept for it, up to half of all.
    pub memory: usize,
    /// The largest answer, in bytes: 64 MiB.
    pub answer: usize,
    /// How many requests are judged at a time: 256.
    pub requests: usize,
    /// How long a request waits where as many are evaluated as may be: 1 s. Those that arrive together then get their answers
    /// one after the other, instead of an error that a failure policy makes a decision of.
    pub turn: Duration,
    /// How many connections there may be: 1024. Past that, idle ones make room for new ones.
    pub connections: usize,
    /// How long a TLS handshake may take: 10 s.
    pub handshake: Duration,
    /// How long the head of a request may take, from the end of the one before: 60 s.
    pub head: Duration,
    /// How long the body of a request may take: 10 s.
    pub body_time: Duration,
    /// How long a client may take to read an answer: 30 s. Its connection is closed then.
    pub answer_time: Duration,
    /// How long judging takes where the client does not say: 10 s, the default of webhooks.
    pub time: Duration,
    /// How long judging may take at most: 30 s, the longest that webhooks can be given.
    pub longest: Duration,
}

impl Limits {
    /// How many bytes of memory one request may take: all but what is kept for small ones.
    pub(crate) fn request_memory(&self) -> usize {
        self.memory - self.memory / 4
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 32 << 20,
            memory: 512 << 20,
            answer: 64 << 20,
            requests: 256,
            turn: Duration::from_secs(1),
            connections: 1024,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(60),
            body_time: Duration::from_secs(10),
            answer_time: Duration::from_secs(30),
            time: Duration::from_secs(10),
            longest: Duration::from_secs(30),
        }
    }
}
