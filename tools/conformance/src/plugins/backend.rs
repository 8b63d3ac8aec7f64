//! The image policy backend of a case.

use pratique_plugin::{ImageReviewAnswer, ImageReviewer, Rejection};
use pratique_types::Status;
use serde_json::Value;

/// A backend with the same answer to every review.
pub(super) struct FixedBackend<'c> {
    script: &'c Value,
}

impl<'c> FixedBackend<'c> {
    pub(super) fn new(case: &'c Value) -> Self {
        FixedBackend {
            script: &case["backend"],
        }
    }
}

impl ImageReviewer for FixedBackend<'_> {
    fn review(&self, _: &str) -> ImageReviewAnswer {
        if self.script.is_null() {
            return ImageReviewAnswer::Unknown;
        }
        if self.script["down"] == true {
            let error = "Post \"$BACKEND/?timeout=30s\": dial tcp $HOST: connect: connection refused";
            return ImageReviewAnswer::Failed(Rejection::error(error));
        }
        let status = self.script["status"].as_i64().filter(|status| *status != 0);
        let body = match &self.script["body"] {
            Value::Null => self.script["text"].as_str().unwrap_or_default().to_owned(),
            body => body.to_string(),
        };
        match status.unwrap_or(200) {
            200..300 => ImageReviewAnswer::Answered(body),
            code => ImageReviewAnswer::Failed(failure(code, &body)),
        }
    }
}

/// The error of a client: the status in the body, or one that the client makes itself.
fn failure(code: i64, body: &str) -> Rejection {
    let answered: Option<Status> = serde_json::from_str(body).ok();
    let answered = answered.filter(|status| status.status == "Failure");
    let status = answered.unwrap_or_else(|| Status {
        message: format!(
            "the server responded with the status code {code} but did not return more information"
        ),
        code: i32::try_from(code).unwrap_or_default(),
        ..Status::default()
    });
    status.into()
}
