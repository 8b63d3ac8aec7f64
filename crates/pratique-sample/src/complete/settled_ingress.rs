//! Ingresses as a server takes them: each has rules or a backend for all requests.

use pratique_json::{Value, parse};
use pratique_types::GroupVersionKind;

use super::named_fields::NamedFields;

const RULES: &[u8] = br#"[{"host":"example.com"}]"#;
const BACKEND: &[u8] = br#"{"service":{"name":"example","port":{"number":80}}}"#;

/// Gives an Ingress that has neither the one that expressions do not name: the other is what its sample lacks.
// Upstream: pkg/apis/networking/validation/validation.go, ValidateIngressSpec
pub(super) fn settle_ingress(kind: &GroupVersionKind, object: &mut Value<'static>, interest: &NamedFields) {
    if kind.group != "networking.k8s.io" || kind.kind != "Ingress" {
        return;
    }
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    let fields = [("defaultBackend", BACKEND), ("rules", RULES)];
    if fields.iter().any(|(field, _)| spec.contains_key(field)) {
        return;
    }
    if let Some((field, text)) = fields.iter().find(|(field, _)| !interest.names(field))
        && let Ok(value) = parse(text)
    {
        spec.insert(*field, value);
    }
}
