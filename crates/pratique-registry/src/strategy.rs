//! The strategy of a kind's storage: how objects are prepared before they are validated and stored.

use pratique_json::Value;
use pratique_schema::{FeatureGates, Release};
use pratique_types::{GroupVersionKind, UserInfo};

use crate::Placeholders;
use crate::edited_object::EditedObject;
use crate::gated_fields::{FieldDropper, GatedFields};
use crate::object::{self, FieldPath};
use crate::strategies::drop_disabled;

/// The strategy of a kind: data where that suffices, functions for the rest.
///
/// A kind's strategy is the `strategy.go` of its package under `pkg/registry` of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceStrategy {
    /// The group of the kind; empty for the core group.
    pub(crate) group: &'static str,
    /// The kind.
    pub(crate) kind: &'static str,
    /// Whether `status` is emptied when an object is created, and kept when it is updated.
    pub(crate) status: StatusHandling,
    /// The fields whose changes count generations.
    pub(crate) generation: GenerationRule,
    /// Whether an update of an object that does not exist creates it.
    pub(crate) creates_on_update: bool,
    /// Whether an update needs no `resourceVersion`.
    pub(crate) unconditional: bool,
    /// Versions in which it needs none though it does in others.
    pub(crate) unconditional_versions: &'static [&'static str],
    /// The fields that a request cannot set.
    pub(crate) reset: &'static [FieldPath<'static>],
    /// The fields behind feature gates that are off.
    pub(crate) gated: &'static [GatedField],
    /// A further change of objects that are created.
    pub(crate) create: CreateFunction,
    /// A further change of objects that are updated.
    pub(crate) update: UpdateFunction,
    /// Changes before both, such as the allocation of addresses.
    pub(crate) begin: Option<(CreateFunction, UpdateFunction)>,
    /// The change after both.
    pub(crate) canonicalize: CanonicalizeFunction,
    /// How `status` is updated through its own endpoint; `None` where there is none.
    pub(crate) status_endpoint: Option<PartEndpoint>,
    /// Further endpoints that update parts of an object, by subresource.
    pub(crate) endpoints: &'static [(&'static str, PartEndpoint)],
}

/// How creating and updating treat `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusHandling {
    /// The kind has none, or leaves it as it is.
    Taken,
    /// Emptied when created, kept when updated.
    Reset,
    /// Taken when created, kept when updated.
    ResetOnUpdate,
}

/// How `metadata.generation` is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GenerationRule {
    /// Whether it is 1 in a new object.
    pub(crate) starts: bool,
    /// An update that changes one of these counts.
    pub(crate) counted: &'static [FieldPath<'static>],
    /// Whether that is found out before an update drops fields.
    pub(crate) counted_first: bool,
    /// The feature gate without which there are no generations.
    pub(crate) gate: Option<&'static str>,
}

impl GenerationRule {
    fn is_on(&self, gates: FeatureGates) -> bool {
        self.gate.is_none_or(|gate| gates.is_on(gate))
    }
}

/// Fields that are dropped from an object, unless the object before has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GatedField {
    /// The field of a feature gate at this path.
    Field(&'static str, FieldPath<'static>),
    /// The fields of a feature, which stay where one of them was used.
    Feature(GatedFields),
    /// The same, in releases that drop these fields.
    FeatureOf(fn(&Release) -> bool, GatedFields),
    /// Fields of the Pod or template at this path.
    Pod(FieldPath<'static>),
}

/// An endpoint that updates a part of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartEndpoint {
    /// The fields that a request cannot set.
    pub(crate) reset: &'static [FieldPath<'static>],
    /// The fields that stay as in the old object.
    pub(crate) kept: &'static [FieldPath<'static>],
    /// A further change.
    pub(crate) update: UpdateFunction,
}

