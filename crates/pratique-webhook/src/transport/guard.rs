//! Protection against webhooks that fail or are slow. The reference has none of it, so none of it is on unless a
//! [`Caller`](crate::Caller) is wrapped in it.
//!
//! A call that is refused here fails like any other, only at once: the webhook's failure policy decides. State is kept
//! by endpoint: webhooks with the same endpoint share it.

mod breaker;
mod budget;
mod call_limit;
mod endpoint_map;

pub use breaker::Breaker;
pub use budget::Budget;
pub use call_limit::LimitedCaller;

use std::time::Duration;

use crate::caller::{CallError, CallErrorKind};

/// A practically unlimited time that can still be added to an instant.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

fn refused(message: &str, kind: CallErrorKind) -> CallError {
    CallError {
        message: format!("failed to call webhook: {message}"),
        kind,
    }
}

/// Callers whose answers tests script.
#[cfg(test)]
mod scripted {
    use std::collections::VecDeque;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use bytes::Bytes;
    use tokio::time::{Instant, sleep};

    use super::refused;
    use crate::caller::{Answer, Call, CallErrorKind, Caller, Endpoint};

    /// Answers after a while, with what was set down, and then always well.
    #[derive(Default)]
    pub(super) struct Scripted {
        pub(super) answers: Mutex<VecDeque<Result<(), CallErrorKind>>>,
        pub(super) takes: Duration,
        pub(super) calls: AtomicUsize,
        pub(super) at_once: AtomicUsize,
        pub(super) most_at_once: AtomicUsize,
    }

    impl Caller for Scripted {
        fn call<'a>(&'a self, _: Call) -> Answer<'a> {
            Box::pin(async {
                self.calls.fetch_add(1, Ordering::Relaxed);
                let at_once = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
                self.most_at_once.fetch_max(at_once, Ordering::Relaxed);
                sleep(self.takes).await;
                self.at_once.fetch_sub(1, Ordering::Relaxed);
                let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Ok(()));
                answer
                    .map(|()| Bytes::from_static(b"{}"))
                    .map_err(|kind| refused("no", kind))
            })
        }
    }

    impl Scripted {
        pub(super) fn calls(&self) -> usize {
            self.calls.load(Ordering::Relaxed)
        }
    }

    pub(super) fn call(host: &str, within: Duration) -> Call {
        let endpoint = Endpoint {
            url: format!("https://{host}/x"),
            server_name: None,
            ca_bundle: None,
        };
        Call {
            webhook: "x.example.com".into(),
            endpoint: Arc::new(endpoint),
            address: None,
            body: Bytes::new(),
            timeout: None,
            deadline: Some((Instant::now() + within).into_std()),
            is_shortened: false,
            memory: Arc::default(),
        }
    }
}
