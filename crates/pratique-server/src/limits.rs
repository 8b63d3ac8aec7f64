//! Bounds on what clients may use.

use std::time::Duration;

/// Bounds on what clients may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of a request body, in bytes; 32 MiB by default.
    ///
    /// An API server sends more than it receives: a review has the object and the old object, as JSON in which Go's encoder
    /// writes each `<`, `>`, `&` and control character as six bytes. Requests have up to 3 MiB (`MaxRequestBodyBytes`), and
    /// etcd stores up to 1.5 MiB (`--max-request-bytes`): 6 × 3 MiB + 6 × 1.5 MiB are 27 MiB, and the options and the user
    /// come on top. With the failure policy `Ignore`, a review that is refused for its size is allowed, so that with a lower
    /// bound, requests bypass the policies.
    pub body: usize,
    /// The maximum memory of all requests, in bytes, from the first byte of a body until the last byte of the response is
    /// read, and of audit events until they are written; 512 MiB by default. A quarter is reserved for small requests; one
    /// request may use all the rest. The queue of the audit log is part of it, with at most a half.
    pub memory: usize,
    /// The maximum size of a response, in bytes; 64 MiB by default.
    pub response: usize,
    /// The maximum number of concurrent evaluations; 256 by default.
    pub requests: usize,
    /// How long a request waits for its evaluation if the maximum is reached; 1 s by default. Requests of a burst are then
    /// evaluated one after the other, instead of getting an error, for which the failure policy would decide.
    pub queue_timeout: Duration,
    /// The maximum number of connections; 1024 by default. Past it, idle ones are evicted.
    pub connections: usize,
    /// The timeout of a TLS handshake; 10 s by default.
    pub handshake_timeout: Duration,
    /// The timeout for the head of a request, from the end of the previous one; 60 s by default.
    pub head_timeout: Duration,
    /// The timeout for the body of a request; 10 s by default.
    pub body_timeout: Duration,
    /// The timeout for reading a response, after which the connection is closed; 30 s by default.
    pub response_timeout: Duration,
    /// The timeout of an evaluation if the client gives none; 10 s by default, as of webhooks.
    pub default_timeout: Duration,
    /// The maximum timeout of an evaluation; 30 s by default, as of webhooks.
    pub max_timeout: Duration,
}

impl Limits {
    /// The maximum memory of one request, in bytes: all but what is reserved for small ones.
    pub(crate) fn request_memory(&self) -> usize {
        self.memory - self.memory / 4
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 32 << 20,
            memory: 512 << 20,
            response: 64 << 20,
            requests: 256,
            queue_timeout: Duration::from_secs(1),
            connections: 1024,
            handshake_timeout: Duration::from_secs(10),
            head_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(10),
            response_timeout: Duration::from_secs(30),
            default_timeout: Duration::from_secs(10),
            max_timeout: Duration::from_secs(30),
        }
    }
}
