//! EventRateLimit: a rate limit of events.

mod bucket;
mod configuration;

use std::sync::{Mutex, PoisonError};

use pratique_core::Attributes;
use pratique_plugin::{PluginSettings, StartError};
use pratique_types::{Reason, Status};

use crate::answer::aggregate;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{is_kind, text};
use bucket::TokenBuckets;
use configuration::{LimitType, limits};

// Upstream: plugin/pkg/admission/eventratelimit/admission.go
pub(crate) struct EventRateLimit {
    limits: Vec<(LimitType, Mutex<TokenBuckets>)>,
}

impl EventRateLimit {
    pub(crate) fn read(settings: &PluginSettings<'_>) -> Result<Self, StartError> {
        let limits = limits(settings)?.into_iter();
        let limits = limits.map(|limit| (limit.limit_type, Mutex::new(TokenBuckets::new(&limit))));
        Ok(EventRateLimit {
            limits: limits.collect(),
        })
    }
}

impl BuiltInPlugin for EventRateLimit {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        if !request.kind.is_core("Event") || request.dry_run == Some(true) {
            return Ok(());
        }
        let mut errors = Vec::new();
        for (limit_type, buckets) in &self.limits {
            let key = key(*limit_type, attributes);
            let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
            if !buckets.take(&key, context.now) {
                let limit_type = limit_type.name();
                errors.push(format!("limit reached on type {limit_type} for key {key}"));
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            let message = format!("Too many requests: {}", aggregate(&errors));
            Err(Status::failure(Reason::TooManyRequests, message).into())
        }
    }
}

// Upstream: plugin/pkg/admission/eventratelimit/limitenforcer.go
fn key(limit_type: LimitType, attributes: &Attributes<'_>) -> String {
    let request = attributes.request;
    let event = attributes.object;
    match limit_type {
        LimitType::Server => String::new(),
        LimitType::Namespace => request.namespace.clone(),
        LimitType::User => request.user_info.username.clone(),
        LimitType::SourceAndObject if !is_kind(event, "", "Event") => String::new(),
        LimitType::SourceAndObject => {
            // Without a separator, as in the reference: different sources may share a key.
            let parts: [&[&str]; 7] = [
                &["source", "component"],
                &["source", "host"],
                &["involvedObject", "kind"],
                &["involvedObject", "namespace"],
                &["involvedObject", "name"],
                &["involvedObject", "uid"],
                &["involvedObject", "apiVersion"],
            ];
            parts.iter().map(|path| text(event, path)).collect()
        }
    }
}
