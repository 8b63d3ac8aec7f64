//! ConfigMaps, Secrets and ServiceAccounts.

use pratique_json::Value;
use pratique_types::field::BadValue;

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::json_text::{kind_in_go, parse_json};
use crate::messages::{config_map_key, subdomain_name};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "",
        kind: "ConfigMap",
        is_namespaced: true,
        create: validate_config_map,
        update: validate_config_map_update,
        subresources: &[],
    },
    KindRules {
        group: "",
        kind: "Secret",
        is_namespaced: true,
        create: validate_secret,
        update: validate_secret_update,
        subresources: &[],
    },
    KindRules {
        group: "",
        kind: "ServiceAccount",
        is_namespaced: true,
        create: validate_service_account,
        update: validate_service_account_update,
        subresources: &[],
    },
];

/// The limit for all data of a ConfigMap or Secret together.
const MAX_SIZE: usize = 1 << 20;

// Upstream: pkg/apis/core/validation/validation.go, ValidateConfigMap
fn validate_config_map(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    let (data, binary) = (request.object.child("data"), request.object.child("binaryData"));
    let mut size = 0usize;
    for (key, value) in data.entries() {
        validate_key(key, &value, errors);
        if binary.key(key).is_set() {
            errors.invalid(value, key, "duplicate of key present in binaryData");
        }
        size = size.saturating_add(value.as_text().len());
    }
    for (key, value) in binary.entries() {
        validate_key(key, &value, errors);
        size = size.saturating_add(decoded_length(value.as_text()));
    }
    if size > MAX_SIZE {
        // The whole object, whose path is written so.
        errors.too_long("[]", MAX_SIZE as i64);
    }
}

fn validate_key(key: &str, value: &Node<'_, '_>, errors: &mut Errors) {
    for message in config_map_key(key) {
        errors.invalid(value, key, &message);
    }
}

/// The length of bytes that are written in base64.
pub(super) fn decoded_length(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateConfigMapUpdate
fn validate_config_map_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    validate_immutable(request, &["data", "binaryData"], errors);
    validate_config_map(request, errors);
}

/// An object that says of itself that it is immutable keeps that, and its data.
fn validate_immutable(request: &Request<'_>, names: &[&str], errors: &mut Errors) {
    const DETAIL: &str = "field is immutable when `immutable` is set";
    let (object, old) = (&request.object, &request.old);
    if !old.child("immutable").is_true() {
        return;
    }
    if !object.child("immutable").is_true() {
        errors.forbidden(object.child("immutable"), DETAIL);
    }
    for name in names {
        // Here, an empty map is another than none.
        if object.child(name).value() != old.child(name).value() {
            errors.forbidden(object.child(name), DETAIL);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateSecret
fn validate_secret(request: &Request<'_>, errors: &mut Errors) {
    let (object, data) = (&request.object, request.object.child("data"));
    validate_core_meta(&object.child("metadata"), true, subdomain_name, errors);
    let mut size = 0usize;
    for (key, value) in data.entries() {
        validate_key(key, &value, errors);
        size = size.saturating_add(decoded_length(value.as_text()));
    }
    if size > MAX_SIZE {
        errors.too_long(data, MAX_SIZE as i64);
    }
    let require = |key: &str, errors: &mut Errors| {
        if !data.key(key).is_set() {
            errors.required(data.key(key), "");
        }
    };
    match object.child("type").as_text() {
        "kubernetes.io/service-account-token" => {
            let metadata = object.child("metadata");
            let annotations = metadata.child("annotations");
            let name = annotations.key("kubernetes.io/service-account.name");
            if name.as_text().is_empty() {
                errors.required(name, "");
            }
        }
        "kubernetes.io/dockercfg" => validate_json(&data.key(".dockercfg"), errors),
        "kubernetes.io/dockerconfigjson" => validate_json(&data.key(".dockerconfigjson"), errors),
        "kubernetes.io/basic-auth" if !data.key("username").is_set() && !data.key("password").is_set() => {
            errors.required(data.key("username"), "");
            errors.required(data.key("password"), "");
        }
        "kubernetes.io/ssh-auth" if data.key("ssh-privatekey").as_text().is_empty() => {
            errors.required(data.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => {
            require("tls.crt", errors);
            require("tls.key", errors);
        }
        _ => {}
    }
}

/// A value that has to be a JSON object.
fn validate_json(value: &Node<'_, '_>, errors: &mut Errors) {
    if !value.is_set() {
        errors.required(value, "");
        return;
    }
    let bytes = pratique_json::base64::decode(value.as_text()).unwrap_or_default();
    let redacted = BadValue::Text("<secret contents redacted>".into());
    match parse_json(&bytes, errors.release()) {
        Ok(Value::Object(_) | Value::Null) => {}
        Ok(other) => {
            let what = kind_in_go(&other);
            let detail =
                format!("json: cannot unmarshal {what} into Go value of type map[string]interface {{}}");
            errors.invalid(value, redacted, &detail);
        }
        Err(error) => errors.invalid(value, redacted, &error),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateSecretUpdate
fn validate_secret_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let of_type = object.child("type");
    if of_type.as_text() != old.child("type").as_text() {
        let start = errors.len();
        errors.invalid_name(&of_type, crate::errors::IMMUTABLE);
        errors.cover_from(start, "immutable");
    }
    validate_immutable(request, &["data"], errors);
    validate_secret(request, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateServiceAccount
fn validate_service_account(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateServiceAccountUpdate
fn validate_service_account_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    validate_service_account(request, errors);
}
