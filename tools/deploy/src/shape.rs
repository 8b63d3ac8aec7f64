//! Whether objects have the fields of their kinds, and no others.

use pratique_harness::Error;
use pratique_types::GroupVersionKind;
use serde_json::Value;

use super::objects::Object;

/// What others define: the fields that are written here, which are those of cert-manager 1 and of the Prometheus
/// operator. `*` is any name, `[]` an element.
const FOREIGN: [(&str, &str, &[&str]); 4] = [
    (
        "cert-manager.io/v1",
        "Issuer",
        &["spec.selfSigned", "spec.ca.secretName"],
    ),
    (
        "cert-manager.io/v1",
        "Certificate",
        &[
            "spec.commonName",
            "spec.dnsNames.[]",
            "spec.duration",
            "spec.isCA",
            "spec.issuerRef.group",
            "spec.issuerRef.kind",
            "spec.issuerRef.name",
            "spec.privateKey.algorithm",
            "spec.privateKey.rotationPolicy",
            "spec.privateKey.size",
            "spec.renewBefore",
            "spec.secretName",
            "spec.usages.[]",
        ],
    ),
    (
        "monitoring.coreos.com/v1",
        "ServiceMonitor",
        &[
            "spec.endpoints.[].interval",
            "spec.endpoints.[].path",
            "spec.endpoints.[].port",
            "spec.endpoints.[].scheme",
            "spec.endpoints.[].tlsConfig.ca.secret.key",
            "spec.endpoints.[].tlsConfig.ca.secret.name",
            "spec.endpoints.[].tlsConfig.serverName",
            "spec.selector.matchLabels.*",
        ],
    ),
    (
        "monitoring.coreos.com/v1",
        "PrometheusRule",
        &[
            "spec.groups.[].name",
            "spec.groups.[].rules.[].alert",
            "spec.groups.[].rules.[].annotations.*",
            "spec.groups.[].rules.[].expr",
            "spec.groups.[].rules.[].for",
            "spec.groups.[].rules.[].labels.*",
        ],
    ),
];

/// What all objects have.
const METADATA: [&str; 6] = [
    "apiVersion",
    "kind",
    "metadata.annotations.*",
    "metadata.labels.*",
    "metadata.name",
    "metadata.namespace",
];

/// What an API server would say of an object's fields.
pub(super) fn faults(object: &Object) -> Vec<String> {
    let api_version = object.text("/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kind = GroupVersionKind::new(group, version, object.kind());
    if let Some(id) = pratique_typed::id(&kind) {
        let fault = builtin(id, &object.value).err();
        return fault.iter().map(Error::to_string).collect();
    }
    let known = FOREIGN
        .iter()
        .find(|(of, kind, _)| *of == api_version && *kind == object.kind());
    match known {
        None => vec![format!("unknown kind {} of {api_version}", object.kind())],
        Some((_, _, fields)) => {
            let mut unknown = Vec::new();
            foreign(&object.value, "", fields, &mut unknown);
            unknown
        }
    }
}

fn builtin(id: pratique_schema::TypeId, value: &Value) -> Result<(), Error> {
    let json = value.to_string();
    let parsed = pratique_json::parse(json.as_bytes()).map_err(|error| error.to_string())?;
    let object = parsed.as_object().ok_or("not an object")?;
    pratique_typed::decode::strict(id, object, &pratique_json::Progress::unwatched())
        .map_err(|error| Error::from(error.to_string()))
}

/// Recursion follows the nesting, which the reader bounds.
fn foreign(value: &Value, path: &str, fields: &[&str], unknown: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                let below = match path {
                    "" => name.clone(),
                    // Names with dots in them are one step.
                    _ => format!("{path}.{}", name.replace('.', "_")),
                };
                foreign(value, &below, fields, unknown);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                foreign(element, &format!("{path}.[]"), fields, unknown);
            }
        }
        _ => {
            if !fields.iter().chain(&METADATA).any(|field| fits(field, path)) {
                unknown.push(format!("unknown field {path:?}"));
            }
        }
    }
}

fn fits(field: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (field.split('.'), path.split('.'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::objects::read;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let objects = read("a", text).unwrap();
        assert_eq!(super::faults(&objects[0]), expected);
    }

    #[test]
    fn unknown_fields_are_faults() {
        check("apiVersion: v1\nkind: Service\nspec: {clusterIP: None}\n", &[]);
        check(
            "apiVersion: v1\nkind: Service\nspec: {clusterIp: None}\n",
            &["strict decoding error: unknown field \"spec.clusterIp\""],
        );
        check(
            "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {labels: {a.b/c: d}}\nspec: {ca: {secret: a}}\n",
            &["unknown field \"spec.ca.secret\""],
        );
        check("apiVersion: a/v1\nkind: B\n", &["unknown kind B of a/v1"]);
    }
}
