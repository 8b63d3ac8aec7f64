//! APIServices.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::dns1035_label;

use super::configuration::decoded_length;
use super::{KindRules, Request};
use crate::errors::Errors;
use crate::messages::{path_segment_name, port_number, subdomain_name};
use crate::object_meta::{validate_meta_declaratively, validate_meta_update_declaratively};

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "apiregistration.k8s.io",
    kind: "APIService",
    is_namespaced: false,
    create: validate_api_service,
    update: |request, errors| {
        validate_metadata_update(request, errors);
        validate_api_service(request, errors);
    },
    subresources: &[("status", validate_status)],
}];

// Upstream: kube-aggregator/pkg/apis/apiregistration/validation/validation.go, ValidateAPIService
fn validate_api_service(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    let (group, version) = (spec.child("group"), spec.child("version"));
    let required = format!("{}.{}", version.as_text(), group.as_text());
    let name_messages = |name: &str, is_prefix: bool| {
        let mut messages = path_segment_name(name, is_prefix);
        // Beginnings of names have to be the whole name, too.
        if messages.is_empty() && name != required {
            messages.push(format!(
                "must be `spec.version+\".\"+spec.group`: {}",
                quote(&required)
            ));
        }
        messages
    };
    validate_meta_declaratively(&request.object.child("metadata"), false, name_messages, errors);
    if group.as_text().is_empty() {
        if version.as_text() != "v1" {
            errors.required(
                group,
                "only v1 may have an empty group and it better be legacy kube",
            );
        }
    } else {
        errors.invalid_each(&group, &subdomain_name(group.as_text(), false));
    }
    for message in dns1035_label(version.as_text()) {
        errors.invalid(version, version.as_text(), &message);
    }
    for (name, max) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let priority = spec.child(name);
        if !(1..=max).contains(&priority.int()) {
            errors.invalid(
                priority,
                priority.int(),
                &format!("must be positive and less than {max}"),
            );
        }
    }
    validate_connection(request, errors);
}

fn validate_connection(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    let (service, bundle) = (spec.child("service"), spec.child("caBundle"));
    let insecure = spec.child("insecureSkipTLSVerify");
    if !service.is_set() {
        let length = decoded_length(bundle.as_text());
        if length > 0 {
            errors.invalid(
                bundle,
                format!("{length} bytes"),
                "local APIServices may not have a caBundle",
            );
        }
        if insecure.is_true() {
            errors.invalid(
                insecure,
                true,
                "local APIServices may not have insecureSkipTLSVerify",
            );
        }
        return;
    }
    for name in ["namespace", "name"] {
        let field = service.child(name);
        if field.as_text().is_empty() {
            errors.required(field, "");
        }
    }
    let port = service.child("port");
    if let Some(message) = port_number(port.int()) {
        errors.invalid(port, port.int(), &format!("port is not valid: {message}"));
    }
    if insecure.is_true() && !bundle.is_empty() {
        errors.invalid(insecure, true, "may not be true if caBundle is present");
    }
}

fn validate_metadata_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_meta_update_declaratively(&metadata, &old, errors);
}

// Upstream: kube-aggregator/pkg/apis/apiregistration/validation/validation.go, ValidateAPIServiceStatusUpdate
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    const STATUSES: &[&str] = &["True", "False", "Unknown"];
    validate_metadata_update(request, errors);
    let status = request.object.child("status");
    for condition in status.child("conditions").items() {
        let value = condition.child("status");
        if !STATUSES.contains(&value.as_text()) {
            errors.not_supported(&value, STATUSES);
        }
    }
}
