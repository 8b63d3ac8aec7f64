//! A limit to how many calls of an endpoint are under way at once.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::endpoint_map::EndpointMap;
use super::refused;
use crate::caller::{Answer, Call, CallErrorKind, Caller, Endpoint};

/// Bounds the concurrent calls of an endpoint: further calls wait, and fail if their time is up meanwhile.
pub struct LimitedCaller<C> {
    caller: C,
    most: usize,
    places: EndpointMap<Arc<Semaphore>>,
}

impl<C> LimitedCaller<C> {
    /// Lets that many calls of an endpoint be under way at once.
    pub fn new(caller: C, most: usize) -> Self {
        Self {
            caller,
            most: most.clamp(1, Semaphore::MAX_PERMITS),
            places: EndpointMap::new(),
        }
    }

    /// The wrapped caller.
    pub fn inner(&self) -> &C {
        &self.caller
    }
}

impl<C: Caller> Caller for LimitedCaller<C> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        Box::pin(async move {
            let places = self
                .places
                .entry(&call.endpoint, || Arc::new(Semaphore::new(self.most)));
            let place = places.acquire();
            let place = match call.deadline {
                Some(deadline) => timeout_at(Instant::from_std(deadline), place).await,
                None => Ok(place.await),
            };
            let _place = place.map_err(|_| {
                let message = format!("{} calls of it were under way all the time", self.most);
                refused(&message, CallErrorKind::Timeout)
            })?;
            self.caller.call(call).await
        })
    }

    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        self.places.retain(endpoints);
        self.caller.retain(endpoints);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::super::scripted::{Scripted, call};
    use super::*;

    fn limited() -> LimitedCaller<Scripted> {
        let scripted = Scripted {
            takes: Duration::from_secs(1),
            ..Scripted::default()
        };
        LimitedCaller::new(scripted, 2)
    }

    #[tokio::test(start_paused = true)]
    async fn calls_wait_for_a_place() {
        let limited = limited();
        let began = Instant::now();
        let one = || limited.call(call("a", Duration::from_secs(9)));
        let (a, b, c, d) = tokio::join!(one(), one(), one(), one());
        assert!(a.is_ok() && b.is_ok() && c.is_ok() && d.is_ok());
        assert_eq!(began.elapsed(), Duration::from_secs(2));
        assert_eq!(limited.inner().most_at_once.load(Ordering::Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn endpoints_have_places_of_their_own() {
        let limited = limited();
        let began = Instant::now();
        let one = |host: &str| limited.call(call(host, Duration::from_secs(9)));
        let (a, b, c, d) = tokio::join!(one("a"), one("a"), one("b"), one("b"));
        assert!(a.is_ok() && b.is_ok() && c.is_ok() && d.is_ok());
        assert_eq!(began.elapsed(), Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_do_not_wait_past_the_deadline() {
        let limited = limited();
        let long = || limited.call(call("a", Duration::from_secs(9)));
        let short = limited.call(call("a", Duration::from_millis(500)));
        let (_, _, short) = tokio::join!(long(), long(), short);
        let error = short.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Timeout);
        assert_eq!(
            error.message,
            "failed to call webhook: 2 calls of it were under way all the time"
        );
        assert_eq!(limited.inner().calls(), 2);
    }
}
