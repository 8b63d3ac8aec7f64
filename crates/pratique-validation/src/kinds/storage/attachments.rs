//! VolumeAttachments.

use super::volumes::validate_inline_spec;
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::kinds::resource::validate_covered_driver;
use crate::messages::{inclusive_range, subdomain_name};
use crate::node::Node;
use crate::object_meta::validate_core_meta;
use crate::pod::validate_driver_name;

/// A changed attachment.
// Upstream: pkg/apis/storage/validation/validation.go, ValidateVolumeAttachmentUpdate
pub(super) fn validate_attachment_update(request: &Request<'_>, errors: &mut Errors) {
    // Upstream: pkg/registry/storage/volumeattachment/strategy.go, ValidateUpdate: before 1.35, it is validated twice.
    if !errors.release().at_least(1, 35) {
        validate_attachment(request, errors);
    }
    validate_attachment(request, errors);
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    if !spec.is_same(&old) {
        let value = internal_json(errors.release(), "storage.VolumeAttachmentSpec", spec.value());
        errors.immutable_by_hand(spec, value);
    }
}

/// An attachment; since 1.37, it is a declarative rule that nothing of the specification changes.
// Upstream: pkg/apis/storage/validation/validation.go, ValidateVolumeAttachment
pub(super) fn validate_attachment(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), false, subdomain_name, errors);
    let spec = object.child("spec");
    let (source, node) = (spec.child("source"), spec.child("nodeName"));
    let attacher = spec.child("attacher");
    // Upstream: pkg/apis/storage/validation/validation.go, ValidateVolumeAttachmentV1: before 1.36, it validates names, and only of new
    // attachments.
    let validates_names_last = !errors.release().at_least(1, 36);
    if !validates_names_last {
        validate_covered_driver(&attacher, errors);
    } else if attacher.as_text().is_empty() {
        errors.required(attacher, "");
    }
    validate_source(&source, errors);
    for message in subdomain_name(node.as_text(), false) {
        errors.invalid_or_empty(&node, &message);
    }
    validate_status(&object.child("status"), errors);
    if validates_names_last {
        if request.old.is_set() {
            return;
        }
        validate_driver_name(&Node::with_path(attacher.value(), *attacher.path()), errors);
    }
    let volume = source.child("persistentVolumeName");
    if volume.is_set() {
        errors.invalid_each(&volume, &subdomain_name(volume.as_text(), false));
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, validateVolumeAttachmentSource
fn validate_source(source: &Node<'_, '_>, errors: &mut Errors) {
    const ONE_OF: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let (inline, name) = (
        source.child("inlineVolumeSpec"),
        source.child("persistentVolumeName"),
    );
    match (inline.is_set(), name.is_set()) {
        (false, false) => errors.required(source, ONE_OF),
        (true, true) => errors.forbidden(source, ONE_OF),
        (false, true) if name.as_text().is_empty() => {
            errors.required(name, "must specify non empty persistentVolumeName");
        }
        (false, true) => {}
        (true, false) => validate_inline_spec(&inline, errors),
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, validateVolumeAttachmentStatus
fn validate_status(status: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_METADATA: usize = 256 << 10;
    const MAX_MESSAGE: usize = 1024;
    let metadata = status.child("attachmentMetadata");
    let sizes = metadata
        .entries()
        .map(|(key, value)| key.len() + value.as_text().len());
    if sizes.sum::<usize>() > MAX_METADATA {
        errors.too_long(metadata, MAX_METADATA as i64);
    }
    for name in ["attachError", "detachError"] {
        let fault = status.child(name);
        let (message, code) = (fault.child("message"), fault.child("errorCode"));
        if message.as_text().len() > MAX_MESSAGE {
            // Upstream: pkg/apis/storage/validation/validation.go, validateVolumeError: before 1.37, another limit is told.
            let is_right = errors.release().at_least(1, 37);
            let told = if is_right { MAX_MESSAGE } else { MAX_METADATA };
            errors.too_long(message, told as i64);
        }
        if code.int() < 0 {
            errors.invalid(code, code.int(), &inclusive_range(0, i64::from(i32::MAX)));
        }
    }
}
