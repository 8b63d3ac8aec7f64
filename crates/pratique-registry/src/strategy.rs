//! The strategy of a kind's storage: how objects are prepared before they are validated and stored.

use pratique_json::Value;
use pratique_schema::{FeatureGates, Release};
use pratique_types::{GroupVersionKind, UserInfo};

use crate::Placeholders;
use crate::gated_fields::{FieldDropper, GatedFields};
use crate::object::{self, Path};
use crate::strategies::drop_disabled;

/// The strategy of a kind: data where that suffices, functions for the rest.
///
/// A kind's strategy is the `strategy.go` of its package under `pkg/registry` of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strategy {
    /// The group of the kind; empty for the core group.
    pub(crate) group: &'static str,
    /// The kind.
    pub(crate) kind: &'static str,
    /// Whether `status` is emptied when an object is created, and kept when it is updated.
    pub(crate) status: Status,
    /// The fields whose changes count generations.
    pub(crate) generation: Generation,
    /// Whether an update of an object that does not exist creates it.
    pub(crate) creates_on_update: bool,
    /// Whether an update needs no `resourceVersion`.
    pub(crate) unconditional: bool,
    /// Versions in which it needs none though it does in others.
    pub(crate) unconditional_versions: &'static [&'static str],
    /// The fields that a request cannot set.
    pub(crate) reset: &'static [Path<'static>],
    /// The fields behind feature gates that are off.
    pub(crate) gated: &'static [Gated],
    /// A further change of objects that are created.
    pub(crate) create: Create,
    /// A further change of objects that are updated.
    pub(crate) update: Update,
    /// Changes before both, such as the allocation of addresses.
    pub(crate) begin: Option<(Create, Update)>,
    /// The change after both.
    pub(crate) canonicalize: Canonicalize,
    /// How `status` is updated through its own endpoint; `None` where there is none.
    pub(crate) status_endpoint: Option<Endpoint>,
    /// Further endpoints that update parts of an object, by subresource.
    pub(crate) endpoints: &'static [(&'static str, Endpoint)],
}

/// How creating and updating treat `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The kind has none, or leaves it as it is.
    Taken,
    /// Emptied when created, kept when updated.
    Reset,
    /// Taken when created, kept when updated.
    ResetOnUpdate,
}

/// How `metadata.generation` is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation {
    /// Whether it is 1 in a new object.
    pub(crate) starts: bool,
    /// An update that changes one of these counts.
    pub(crate) counted: &'static [Path<'static>],
    /// Whether that is found out before an update drops fields.
    pub(crate) counted_first: bool,
    /// The feature gate without which there are no generations.
    pub(crate) gate: Option<&'static str>,
}

impl Generation {
    fn is_on(&self, gates: FeatureGates) -> bool {
        self.gate.is_none_or(|gate| gates.is_on(gate))
    }
}

/// Fields that are dropped from an object, unless the object before has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gated {
    /// The field of a feature gate at this path.
    Field(&'static str, Path<'static>),
    /// The fields of a feature, which stay where one of them was used.
    Feature(GatedFields),
    /// The same, in releases that drop these fields.
    FeatureOf(fn(&Release) -> bool, GatedFields),
    /// Fields of the Pod or template at this path.
    Pod(Path<'static>),
}

/// An endpoint that updates a part of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    /// The fields that a request cannot set.
    pub(crate) reset: &'static [Path<'static>],
    /// The fields that stay as in the old object.
    pub(crate) kept: &'static [Path<'static>],
    /// A further change.
    pub(crate) update: Update,
}

