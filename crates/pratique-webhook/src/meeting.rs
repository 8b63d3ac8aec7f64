//! Which webhooks a request is to be sent to.

use pratique_exclusion::{Phase, intercepts};
use pratique_expression::Missing;
use pratique_match::{MatchError, Matched, Target};
use pratique_types::AdmissionRequest;

use crate::configurations::Webhooks;
use crate::surroundings::{Attributes, Surroundings};
use crate::webhook::Webhook;

/// The webhooks of an origin that a request may meet, with their positions among all of the origin; none where the
/// origin may not intercept it.
pub(crate) fn candidates<'h>(
    webhooks: &'h Webhooks,
    attributes: Attributes<'_>,
    surroundings: &Surroundings<'_>,
) -> Vec<(usize, &'h Webhook)> {
    let request = attributes.request;
    let phase = Phase::Webhook {
        excludes_virtual: surroundings.excludes_virtual,
    };
    if webhooks.all.is_empty() || !intercepts(phase, webhooks.origin, &request.resource, &request.kind) {
        return Vec::new();
    }
    let target = target(attributes, &request.name);
    let found = webhooks.index.candidates(&target, surroundings.equivalents);
    let found = found.into_iter().map(|at| at as usize);
    found
        .filter_map(|at| Some((at, &**webhooks.all.get(at)?)))
        .collect()
}

/// Why it cannot be told whether a request meets a webhook.
pub(crate) enum Unmet {
    Error(MatchError),
    /// It depends on what was not given.
    Undecided(Missing),
}

/// What a request meets a webhook as, going by its rules and selectors.
pub(crate) fn meets<'r>(
    webhook: &Webhook,
    attributes: Attributes<'r>,
    name: &'r str,
    surroundings: &Surroundings<'r>,
) -> Result<Option<Matched<'r>>, Unmet> {
    let target = Target {
        types_objects: surroundings.types_objects,
        ..target(attributes, name)
    };
    let constraints = &webhook.constraints;
    let matched = constraints.matches(&target, surroundings.equivalents, surroundings.namespaces);
    matched.map_err(|error| match error {
        MatchError::UnknownLabels { name, selector } => {
            Unmet::Undecided(Missing::NamespaceLabels { name, selector })
        }
        error => Unmet::Error(error),
    })
}

/// The name of a request's object. By the time of validation one that is to be generated is in the object.
pub(crate) fn given_name<'r>(request: &'r AdmissionRequest<'r>, attributes: Attributes<'r>) -> &'r str {
    let given = attributes.object.at(&["metadata", "name"]);
    match request.name.as_str() {
        "" => given.and_then(pratique_json::Value::as_str).unwrap_or_default(),
        name => name,
    }
}

fn target<'r>(attributes: Attributes<'r>, name: &'r str) -> Target<'r> {
    Target {
        name,
        object: attributes.object,
        ..Target::new(attributes.request)
    }
}
