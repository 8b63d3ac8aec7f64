//! ImagePolicyWebhook: a backend decides which images may run.

mod configuration;
mod review;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pratique_core::Attributes;
use pratique_plugin::{
    Effects, ImageReviewAnswer, MissingState, PluginContext, PluginSettings, Rejection, StartError,
};

use super::{has_pod, is_for_pods};
use crate::answer::{bad_request, forbidden};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use configuration::ImageConfiguration;
pub use configuration::ImagePolicyBackend;
use pratique_schema::Release;
use review::ImageReviewStatus;

// Upstream: plugin/pkg/admission/imagepolicy/admission.go
pub(crate) struct ImagePolicyWebhook {
    configuration: ImageConfiguration,
    release: &'static Release,
    /// The answers by the specs of their reviews, with their times of expiry.
    answers: Mutex<HashMap<String, (ImageReviewStatus, Duration)>>,
}

impl ImagePolicyWebhook {
    pub(crate) fn read(settings: &PluginSettings<'_>) -> Result<Self, StartError> {
        Ok(ImagePolicyWebhook {
            configuration: configuration::read(settings)?,
            release: settings.feature_gates.release(),
            answers: Mutex::default(),
        })
    }
}

/// The prefix of keys of audit annotations.
const AUDIT_PREFIX: &str = "imagepolicywebhook.image-policy.k8s.io/";

/// How many answers are kept.
const CAPACITY: usize = 1024;

/// The most bytes of a question and its answer that are kept: pods may have texts of megabytes.
const MOST_BYTES: usize = 64 << 10;

impl BuiltInPlugin for ImagePolicyWebhook {
    fn validate(&self, attributes: &Attributes<'_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        if !is_for_pods(request) || !matches!(request.sub_resource.as_str(), "" | "ephemeralcontainers") {
            return Ok(());
        }
        if !has_pod(attributes) {
            return Err(bad_request(
                "Resource was marked with kind Pod but was unable to be converted",
            ));
        }
        let spec = review::spec(attributes);
        let answer = match self.known(&spec, call.now) {
            Some(answer) => answer,
            None => match self.ask(&spec, call) {
                Ok(answer) => answer,
                Err(MissingAnswer::Pending) => return Err(Rejection::Pending),
                Err(MissingAnswer::Unknown) => return Err(MissingState::ImageReview.into()),
                Err(MissingAnswer::Failed(error)) => return self.failed(attributes, call.effects, error),
            },
        };
        for (key, value) in &answer.audit_annotations {
            call.effects
                .annotate(format!("{AUDIT_PREFIX}{key}"), value.clone());
        }
        match (answer.allowed, answer.reason.as_str()) {
            (true, _) => Ok(()),
            (false, "") => Err(forbidden(
                attributes,
                "one or more images rejected by webhook backend",
            )),
            (false, reason) => {
                let error = format!("image policy webhook backend denied one or more images: {reason}");
                Err(forbidden(attributes, error))
            }
        }
    }
}

/// Why there is no answer.
enum MissingAnswer {
    Pending,
    Unknown,
    Failed(Rejection),
}

impl ImagePolicyWebhook {
    /// The answer to the same question, if it still counts.
    fn known(&self, spec: &str, now: Duration) -> Option<ImageReviewStatus> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let (answer, until) = answers.get(spec)?;
        (now < *until).then(|| answer.clone())
    }

    fn ask(&self, spec: &str, context: &PluginContext<'_>) -> Result<ImageReviewStatus, MissingAnswer> {
        let answer = match context.images.review(&review::review(spec)) {
            ImageReviewAnswer::Pending => return Err(MissingAnswer::Pending),
            ImageReviewAnswer::Unknown => return Err(MissingAnswer::Unknown),
            ImageReviewAnswer::Failed(error) => return Err(MissingAnswer::Failed(error)),
            ImageReviewAnswer::Answered(body) => review::read_status(&body, self.release)
                .map_err(|error| MissingAnswer::Failed(Rejection::Error(error)))?,
        };
        let lifetime = if answer.allowed {
            self.configuration.allow_ttl
        } else {
            self.configuration.deny_ttl
        };
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= CAPACITY {
            let now = context.now;
            answers.retain(|_, (_, until)| now < *until);
        }
        if answers.len() < CAPACITY && spec.len() + answer.size() <= MOST_BYTES {
            let until = context.now.saturating_add(lifetime);
            answers.insert(spec.to_owned(), (answer.clone(), until));
        }
        Ok(answer)
    }

    // Upstream: plugin/pkg/admission/imagepolicy/admission.go, webhookError
    fn failed(&self, attributes: &Attributes<'_>, effects: &mut Effects, error: Rejection) -> PluginAnswer {
        if self.configuration.default_allow {
            // The reference writes to the pod as well, which has no effect, because validation has a copy.
            effects.annotate(format!("{AUDIT_PREFIX}failed-open"), "true");
            return Ok(());
        }
        match error {
            Rejection::Denied(status) if status.reason == "Forbidden" => Err(Rejection::Denied(status)),
            other => Err(forbidden(attributes, other.to_string())),
        }
    }
}