/// Changes a new object.
pub(crate) type Create = fn(&mut Context<'_>, &mut Value<'_>);
/// Changes an object, by the object before.
pub(crate) type Update = for<'v> fn(&mut Context<'_>, &mut Value<'v>, &Value<'v>);
/// Changes an object at the end.
pub(crate) type Canonicalize = fn(&mut Value<'_>);

/// The context of a request in which strategies prepare objects.
#[derive(Debug)]
pub(crate) struct Context<'c> {
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

const NOTHING_ON_CREATE: Create = |_, _| {};
const NOTHING_ON_UPDATE: Update = |_, _, _| {};

/// The fields of the old object that a request to `status` keeps where it may not change metadata.
// Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, ResetObjectMetaForStatus
pub(crate) const METADATA: &[Path<'static>] = &[
    &["spec"],
    &["metadata", "deletionTimestamp"],
    &["metadata", "generation"],
    &["metadata", "selfLink"],
    &["metadata", "labels"],
    &["metadata", "annotations"],
    &["metadata", "finalizers"],
    &["metadata", "ownerReferences"],
];

impl Strategy {
    /// A kind of which nothing is changed. It can be updated without `resourceVersion`.
    pub(crate) const fn new(group: &'static str, kind: &'static str) -> Self {
        Strategy {
            group,
            kind,
            status: Status::Taken,
            generation: Generation {
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
    pub(crate) const fn status(self, endpoint: Endpoint) -> Self {
        Strategy {
            status: Status::Reset,
            reset: &[&["status"]],
            status_endpoint: Some(endpoint),
            ..self
        }
    }

    /// With generations that start with 1 and count changes of these fields.
    pub(crate) const fn generation(self, counted: &'static [Path<'static>]) -> Self {
        Strategy {
            generation: Generation {
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
        Strategy {
            generation: Generation {
                gate: Some(gate),
                ..self.generation
            },
            ..self
        }
    }

    /// With generations counted before an update drops fields.
    pub(crate) const fn counted_first(self) -> Self {
        Strategy {
            generation: Generation {
                counted_first: true,
                ..self.generation
            },
            ..self
        }
    }

    /// Updates need a `resourceVersion`.
    pub(crate) const fn conditional(self) -> Self {
        Strategy {
            unconditional: false,
            ..self
        }
    }

    /// Updates create objects that do not exist.
    pub(crate) const fn creates_on_update(self) -> Self {
        Strategy {
            creates_on_update: true,
            ..self
        }
    }

    /// With fields behind feature gates that are off.
    pub(crate) const fn gated(self, gated: &'static [Gated]) -> Self {
        Strategy { gated, ..self }
    }

    /// With further changes of new and of updated objects.
    pub(crate) const fn prepare(self, create: Create, update: Update) -> Self {
        Strategy {
            create,
            update,
            ..self
        }
    }

    /// Prepares a new object.
    // Upstream: rest.RESTCreateStrategy, PrepareForCreate
    pub(crate) fn prepare_for_create(&self, context: &mut Context<'_>, object: &mut Value<'_>) {
        if self.status == Status::Reset {
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
        context: &mut Context<'_>,
        object: &mut Value<'v>,
        old: &Value<'v>,
    ) {
        if self.status != Status::Taken {
            object::copy(object, old, &["status"]);
        }
        let Generation {
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

    fn drop_gated<'v>(&self, dropper: &mut FieldDropper, object: &mut Value<'v>, old: Option<&Value<'v>>) {
        for gated in self.gated {
            match gated {
                Gated::Field(gate, path) => dropper.drop_field(object, old, gate, path),
                Gated::Feature(feature) => dropper.drop_unused((object, &[]), old, *feature),
                Gated::FeatureOf(drops, feature) => {
                    if drops(dropper.gates.release()) {
                        dropper.drop_unused((object, &[]), old, *feature);
                    }
                }
                Gated::Pod(path) => drop_disabled(dropper, object, old, path),
            }
        }
    }
}

impl Endpoint {
    /// An endpoint that sets `status`, labels and annotations, and keeps `spec`.
    pub(crate) const STATUS: Endpoint = Endpoint {
        reset: &[&["spec"]],
        kept: &[&["spec"]],
        update: NOTHING_ON_UPDATE,
    };

    /// An endpoint that sets `status` and nothing else.
    pub(crate) const STATUS_ONLY: Endpoint = Endpoint {
        reset: &[&["spec"], &["metadata"]],
        kept: METADATA,
        update: NOTHING_ON_UPDATE,
    };

    /// With a further update.
    pub(crate) const fn and(self, update: Update) -> Self {
        Endpoint { update, ..self }
    }

    /// Prepares an updated object.
    pub(crate) fn prepare_for_update<'v>(
        &self,
        context: &mut Context<'_>,
        object: &mut Value<'v>,
        old: &Value<'v>,
    ) {
        for path in self.kept {
            object::copy(object, old, path);
        }
        (self.update)(context, object, old);
    }
}

impl Strategy {
    /// The endpoint of a part of the kind's objects.
    pub(crate) fn endpoint(&self, subresource: &str) -> Option<Endpoint> {
        if subresource == "status" {
            return self.status_endpoint;
        }
        let named = self.endpoints.iter().find(|(name, _)| *name == subresource);
        named.map(|(_, endpoint)| *endpoint)
    }
}
