//! Structured merge: how an `ApplyConfiguration` changes an object.

mod atomic;
mod combine;
mod display;
mod identity;
mod node;
mod order;
mod patch;
mod validate;

use pratique_json::{Interrupted, Progress, Value};
use pratique_schema::merge::{MergeSchema, MergeTypeId};
use pratique_types::GroupVersionKind;

use validate::ValueValidator;

pub use patch::{Foreign, Patch};

/// Why a patch cannot be merged in. The API server writes `error applying patch: ` before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The schema has no such kind.
    #[error("failed to convert patch object to typed object: no corresponding type for {0}")]
    NoType(GroupVersionKind),
    /// The patch is not of the object's type.
    #[error("failed to convert patch object to typed object: {0}")]
    Patch(String),
    /// The patch sets values that can only be replaced as a whole, at these paths.
    #[error("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}", .0.join(", "))]
    Atomic(Vec<String>),
    /// The object is not of its type.
    #[error("failed to convert original object to typed object: {0}")]
    Object(String),
    /// The caller interrupted it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Merges a patch into an object of a type.
///
/// `apiVersion` and `kind` of the patch are ignored. After an error the object is unchanged, unless the merge was
/// interrupted: then the object is unspecified.
// Upstream: apiserver/pkg/admission/plugin/policy/mutating/patch/smd.go, ApplyStructuredMergeDiff
pub fn apply<'a>(
    schema: &MergeSchema,
    of: MergeTypeId,
    object: &mut Value<'a>,
    patch: Patch<'a>,
    progress: &Progress<'_>,
) -> Result<(), Error> {
    let lenient = ValueValidator {
        schema,
        progress,
        duplicates: true,
    };
    apply_to(&lenient, of, object, patch)
}

/// As [`apply`], but an object is refused that has several elements of the same identity, as Kubernetes before 1.35 does.
pub fn apply_to_unique<'a>(
    schema: &MergeSchema,
    of: MergeTypeId,
    object: &mut Value<'a>,
    patch: Patch<'a>,
    progress: &Progress<'_>,
) -> Result<(), Error> {
    let strict = ValueValidator {
        schema,
        progress,
        duplicates: false,
    };
    apply_to(&strict, of, object, patch)
}

/// Merges a patch into an object that passes a validator.
fn apply_to<'a>(
    validator: &ValueValidator<'_>,
    of: MergeTypeId,
    object: &mut Value<'a>,
    patch: Patch<'a>,
) -> Result<(), Error> {
    let (schema, progress) = (validator.schema, validator.progress);
    let mut patch = patch;
    if let Patch::Map(members) = &mut patch {
        members.retain(|(key, _)| !matches!(key.as_ref(), "apiVersion" | "kind"));
    }
    let patch = checked(schema, of, patch, progress)?;
    let atomic = atomic::find(schema, of, &patch, progress);
    progress.outcome()?;
    if !atomic.is_empty() {
        return Err(Error::Atomic(atomic));
    }
    let checked = validator.validate_value(of, object)?;
    checked.map_err(|errors| Error::Object(errors.to_string()))?;
    combine::PatchCombiner { schema, progress }.combine(of, object, patch);
    Ok(progress.outcome()?)
}

/// Merges a configuration into an object of a type as server-side apply does: atomic values are replaced as a whole.
///
/// After an error the object is unchanged, unless the merge was interrupted: then the object is unspecified.
// Upstream: structured-merge-diff/typed/typed.go, Merge
pub fn merge<'a>(
    schema: &MergeSchema,
    of: MergeTypeId,
    object: &mut Value<'a>,
    configuration: Value<'a>,
    progress: &Progress<'_>,
) -> Result<(), Error> {
    let patch = checked(schema, of, Patch::from(configuration), progress)?;
    combine::PatchCombiner { schema, progress }.combine(of, object, patch);
    Ok(progress.outcome()?)
}

/// A patch in order, if it is one of its type.
fn checked<'a>(
    schema: &MergeSchema,
    of: MergeTypeId,
    mut patch: Patch<'a>,
    progress: &Progress<'_>,
) -> Result<Patch<'a>, Error> {
    patch.sort(progress);
    let strict = ValueValidator {
        schema,
        progress,
        duplicates: false,
    };
    let checked = strict.validate_value(of, &patch)?;
    checked.map_err(|errors| Error::Patch(errors.to_string()))?;
    Ok(patch)
}

#[cfg(test)]
mod tests;