/// Changes a new object.
pub(crate) type CreateFunction = fn(&mut StrategyContext<'_>, &mut EditedObject<'_>);
/// Changes an object, by the object before.
pub(crate) type UpdateFunction = for<'v> fn(&mut StrategyContext<'_>, &mut EditedObject<'v>, &Value<'v>);
/// Changes an object at the end.
pub(crate) type CanonicalizeFunction = fn(&mut EditedObject<'_>);

/// The context of a request in which strategies prepare objects.
#[derive(Debug)]
pub(crate) struct StrategyContext<'c> {
    /// The kind of the object.
    pub(crate) kind: &'c GroupVersionKind,
    pub(crate) user: &'c UserInfo,
    pub(crate) placeholders: &'c Placeholders,
    pub(crate) dry_run: bool,
    /// Whether the object has its labels from defaulting, and was not decoded since.
    pub(crate) defaulted_labels: bool,
    /// How many ports a dry run has allocated.
    pub(crate) ports: i64,
    pub(crate) warnings: Vec<String>,
    /// What drops the fields behind gates that are off.
    pub(crate) dropper: FieldDropper,
}

const NOTHING_ON_CREATE: CreateFunction = |_, _| {};
const NOTHING_ON_UPDATE: UpdateFunction = |_, _, _| {};

/// The fields of the old object that a request to `status` keeps where it may not change metadata.
// Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, ResetObjectMetaForStatus
pub(crate) const METADATA: &[FieldPath<'static>] = &[
    &["spec"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "generation"],
    &["metadata", "selfLink"],
    &["metadata", "labels"],
    &["metadata", "annotations"],
    &["metadata", "finalizers"],
    &["metadata", "ownerReferences"],
];

impl ResourceStrategy {
    /// A kind of which nothing is changed. It can be updated without `resourceVersion`.
    pub(crate) const fn new(group: &'static str, kind: &'static str) -> Self {
        ResourceStrategy {
            group,
            kind,
            status: StatusHandling::Taken,
            generation: GenerationRule {
                starts: false,
                counted: &[],
                counted_first: false,
                gate: None,
            },
            creates_on_update: false,
            unconditional: true,
            unconditional_versions: &[],
            reset: &[],
            gated: &[],
            create: NOTHING_ON_CREATE,
            update: NOTHING_ON_UPDATE,
            begin: None,
            canonicalize: |_| {},
            status_endpoint: None,
            endpoints: &[],
        }
    }

    /// With a `status` that only its own endpoint sets.
    pub(crate) const fn status(self, endpoint: PartEndpoint) -> Self {
        ResourceStrategy {
            status: StatusHandling::Reset,
            reset: &[&["status"]],
            status_endpoint: Some(endpoint),
            ..self
        }
    }

