//! How objects are prepared: by the strategy of a built-in kind, or by the definition of a custom resource.

use pratique_apiextensions::{Validation, Version};
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::{GroupVersionKind, ObjectRef, Status, status};

use crate::Placeholders;
use crate::edited_object::{EditTarget as _, EditedObject};
use crate::object::FieldPath;
use crate::strategy::{PartEndpoint, ResourceStrategy, StrategyContext};

/// The strategy that prepares the objects of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KindStrategy<'s> {
    /// A built-in kind, perhaps a part of its objects.
    Builtin(&'static ResourceStrategy, Option<PartEndpoint>),
    /// A custom resource, or its `scale`.
    Custom(&'s Version),
    /// The `status` of a custom resource.
    CustomStatus(&'s Version),
}

impl<'s> KindStrategy<'s> {
    /// The strategy for a part of a built-in kind; `None` where it has no such part.
    pub(crate) fn builtin(strategy: &'static ResourceStrategy, subresource: &str) -> Option<Self> {
        let endpoint = match subresource {
            "" | "scale" => None,
            name => Some(strategy.endpoint(name)?),
        };
        Some(KindStrategy::Builtin(strategy, endpoint))
    }

    /// The strategy for a part of a custom resource; `None` where it has no such part.
    pub(crate) fn custom(version: &'s Version, subresource: &str) -> Option<Self> {
        match subresource {
            "" => Some(KindStrategy::Custom(version)),
            "scale" if version.scale().is_some() => Some(KindStrategy::Custom(version)),
            "status" if version.has_status() => Some(KindStrategy::CustomStatus(version)),
            _ => None,
        }
    }

    /// The fields that a request cannot set.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/{strategy,status_strategy}.go, GetResetFields
    pub(crate) fn reset(&self) -> &'static [FieldPath<'static>] {
        match self {
            KindStrategy::Builtin(strategy, None) => strategy.reset,
            KindStrategy::Builtin(_, Some(endpoint)) => endpoint.reset,
            KindStrategy::Custom(version) if version.has_status() => &[&["status"]],
            KindStrategy::Custom(_) => &[],
            KindStrategy::CustomStatus(_) => &[&["metadata"], &["spec"]],
        }
    }

    /// Whether an update of an object that does not exist creates it.
    pub(crate) fn creates_on_update(&self) -> bool {
        matches!(self, KindStrategy::Builtin(strategy, _) if strategy.creates_on_update)
    }

    /// Whether an update of an object of a version needs no `resourceVersion`.
    pub(crate) fn is_unconditional(&self, version: &str) -> bool {
        matches!(self, KindStrategy::Builtin(strategy, _)
            if strategy.unconditional || strategy.unconditional_versions.contains(&version))
    }

    /// Changes a new object before it is prepared.
    pub(crate) fn begin_create(&self, context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
        if let KindStrategy::Builtin(strategy, _) = self
            && let Some((begin, _)) = strategy.begin
        {
            begin(context, object);
        }
    }

    /// Changes an updated object before it is prepared.
    pub(crate) fn begin_update<'v>(
        &self,
        context: &mut StrategyContext<'_>,
        object: &mut EditedObject<'v>,
        old: &Value<'v>,
    ) {
        if let KindStrategy::Builtin(strategy, None) = self
            && let Some((_, begin)) = strategy.begin
        {
            begin(context, object, old);
        }
    }

    /// Prepares a new object.
    pub(crate) fn prepare_for_create(
        &self,
        context: &mut StrategyContext<'_>,
        object: &mut EditedObject<'_>,
    ) {
        match self {
            KindStrategy::Builtin(strategy, _) => strategy.prepare_for_create(context, object),
            KindStrategy::Custom(version) | KindStrategy::CustomStatus(version) => {
                version.prepare_create(object.edit(None));
            }
        }
    }

    /// Prepares a changed object, whose generation is that of the old one.
    pub(crate) fn prepare_for_update<'v>(
        &self,
        context: &mut StrategyContext<'_>,
        object: &mut EditedObject<'v>,
        old: &Value<'v>,
    ) {
        match self {
            KindStrategy::Builtin(strategy, None) => strategy.prepare_for_update(context, object, old),
            KindStrategy::Builtin(_, Some(endpoint)) => endpoint.prepare_for_update(context, object, old),
            KindStrategy::Custom(version) => version.prepare_update(object.edit(None), old),
            KindStrategy::CustomStatus(version) => version.prepare_status_update(object.edit(None), old),
        }
    }

    /// Changes an object at the end.
    pub(crate) fn canonicalize(&self, object: &mut EditedObject<'_>) {
        if let KindStrategy::Builtin(strategy, _) = self {
            (strategy.canonicalize)(object);
        }
    }

    /// Validates a new object, where the server's validation is known, and gives its warnings.
    pub(crate) fn validate_create(
        &self,
        kind: &GroupVersionKind,
        object: &Value<'_>,
        placeholders: &Placeholders,
        release: &Release,
    ) -> Result<Vec<String>, Box<Status>> {
        match self {
            KindStrategy::Builtin(..) => Ok(crate::warnings::on_create(kind, object, placeholders, release)),
            KindStrategy::Custom(version) | KindStrategy::CustomStatus(version) => {
                accepted(object, version.validate_create(object))
            }
        }
    }

    /// Validates a changed object, where the server's validation is known, and gives its warnings.
    // Upstream: apiserver/pkg/registry/rest/update.go, BeforeUpdate
    pub(crate) fn validate_update(
        &self,
        kind: &GroupVersionKind,
        object: &Value<'_>,
        old: &Value<'_>,
        release: &Release,
    ) -> Result<Vec<String>, Box<Status>> {
        let (version, validation) = match self {
            KindStrategy::Builtin(_, None) => {
                return Ok(crate::warnings::on_update(kind, object, old, release));
            }
            KindStrategy::Builtin(_, Some(_)) => return Ok(Vec::new()),
            KindStrategy::Custom(version) => (version, version.validate_update(object, old)),
            KindStrategy::CustomStatus(version) => (version, version.validate_status_update(object, old)),
        };
        let mut errors = version.validate_common_update(object, old);
        errors.extend(validation.errors);
        accepted(
            object,
            Validation {
                errors,
                warnings: validation.warnings,
            },
        )
    }
}

/// The warnings about an object, unless there are errors.
fn accepted(object: &Value<'_>, validation: Validation) -> Result<Vec<String>, Box<Status>> {
    if validation.errors.is_empty() {
        Ok(validation.warnings)
    } else {
        let object = ObjectRef::new(object);
        let kind = object.group_version_kind().unwrap_or_default();
        let status = status::invalid(&kind, object.name(), validation.errors);
        Err(Box::new(status))
    }
}
