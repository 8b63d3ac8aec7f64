//! The configuration of plugins that have kinds of their own.

use serde_json::Value as Json;

use super::open::{decode_as, whole_file};
use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::decode::{failures, registry};
use crate::parse::parse;
use crate::problem::Failure;

/// A kind that configures a plugin.
#[derive(Clone, Copy, Debug)]
pub struct ConfigurationKind {
    /// The API group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The type that it is decoded into, as the schema of built-in types names it.
    pub type_name: &'static str,
}

/// Decodes the configuration of a plugin strictly, YAML or JSON, as the server's codec for these kinds does. Defaults are
/// not set.
///
/// # Errors
/// It cannot be read, is of another kind, or has fields that do not fit; with all places.
// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, Serializer.Decode
pub fn decode_plugin_configuration(
    path: &str,
    text: &[u8],
    kinds: &[ConfigurationKind],
) -> Result<Json, Failure> {
    let document = whole_file(path, text.to_vec());
    let parsed = parse(document, &Budget::new(DEFAULT_LOAD_BYTES)).map_err(|failure| *failure)?;
    let header = failures::header(&parsed, parsed.root)?;
    let known = kinds.iter().find(|known| {
        known.group == header.group && known.version == header.version && known.kind == header.kind
    });
    match known {
        Some(known) => decode_as(&parsed, parsed.root, known.type_name),
        None => Err(failures::unsupported(
            &parsed,
            parsed.root,
            registry::not_registered(&header),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [ConfigurationKind; 1] = [ConfigurationKind {
        group: "pod-security.admission.config.k8s.io",
        version: "v1",
        kind: "PodSecurityConfiguration",
        type_name: "api/v1.PodSecurityConfiguration",
    }];

    fn check(text: &str, expected: &str) {
        let error = decode_plugin_configuration("psa.yaml", text.as_bytes(), &KINDS).unwrap_err();
        assert_eq!(error.text, expected, "{text}");
    }

    #[test]
    fn errors_are_those_of_the_server() {
        let head = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n";
        check("defaults: {}\n", "Object 'Kind' is missing in 'defaults: {}\n'");
        check(
            "apiVersion: v1\nkind: Pod\n",
            "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        );
        check(
            &format!("{head}exemptions: {{users: [ann]}}\n"),
            "strict decoding error: unknown field \"exemptions.users\"",
        );
        let valid = format!("{head}defaults: {{enforce: baseline}}\n");
        let decoded = decode_plugin_configuration("psa.yaml", valid.as_bytes(), &KINDS).unwrap();
        assert_eq!(decoded["defaults"]["enforce"], "baseline");
    }
}
