//! Where a Node's kubelet takes its configuration from: fields that nothing reads any more.

use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::{config_map_key, label_name, subdomain_name};
use crate::node::Node;

// Upstream: pkg/apis/core/validation/validation.go, validateNodeConfigSourceSpec, validateNodeConfigStatus
pub(super) fn validate_config_sources(spec: &Node<'_, '_>, status: &Node<'_, '_>, errors: &mut Errors) {
    validate_source(&spec.child("configSource"), false, errors);
    let config = status.child("config");
    for name in ["assigned", "active", "lastKnownGood"] {
        validate_source(&config.child(name), true, errors);
    }
}

/// Gives the faults of a text.
type TextRule = fn(&str) -> Vec<String>;

fn validate_source(source: &Node<'_, '_>, is_status: bool, errors: &mut Errors) {
    if !source.is_set() {
        return;
    }
    let map = source.child("configMap");
    if !map.is_set() {
        let value = internal_json(errors.release(), "core.NodeConfigSource", source.value());
        errors.invalid(source, value, "exactly one reference subfield must be non-nil");
        return;
    }
    for name in ["uid", "resourceVersion"] {
        let field = map.child(name);
        if is_status && field.as_text().is_empty() {
            errors.required(field, "");
        } else if !is_status && !field.as_text().is_empty() {
            errors.forbidden(field, &format!("{name} must not be set in spec"));
        }
    }
    let rules: [(&str, TextRule); 3] = [
        ("namespace", |text| label_name(text, false)),
        ("name", |text| subdomain_name(text, false)),
        ("kubeletConfigKey", config_map_key),
    ];
    for (name, rule) in rules {
        let field = map.child(name);
        if field.as_text().is_empty() {
            errors.required(field, "");
        } else {
            errors.invalid_each(&field, &rule(field.as_text()));
        }
    }
}
