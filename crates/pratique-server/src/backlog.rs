//! The requests that are read before their evaluation.
//!
//! A request that is read takes several times its size: the buffers of its connection, the body, the state of its handling. To read
//! more of them than are evaluated soon gains nothing. So connections between two requests have the next one read in the order of
//! their arrival, as many at a time as keep all processors busy; the others stay with the system.

use std::fmt;
use std::future::Future;
use std::num::NonZero;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::connections::{ActiveReview, TrackedConnection};

/// The number of places for each processor: so many that none waits for a request to be read, which takes less than an evaluation.
const PER_PROCESSOR: usize = 32;
/// How long a request keeps its place while its body is read: others need not wait for a slow client.
pub(crate) const SLOW_BODY: Duration = Duration::from_millis(20);

/// The places for requests that are read and not yet evaluated.
#[derive(Debug)]
pub(crate) struct RequestBacklog {
    places: Arc<Semaphore>,
    /// How long a request waits at most: it is read then all the same.
    most: Duration,
}

/// The place of a request, until it is dropped.
#[derive(Debug)]
pub(crate) struct BacklogPlace {
    /// How long the request waited.
    pub(crate) waited: Duration,
    _permit: Option<OwnedSemaphorePermit>,
}

/// Waits for the place of a request. Meanwhile, its connection is not idle.
pub(crate) struct PendingPlace {
    place: Pin<Box<dyn Future<Output = BacklogPlace> + Send>>,
    _active: ActiveReview,
}

/// The place that a connection has for its next request.
#[derive(Debug, Default)]
pub(crate) struct HeldPlace(Mutex<Option<BacklogPlace>>);

impl RequestBacklog {
    pub(crate) fn new(most: Duration) -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        RequestBacklog {
            places: Arc::new(Semaphore::new(PER_PROCESSOR * processors)),
            most,
        }
    }

    /// The place of a request that has arrived on a connection.
    ///
    /// # Errors
    /// None is free: it waits for one.
    pub(crate) fn enter(&self, connection: &Arc<TrackedConnection>) -> Result<BacklogPlace, PendingPlace> {
        match self.places.clone().try_acquire_owned() {
            Ok(permit) => Ok(BacklogPlace {
                waited: Duration::ZERO,
                _permit: Some(permit),
            }),
            Err(_) => Err(PendingPlace {
                place: Box::pin(self.wait()),
                _active: connection.start_review(),
            }),
        }
    }

    fn wait(&self) -> impl Future<Output = BacklogPlace> + Send + use<> {
        let (places, most, since) = (self.places.clone(), self.most, Instant::now());
        async move {
            let permit = timeout(most, places.acquire_owned()).await;
            BacklogPlace {
                waited: since.elapsed(),
                _permit: permit.ok().and_then(Result::ok),
            }
        }
    }
}

impl Future for PendingPlace {
    type Output = BacklogPlace;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<BacklogPlace> {
        self.place.as_mut().poll(context)
    }
}

impl fmt::Debug for PendingPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PendingPlace").finish_non_exhaustive()
    }
}

impl HeldPlace {
    /// Holds a place until the request takes it.
    pub(crate) fn hold(&self, place: BacklogPlace) {
        *self.lock() = Some(place);
    }

    /// Takes the place.
    pub(crate) fn take(&self) -> Option<BacklogPlace> {
        self.lock().take()
    }

    /// Gives the place up, if it was not taken.
    pub(crate) fn leave(&self) {
        drop(self.take());
    }

    fn lock(&self) -> MutexGuard<'_, Option<BacklogPlace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn places_are_taken_in_turn() {
        let most = Duration::from_secs(1);
        let backlog = RequestBacklog {
            places: Arc::new(Semaphore::new(1)),
            most,
        };
        let connection = Arc::new(TrackedConnection::unregistered(1));
        let first = backlog.enter(&connection).unwrap();
        // It waits no longer than that for a place, and is read then without one.
        let late = backlog.enter(&connection).unwrap_err().await;
        assert!(late._permit.is_none());
        let second = tokio::spawn(backlog.enter(&connection).unwrap_err());
        tokio::task::yield_now().await;
        connection.backlog.hold(first);
        assert!(!second.is_finished());
        connection.backlog.leave();
        let second = second.await.unwrap();
        assert!(second._permit.is_some() && connection.backlog.take().is_none());
    }
}
