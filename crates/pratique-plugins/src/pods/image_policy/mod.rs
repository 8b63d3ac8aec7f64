//! ImagePolicyWebhook: a backend says which images may run.

mod configuration;
mod review;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pratique_core::Attributes;
use pratique_plugin::{
    Effects, Handler, ImageReviewAnswer, MissingState, Plugin, PluginContext, PluginFactory, Rejection,
};
use pratique_types::Operation;

use super::{has_pod, is_for_pods};
use crate::answer::{bad_request, forbidden};
use configuration::Configuration;
pub use configuration::ImagePolicyBackend;
use review::ImageReviewStatus;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("ImagePolicyWebhook", &[Operation::Create, Operation::Update]).validating(),
    make: |settings| {
        Ok(Box::new(ImagePolicyWebhook {
            configuration: configuration::read(settings)?,
            answers: Mutex::default(),
        }))
    },
};

// Upstream: plugin/pkg/admission/imagepolicy/admission.go
struct ImagePolicyWebhook {
    configuration: Configuration,
    /// Answers by what was asked, and until when they count.
    answers: Mutex<HashMap<String, (ImageReviewStatus, Duration)>>,
}

/// What keys of audit annotations begin with.
const AUDIT_PREFIX: &str = "imagepolicywebhook.image-policy.k8s.io/";

/// How many answers are kept.
const CAPACITY: usize = 1024;

/// The most bytes of a question and its answer that are kept: pods may have texts of megabytes.
const MOST_BYTES: usize = 64 << 10;

impl Plugin for ImagePolicyWebhook {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
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
        let answer = match self.known(&spec, context.now) {
            Some(answer) => answer,
            None => match self.ask(&spec, context) {
                Ok(answer) => answer,
                Err(Unanswered::Pending) => return Err(Rejection::Pending),
                Err(Unanswered::Unknown) => return Err(MissingState::ImageReview.into()),
                Err(Unanswered::Failed(error)) => return self.failed(attributes, effects, error),
            },
        };
        for (key, value) in &answer.audit_annotations {
            effects.annotate(format!("{AUDIT_PREFIX}{key}"), value.clone());
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
enum Unanswered {
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

    fn ask(&self, spec: &str, context: &PluginContext<'_>) -> Result<ImageReviewStatus, Unanswered> {
        let answer = match context.images.review(&review::review(spec)) {
            ImageReviewAnswer::Pending => return Err(Unanswered::Pending),
            ImageReviewAnswer::Unknown => return Err(Unanswered::Unknown),
            ImageReviewAnswer::Failed(error) => return Err(Unanswered::Failed(error)),
            ImageReviewAnswer::Answered(body) => {
                review::read_status(&body).map_err(|error| Unanswered::Failed(Rejection::Error(error)))?
            }
        };
        let lifetime = match answer.allowed {
            true => self.configuration.allow_ttl,
            false => self.configuration.deny_ttl,
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
    fn failed(
        &self,
        attributes: &Attributes<'_>,
        effects: &mut Effects,
        error: Rejection,
    ) -> Result<(), Rejection> {
        if self.configuration.default_allow {
            // What the reference writes to the pod besides is lost, because validation has a copy.
            effects.annotate(format!("{AUDIT_PREFIX}failed-open"), "true");
            return Ok(());
        }
        match error {
            Rejection::Denied(status) if status.reason == "Forbidden" => Err(Rejection::Denied(status)),
            other => Err(forbidden(attributes, other.to_string())),
        }
    }
}
