//! The image policy backend of a case.

use pratique_plugin::{ImageReviewAnswer, ImageReviewer};
use serde_json::Value;

/// What the backend answers to every review.
pub(super) struct Backend<'c> {
    script: &'c Value,
}

impl<'c> Backend<'c> {
    pub(super) fn of(case: &'c Value) -> Self {
        Backend {
            script: &case["backend"],
        }
    }
}

impl ImageReviewer for Backend<'_> {
    fn review(&self, _: &str) -> ImageReviewAnswer {
        if self.script.is_null() {
            return ImageReviewAnswer::Unknown;
        }
        if self.script["down"] == true {
            let error = "Post \"$BACKEND/?timeout=30s\": dial tcp $HOST: connect: connection refused";
            return ImageReviewAnswer::Failed(error.to_owned());
        }
        let status = self.script["status"].as_u64().filter(|status| *status != 0);
        let body = match &self.script["body"] {
            Value::Null => self.script["text"].as_str().unwrap_or_default().to_owned(),
            body => body.to_string(),
        };
        ImageReviewAnswer::Answered {
            status: status
                .and_then(|status| u16::try_from(status).ok())
                .unwrap_or(200),
            body,
        }
    }
}