    /// With generations that start with 1 and count changes of these fields.
    pub(crate) const fn generation(self, counted: &'static [FieldPath<'static>]) -> Self {
        ResourceStrategy {
            generation: GenerationRule {
                starts: true,
                counted,
                counted_first: false,
                gate: None,
            },
            ..self
        }
    }

    /// With generations where a feature gate is on.
    pub(crate) const fn generation_of(self, gate: &'static str) -> Self {
        ResourceStrategy {
            generation: GenerationRule {
                gate: Some(gate),
                ..self.generation
            },
            ..self
        }
    }

    /// With generations counted before an update drops fields.
    pub(crate) const fn counted_first(self) -> Self {
        ResourceStrategy {
            generation: GenerationRule {
                counted_first: true,
                ..self.generation
            },
            ..self
        }
    }

    /// Updates need a `resourceVersion`.
    pub(crate) const fn conditional(self) -> Self {
        ResourceStrategy {
            unconditional: false,
            ..self
        }
    }

    /// Updates create objects that do not exist.
    pub(crate) const fn creates_on_update(self) -> Self {
        ResourceStrategy {
            creates_on_update: true,
            ..self
        }
    }

    /// With fields behind feature gates that are off.
    pub(crate) const fn gated(self, gated: &'static [GatedField]) -> Self {
        ResourceStrategy { gated, ..self }
    }

    /// With further changes of new and of updated objects.
    pub(crate) const fn prepare(self, create: CreateFunction, update: UpdateFunction) -> Self {
        ResourceStrategy {
            create,
            update,
            ..self
        }
    }

    /// Prepares a new object.
    // Upstream: rest.RESTCreateStrategy, PrepareForCreate
    pub(crate) fn prepare_for_create(
        &self,
        context: &mut StrategyContext<'_>,
        object: &mut EditedObject<'_>,
    ) {
        if self.status == StatusHandling::Reset {
            object::remove(object, &["status"]);
        }
        if self.generation.starts && self.generation.is_on(context.dropper.gates) {
            object::set(object, &["metadata", "generation"], 1);
        }
        self.drop_gated(&mut context.dropper, object, None);
        (self.create)(context, object);
    }

    /// Prepares an updated object, whose generation is that of the old one.
    // Upstream: rest.RESTUpdateStrategy, PrepareForUpdate
    pub(crate) fn prepare_for_update<'v>(
        &self,
        context: &mut StrategyContext<'_>,
        object: &mut EditedObject<'v>,
        old: &Value<'v>,
    ) {
        if self.status != StatusHandling::Taken {
            object::copy(object, old, &["status"]);
        }
        let GenerationRule {
            counted,
            counted_first,
            ..
        } = self.generation;
        let is_on = self.generation.is_on(context.dropper.gates);
        let counts =
            |object: &Value<'_>| is_on && counted.iter().any(|path| !object::same(object, old, path));
        let counted_before = counts(object);
        self.drop_gated(&mut context.dropper, object, Some(old));
        (self.update)(context, object, old);
        if (counted_first && counted_before) || (!counted_first && counts(object)) {
            object::increment_generation(object, old);
        }
    }

    fn drop_gated<'v>(
        &self,
        dropper: &mut FieldDropper,
        object: &mut EditedObject<'v>,
        old: Option<&Value<'v>>,
    ) {
        for gated in self.gated {
            match gated {
                GatedField::Field(gate, path) => dropper.drop_field(object, old, gate, path),
                GatedField::Feature(feature) => dropper.drop_unused((object, &[]), old, *feature),
                GatedField::FeatureOf(drops, feature) => {
                    if drops(dropper.gates.release()) {
                        dropper.drop_unused((object, &[]), old, *feature);
                    }
                }
                GatedField::Pod(path) => drop_disabled(dropper, object, old, path),
            }
        }
    }
}

impl PartEndpoint {
    /// An endpoint that sets `status`, labels and annotations, and keeps `spec`.
    pub(crate) const STATUS: PartEndpoint = PartEndpoint {
        reset: &[&["spec"]],
        kept: &[&["spec"]],
        update: NOTHING_ON_UPDATE,
    };

    /// An endpoint that sets `status` and nothing else.
    pub(crate) const STATUS_ONLY: PartEndpoint = PartEndpoint {
        reset: &[&["spec"], &["metadata"]],
        kept: METADATA,
        update: NOTHING_ON_UPDATE,
    };

    /// With a further update.
    pub(crate) const fn and(self, update: UpdateFunction) -> Self {
        PartEndpoint { update, ..self }
    }

    /// Prepares an updated object.
    pub(crate) fn prepare_for_update<'v>(
        &self,
        context: &mut StrategyContext<'_>,
        object: &mut EditedObject<'v>,
        old: &Value<'v>,
    ) {
        for path in self.kept {
            object::copy(object, old, path);
        }
        (self.update)(context, object, old);
    }
}

impl ResourceStrategy {
    /// The endpoint of a part of the kind's objects.
    pub(crate) fn endpoint(&self, subresource: &str) -> Option<PartEndpoint> {
        if subresource == "status" {
            return self.status_endpoint;
        }
        let named = self.endpoints.iter().find(|(name, _)| *name == subresource);
        named.map(|(_, endpoint)| *endpoint)
    }
}
