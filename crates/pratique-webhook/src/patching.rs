//! Applying the patch of an answer to the object that the webhook received.

use pratique_gotext::strconv::quote;
use pratique_json::Progress;
use pratique_schema::Release;

use crate::answer::{JSON_PATCH, VerifiedAnswer};
use crate::call::CallFailure;
use crate::memory::{self, CallMemory};
use crate::object_error::ObjectError;
use crate::patch::{self, RecordedPatch};
use crate::quantities;
use crate::statuses::{denied, timeout};
use crate::version::{ObjectRef, VersionConverter, VersionedObjects};
use crate::webhook::CompiledWebhook;

/// The object that a patch is applied to.
pub(crate) struct PatchTarget<'t, 's> {
    pub(crate) objects: &'t VersionedObjects<'s>,
    pub(crate) converter: &'t VersionConverter<'s>,
    pub(crate) progress: &'t Progress<'t>,
    pub(crate) release: &'static Release,
}

/// The result of a patch.
pub(crate) struct PatchedObject<'s> {
    pub(crate) object: ObjectRef<'s>,
    /// The patch as it was written.
    pub(crate) written: RecordedPatch,
}

/// Applies the patch of an answer, within this memory; `None` for a patch without operations.
// Upstream: pkg/admission/plugin/webhook/mutating/dispatcher.go, callAttrMutatingHook
pub(crate) fn patched<'s>(
    webhook: &CompiledWebhook,
    answer: &VerifiedAnswer,
    target: &PatchTarget<'_, 's>,
    memory: &CallMemory,
) -> Result<Option<PatchedObject<'s>>, CallFailure> {
    let out_of_memory = |error| CallFailure::out_of_memory(webhook, error);
    let object = target.objects.object.get();
    memory
        .hold(memory::of_patch(&answer.patch))
        .map_err(out_of_memory)?;
    let mut operations = patch::decode(&answer.patch, target.release).map_err(|error| {
        let reason = format!("received undecodable patch in webhook response: {error}");
        CallFailure::call(reason, 503)
    })?;
    if operations.is_empty() {
        return Ok(None);
    }
    if object.is_null() {
        return Err(CallFailure::internal(&format!(
            "admission webhook {} attempted to modify the object, which is not supported for this operation",
            quote(&webhook.name)
        )));
    }
    if answer.patch_type != JSON_PATCH {
        let reason = format!("unsupported patch type {}", quote(&answer.patch_type));
        let denied = denied(&webhook.name, answer.result.clone());
        return Err(CallFailure::call(
            reason,
            u16::try_from(denied.code).unwrap_or_default(),
        ));
    }
    let kind = &target.objects.kind;
    if let Some(release) = target.converter.typing_release(kind) {
        quantities::keep_digits(release.schema(), &answer.patch, &mut operations, kind);
    }
    let needed = patch::applied_bytes(object, &operations, answer.patch.len());
    memory.hold(needed).map_err(out_of_memory)?;
    let object = patch::apply(object, &operations, kind, target.converter, target.progress);
    let object = object.map_err(|error| match error {
        ObjectError::Interrupted => CallFailure::Server(Box::new(timeout())),
        error => CallFailure::internal(&error.to_string()),
    })?;
    Ok(Some(PatchedObject {
        object,
        written: RecordedPatch::read(&answer.patch),
    }))
}
