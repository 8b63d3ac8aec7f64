//! The types that all API groups share.

use super::{Field, Package, Struct, TEXT, Type, omitted, optional, within, written};

const fn shared(name: &'static str, fields: &'static [Field]) -> Struct {
    Struct {
        name,
        package: Package::Meta,
        fields,
    }
}

/// `kind` and `apiVersion`, as every object embeds them.
pub(super) const KIND: Field = within(omitted("kind", TEXT), &["TypeMeta"]);
pub(super) const API_VERSION: Field = within(omitted("apiVersion", TEXT), &["TypeMeta"]);
pub(super) const METADATA: Field = written("metadata", Type::Struct(&OBJECT_META));
pub(super) const LIST_METADATA: Field = written("metadata", Type::Struct(&LIST_META));

/// Nothing but `kind` and `apiVersion`.
pub(crate) static TYPE_META_ONLY: Struct = shared("TypeMeta", &[KIND, API_VERSION]);

/// An event of a watch, which is no object.
pub(crate) static WATCH_EVENT: Struct = shared(
    "WatchEvent",
    &[written("type", TEXT), optional("object", Type::Raw)],
);

/// A list of any kinds.
pub(crate) static LIST: Struct = shared(
    "List",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Any)),
    ],
);

pub(super) static OBJECT_META: Struct = shared(
    "ObjectMeta",
    &[
        omitted("name", TEXT),
        omitted("generateName", TEXT),
        omitted("namespace", TEXT),
        omitted("selfLink", TEXT),
        omitted("uid", Type::Text("types.UID")),
        omitted("resourceVersion", TEXT),
        omitted("generation", Type::Int64),
        omitted("creationTimestamp", Type::Time),
        omitted("deletionTimestamp", Type::Time),
        optional("deletionGracePeriodSeconds", Type::Int64),
        omitted("labels", Type::Map),
        omitted("annotations", Type::Map),
        omitted("ownerReferences", Type::List(&Type::Struct(&OWNER_REFERENCE))),
        omitted("finalizers", Type::List(&TEXT)),
        omitted("managedFields", Type::List(&Type::Struct(&MANAGED_FIELDS_ENTRY))),
    ],
);

static LIST_META: Struct = shared(
    "ListMeta",
    &[
        omitted("selfLink", TEXT),
        omitted("resourceVersion", TEXT),
        omitted("continue", TEXT),
        optional("remainingItemCount", Type::Int64),
        optional("shardInfo", Type::Struct(&SHARD_INFO)),
    ],
);

static SHARD_INFO: Struct = shared("ShardInfo", &[written("selector", TEXT)]);

static OWNER_REFERENCE: Struct = shared(
    "OwnerReference",
    &[
        written("apiVersion", TEXT),
        written("kind", TEXT),
        written("name", TEXT),
        written("uid", Type::Text("types.UID")),
        optional("controller", Type::Bool),
        optional("blockOwnerDeletion", Type::Bool),
    ],
);

static MANAGED_FIELDS_ENTRY: Struct = shared(
    "ManagedFieldsEntry",
    &[
        omitted("manager", TEXT),
        omitted("operation", Type::Text("v1.ManagedFieldsOperationType")),
        omitted("apiVersion", TEXT),
        omitted("time", Type::Time),
        omitted("fieldsType", TEXT),
        optional("fieldsV1", Type::Raw),
        omitted("subresource", TEXT),
    ],
);

pub(super) static LABEL_SELECTOR: Struct = shared(
    "LabelSelector",
    &[
        omitted("matchLabels", Type::Map),
        omitted(
            "matchExpressions",
            Type::List(&Type::Struct(&LABEL_SELECTOR_REQUIREMENT)),
        ),
    ],
);

static LABEL_SELECTOR_REQUIREMENT: Struct = shared(
    "LabelSelectorRequirement",
    &[
        written("key", TEXT),
        written("operator", Type::Text("v1.LabelSelectorOperator")),
        omitted("values", Type::List(&TEXT)),
    ],
);

pub(super) static CONDITION: Struct = shared(
    "Condition",
    &[
        written("type", TEXT),
        written("status", Type::Text("v1.ConditionStatus")),
        omitted("observedGeneration", Type::Int64),
        written("lastTransitionTime", Type::Time),
        written("reason", TEXT),
        written("message", TEXT),
    ],
);
