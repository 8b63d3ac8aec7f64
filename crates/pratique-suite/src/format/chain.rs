//! The fields about the whole chain of an API server: its plugins, and what webhooks answer.

use super::{OPERATIONS, TEXTS, optional, required};
use crate::plugin_outcome::PluginOutcome;
use crate::shape::{Field, Shape, Struct};

/// What `chain` is.
pub(super) const CHAIN: Shape = Shape::BoolOr(&Shape::Struct(&CHAIN_SETTINGS));

/// Which kinds of objects are all there are.
pub(super) const COMPLETE: Shape = Shape::BoolOr(&TEXTS);

/// What became of a request in admission plugins.
pub(super) const PLUGIN_OUTCOMES: Shape = Shape::Map(&Shape::OneOf(PluginOutcome::NAMES));

/// Paths that something changes, by its name.
pub(super) const CHANGES: Shape = Shape::Map(&TEXTS);

/// Amounts by resource, by quota.
pub(super) const QUOTAS: Shape = Shape::Map(&Shape::Map(&Shape::Scalar));

static CHAIN_SETTINGS: Struct = Struct {
    name: "Chain",
    about: "The admission plugins that are built into kube-apiserver, by its flags.",
    fields: &[
        optional(
            "enableAdmissionPlugins",
            TEXTS,
            "Plugins that are on besides those that are on by default. Without it, those that the AdmissionConfiguration \
             configures are taken to be on.",
        ),
        optional(
            "disableAdmissionPlugins",
            TEXTS,
            "Plugins that are off although they are on by default.",
        ),
        optional(
            "defaultNotReadyTolerationSeconds",
            Shape::Integer,
            "How long Pods stay on a node that is not ready, if they do not say it; 300 by default.",
        ),
        optional(
            "defaultUnreachableTolerationSeconds",
            Shape::Integer,
            "How long Pods stay on a node that cannot be reached, if they do not say it; 300 by default.",
        ),
    ],
};

const LISTED: Shape = Shape::List(&Shape::Struct(&WEBHOOK));

/// The answers of webhooks.
pub(super) const WEBHOOKS: Field = optional(
    "webhooks",
    LISTED,
    "What webhooks answer, by their names: the first entry that fits a call counts. They are matched, ordered and called \
     again as an API server does; a request for which one is called that has no entry is undecided.",
);

static WEBHOOK: Struct = Struct {
    name: "Webhook",
    about: "What a webhook answers. It allows the request, unless something else is said.",
    fields: &[
        required(
            "name",
            Shape::Text,
            "The name of the webhook in its configuration, such as sidecars.example.com.",
        ),
        optional(
            "objects",
            TEXTS,
            "The objects for which it answers so, as NAME, KIND/NAME or KIND/NAMESPACE/NAME; all by default.",
        ),
        optional(
            "operations",
            Shape::List(&OPERATIONS),
            "The operations for which it answers so; all by default.",
        ),
        optional(
            "allowed",
            Shape::Bool,
            "Whether it allows the request; true by default.",
        ),
        optional("code", Shape::Integer, "The HTTP code of a denial."),
        optional("reason", Shape::Text, "The reason of a denial."),
        optional("message", Shape::Text, "The message of a denial."),
        optional(
            "patch",
            Shape::List(&Shape::Object),
            "A JSON Patch of the object, sent as it is.",
        ),
        optional(
            "merge",
            Shape::Object,
            "A JSON merge patch of the object: the webhook sends what it changes in the object that it is shown.",
        ),
        optional("warnings", TEXTS, "Warnings for the user."),
        optional(
            "auditAnnotations",
            Shape::Map(&Shape::Text),
            "Audit annotations; the server puts the name of the webhook before their keys.",
        ),
        optional(
            "error",
            Shape::Text,
            "Why the call fails, such as `connection refused`, instead of an answer.",
        ),
        optional(
            "timeout",
            Shape::Bool,
            "Whether there is no answer in time, instead of an answer.",
        ),
    ],
};
