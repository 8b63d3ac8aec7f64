//! A webhook of either kind, compiled: when it is called, where, and what its failures mean.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_expression::{Cache, Composition, Declarations, Expression, ExpressionError, Use};
use pratique_match::MatchResources;

use crate::endpoint::Location;

/// A compiled webhook.
#[derive(Debug)]
pub(crate) struct Webhook {
    pub(crate) name: String,
    pub(crate) configuration: Arc<str>,
    pub(crate) constraints: MatchResources,
    pub(crate) conditions: Vec<Compiled>,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) location: Location,
    pub(crate) side_effects: SideEffects,
    pub(crate) timeout: Option<Duration>,
    pub(crate) version: Option<ReviewVersion>,
}

/// A compiled expression, or why it is none.
pub(crate) type Compiled = Result<Arc<Expression>, ExpressionError>;

/// What a failure to call leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailurePolicy {
    Fail,
    Ignore,
    /// One that no API server accepts: calls fail, match conditions do not.
    Unknown,
}

/// Whether a webhook may be called for a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideEffects {
    /// It has none then.
    NoneOnDryRun,
    /// It may have some.
    Some,
    /// Nobody said.
    Unset,
}

/// The version in which a webhook is asked and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewVersion {
    V1,
    V1Beta1,
}

/// The parts of a webhook that both kinds have.
pub(crate) struct Parts<'w> {
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

impl Webhook {
    pub(crate) fn compile(configuration: Arc<str>, parts: &Parts<'_>, cache: &Cache) -> Self {
        let composition = Composition::new(cache);
        let declarations = Declarations {
            authorizer: true,
            ..Declarations::default()
        };
        let conditions = parts.conditions.unwrap_or_default().iter();
        let conditions = conditions
            .map(|condition| composition.compile(&condition.expression, Use::MatchCondition, declarations));
        let versions = parts.review_versions.iter();
        Webhook {
            name: parts.name.to_owned(),
            configuration,
            constraints: MatchResources::of_webhook(
                parts.rules.unwrap_or_default(),
                parts.match_policy,
                parts.namespace_selector,
                parts.object_selector,
            ),
            conditions: conditions.collect(),
            failure_policy: match parts.failure_policy {
                None | Some("Fail") => FailurePolicy::Fail,
                Some("Ignore") => FailurePolicy::Ignore,
                Some(_) => FailurePolicy::Unknown,
            },
            location: Location::compile(parts.name, parts.client_config),
            side_effects: match parts.side_effects {
                "" => SideEffects::Unset,
                "None" | "NoneOnDryRun" => SideEffects::NoneOnDryRun,
                _ => SideEffects::Some,
            },
            timeout: parts
                .timeout_seconds
                .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or_default())),
            version: versions.filter_map(|version| ReviewVersion::of(version)).next(),
        }
    }

    /// Whether failures to call it are ignored.
    pub(crate) fn ignores_failures(&self) -> bool {
        self.failure_policy == FailurePolicy::Ignore
    }
}

impl ReviewVersion {
    fn of(name: &str) -> Option<Self> {
        match name {
            "v1" => Some(ReviewVersion::V1),
            "v1beta1" => Some(ReviewVersion::V1Beta1),
            _ => None,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "v1",
            ReviewVersion::V1Beta1 => "v1beta1",
        }
    }
}
