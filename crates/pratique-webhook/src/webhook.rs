//! A compiled webhook of either phase: when and where it is called, and its failure policy.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_core::FailurePolicy;
use pratique_expression::{Cache, Composition, Declarations, Expression, ExpressionError, ExpressionPurpose};
use pratique_match::MatchResources;

use crate::endpoint::ServiceLocation;

/// A compiled webhook.
#[derive(Debug)]
pub(crate) struct CompiledWebhook {
    pub(crate) name: Arc<str>,
    pub(crate) configuration: Arc<str>,
    pub(crate) constraints: MatchResources,
    pub(crate) conditions: Vec<CompiledCondition>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) location: ServiceLocation,
    pub(crate) side_effects: SideEffects,
    pub(crate) timeout: Option<Duration>,
    pub(crate) version: Option<ReviewVersion>,
    /// How it is reinvoked; `None` for a validating webhook.
    pub(crate) reinvocable: Option<ReinvocableWebhook>,
}

/// How a mutating webhook is reinvoked.
#[derive(Debug)]
pub(crate) struct ReinvocableWebhook {
    /// Unique among the webhooks of one origin: `configuration/name/n`, where n counts those of one name from 0.
    pub(crate) uid: Arc<str>,
    /// Whether it is called again when others change the object after it.
    pub(crate) if_needed: bool,
}

/// A compiled expression, or why it does not compile.
pub(crate) type CompiledCondition = Result<Arc<Expression>, ExpressionError>;

/// Whether a webhook may be called for a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideEffects {
    /// It has none in a dry run.
    NoneOnDryRun,
    /// It may have some.
    Some,
    /// The configuration does not set it.
    Unset,
}

/// The version of the reviews that a webhook reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewVersion {
    V1,
    V1Beta1,
}

/// The fields that mutating and validating webhooks share.
pub(crate) struct WebhookFields<'w> {
    pub(crate) name: &'w str,
    pub(crate) client_config: &'w api::WebhookClientConfig,
    pub(crate) rules: Option<&'w [api::RuleWithOperations]>,
    pub(crate) match_policy: Option<&'w str>,
    pub(crate) namespace_selector: Option<&'w LabelSelector>,
    pub(crate) object_selector: Option<&'w LabelSelector>,
    pub(crate) conditions: Option<&'w [api::MatchCondition]>,
    pub(crate) failure_policy: Option<&'w str>,
    pub(crate) side_effects: &'w str,
    pub(crate) timeout_seconds: Option<i32>,
    pub(crate) review_versions: &'w [String],
}

impl CompiledWebhook {
    pub(crate) fn compile(configuration: Arc<str>, fields: &WebhookFields<'_>, cache: &Cache) -> Self {
        let composition = Composition::new(cache);
        let declarations = Declarations {
            authorizer: true,
            ..Declarations::default()
        };
        let conditions = fields.conditions.unwrap_or_default().iter();
        let conditions = conditions.map(|condition| {
            composition.compile(
                &condition.expression,
                ExpressionPurpose::MatchCondition,
                declarations,
            )
        });
        let versions = fields.review_versions.iter();
        CompiledWebhook {
            name: fields.name.into(),
            configuration,
            constraints: MatchResources::of_webhook(
                fields.rules.unwrap_or_default(),
                fields.match_policy,
                fields.namespace_selector,
                fields.object_selector,
            ),
            conditions: conditions.collect(),
            failure_policy: FailurePolicy::parse(fields.failure_policy),
            location: ServiceLocation::compile(fields.name, fields.client_config),
            side_effects: match fields.side_effects {
                "" => SideEffects::Unset,
                "None" | "NoneOnDryRun" => SideEffects::NoneOnDryRun,
                _ => SideEffects::Some,
            },
            timeout: fields
                .timeout_seconds
                .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or_default())),
            version: versions
                .filter_map(|version| ReviewVersion::parse(version))
                .next(),
            reinvocable: None,
        }
    }
}

impl ReviewVersion {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "v1" => Some(ReviewVersion::V1),
            "v1beta1" => Some(ReviewVersion::V1Beta1),
            _ => None,
        }
    }

    /// Its name, as in `admissionReviewVersions`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "v1",
            ReviewVersion::V1Beta1 => "v1beta1",
        }
    }
}
