//! Asking the backend of ImagePolicyWebhook while a request waits.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_plugin::{ImageReviewAnswer, ImageReviewer, Rejection};

/// Calls the backend of ImagePolicyWebhook, possibly over the network.
pub trait ImageBackend: Send + Sync {
    /// Sends an ImageReview as JSON. Returns the body of a successful answer.
    ///
    /// # Errors
    /// The call failed: with an HTTP status, or with another error.
    fn review(&self, review: String) -> ImageReviewing<'_>;
}

/// The answer of a backend, on its way. It can be dropped at any time.
pub type ImageReviewing<'b> = Pin<Box<dyn Future<Output = Result<String, Rejection>> + Send + 'b>>;

/// The answers to the image reviews of one request, each sent once.
#[derive(Debug, Default)]
pub(crate) struct ImageAnswers {
    answers: Mutex<HashMap<String, ImageReviewAnswer>>,
    open: Mutex<Vec<String>>,
}

impl ImageAnswers {
    /// Sends the open questions; returns whether there were any.
    pub(crate) async fn ask(&self, backend: &dyn ImageBackend) -> bool {
        let open = std::mem::take(&mut *lock(&self.open));
        let any_open = !open.is_empty();
        for review in open {
            let answer = match backend.review(review.clone()).await {
                Ok(body) => ImageReviewAnswer::Answered(body),
                Err(rejection) => ImageReviewAnswer::Failed(rejection),
            };
            lock(&self.answers).insert(review, answer);
        }
        any_open
    }
}

impl ImageReviewer for ImageAnswers {
    fn review(&self, review: &str) -> ImageReviewAnswer {
        if let Some(answer) = lock(&self.answers).get(review) {
            return answer.clone();
        }
        let mut open = lock(&self.open);
        if !open.iter().any(|other| other == review) {
            open.push(review.to_owned());
        }
        ImageReviewAnswer::Pending
    }
}

/// The state is consistent even after a panic: entries are only added and taken.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
