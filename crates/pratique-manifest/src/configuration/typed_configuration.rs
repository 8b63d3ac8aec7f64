//! The configuration of plugins that have kinds of their own.

use pratique_schema::Release;
use pratique_types::aggregate;
use serde_json::Value as Json;

use super::open::whole_file;
use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::decode::{self, RawDecoding, failures, registry};
use crate::parse::{ParsedContent, parse};
use crate::problem::{Failure, Problem, Rule};
use crate::tree::{NodeId, PathStep};

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

impl ConfigurationKind {
    /// The version that configurations have within a server.
    pub const INTERNAL: &'static str = "__internal";

    /// A kind that is decoded into a type.
    pub const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        type_name: &'static str,
    ) -> Self {
        ConfigurationKind {
            group,
            version,
            kind,
            type_name,
        }
    }

    /// The kind that configurations have within a server, which reads it too, without its fields.
    pub const fn internal(group: &'static str, kind: &'static str) -> Self {
        ConfigurationKind::new(group, Self::INTERNAL, kind, "meta/v1.TypeMeta")
    }
}

/// Whether a plugin refuses fields that it does not know, and those that are given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldStrictness {
    /// It refuses them.
    Strict,
    /// It passes over them.
    Lenient,
}

/// The configuration of a plugin, decoded, with the places of its fields.
pub struct DecodedConfiguration {
    parsed: ParsedContent,
    value: Json,
}

/// A field of a configuration that is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationFault {
    /// The path to it, as `limits[0].qps`.
    pub field: String,
    /// The server's message.
    pub message: String,
}

/// Decodes the configuration of a plugin, YAML or JSON, as the codec of a server of a release for these kinds does. Defaults are not set.
///
/// # Errors
/// It cannot be read, is of another kind, or has fields that do not fit; with all places.
// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, Serializer.Decode
pub fn decode_plugin_configuration(
    path: &str,
    text: &[u8],
    kinds: &[ConfigurationKind],
    (strictness, release): (FieldStrictness, &'static Release),
) -> Result<DecodedConfiguration, Failure> {
    let parsed = parse_file(path, text, release)?;
    let document_kind = failures::kind_of(&parsed, parsed.root, release)?;
    let kind = kinds.iter().find(|kind| {
        kind.group == document_kind.group
            && kind.version == document_kind.version
            && kind.kind == document_kind.kind
    });
    let Some(kind) = kind else {
        let text = registry::not_registered(&document_kind, release);
        return Err(failures::unsupported(&parsed, parsed.root, text, release));
    };
    let types = (release, kind.type_name);
    let value = decode_value(&parsed, parsed.root, types, strictness)?;
    Ok(DecodedConfiguration { parsed, value })
}

/// Decodes a value of a type of a release, or says what is wrong with it.
pub(super) fn decode_value(
    parsed: &ParsedContent,
    id: NodeId,
    (release, type_name): (&'static Release, &str),
    strictness: FieldStrictness,
) -> Result<Json, Failure> {
    let mut decoded = decode::decode(release, parsed.tree(), id, type_name, RawDecoding::Kept);
    if strictness == FieldStrictness::Lenient {
        decoded.strict.clear();
    }
    let failure = failures::decoding(parsed, id, &decoded).and_then(|failure| match strictness {
        FieldStrictness::Strict => Some(failure),
        FieldStrictness::Lenient => without_duplicates(failure),
    });
    failure.map_or(Ok(decoded.value), Err)
}

/// The failure without the problems that only a strict decoder refuses, if any are left.
fn without_duplicates(mut failure: Failure) -> Option<Failure> {
    failure
        .problems
        .retain(|problem| problem.rule != Rule::DuplicateField);
    (!failure.problems.is_empty()).then_some(failure)
}

/// The failure of a configuration for which a plugin has no codec: the faults are found in it as far as it can be read.
pub fn invalid_configuration(
    path: &str,
    text: &[u8],
    (message, field): (&str, &str),
    release: &Release,
) -> Failure {
    match parse_file(path, text, release) {
        Ok(parsed) => failure(
            &parsed,
            message.to_owned(),
            &[ConfigurationFault::new(field, message)],
        ),
        Err(mut unparsed) => {
            message.clone_into(&mut unparsed.text);
            unparsed
        }
    }
}

fn parse_file(path: &str, text: &[u8], release: &Release) -> Result<ParsedContent, Failure> {
    let file = whole_file(path, text.to_vec());
    parse(file, &Budget::new(DEFAULT_LOAD_BYTES), release).map_err(|failure| *failure)
}

impl DecodedConfiguration {
    /// The configuration as JSON, without empty fields.
    pub fn value(&self) -> &Json {
        &self.value
    }

    /// The failure of a configuration that decodes and is not valid: the server's message, and each fault by its field.
    pub fn invalid(&self, text: impl Into<String>, faults: &[ConfigurationFault]) -> Failure {
        failure(&self.parsed, text.into(), faults)
    }
}

impl ConfigurationFault {
    /// A fault of a field, with its message.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        ConfigurationFault {
            field: field.into(),
            message: message.into(),
        }
    }

    /// Several faults as one message: each once, and without brackets where there is one.
    pub fn aggregate(faults: &[Self]) -> String {
        aggregate(faults.iter().map(|fault| &fault.message))
    }
}

fn failure(parsed: &ParsedContent, text: String, faults: &[ConfigurationFault]) -> Failure {
    let problem = |ConfigurationFault { field, message }: &ConfigurationFault| {
        let span = parsed.tree().nearest_span(parsed.root, &steps(field));
        let problem = Problem::new(Rule::Configuration, message).at(parsed.document.source.location(span));
        if field.is_empty() {
            problem
        } else {
            problem.with_field(field)
        }
    };
    Failure {
        text,
        problems: faults.iter().map(problem).collect(),
    }
}

/// The steps to a field from its path, such as `limits[0].qps`.
pub(super) fn steps(field: &str) -> Vec<PathStep> {
    let mut steps = Vec::new();
    for part in field.split('.').filter(|part| !part.is_empty()) {
        let (name, indices) = part.split_once('[').unwrap_or((part, ""));
        if !name.is_empty() {
            steps.push(PathStep::Field(name.to_owned()));
        }
        for index in indices.split('[') {
            match index.trim_end_matches(']').parse() {
                Ok(index) => steps.push(PathStep::Index(index)),
                Err(_) => break,
            }
        }
    }
    steps
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

    fn decode(text: &str, strictness: FieldStrictness) -> Result<Json, String> {
        decode_of(Release::latest(), text, strictness)
    }

    fn decode_of(release: &'static Release, text: &str, strictness: FieldStrictness) -> Result<Json, String> {
        let decoded = decode_plugin_configuration("psa.yaml", text.as_bytes(), &KINDS, (strictness, release));
        decoded
            .map(|decoded| decoded.value)
            .map_err(|failure| failure.text)
    }

    #[test]
    fn errors_are_those_of_the_server() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                decode(text, FieldStrictness::Strict).unwrap_err(),
                expected,
                "{text}"
            );
        };
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
        let decoded = decode(&valid, FieldStrictness::Strict).unwrap();
        assert_eq!(decoded["defaults"]["enforce"], "baseline");
    }

    /// Before 1.37 its type embeds apiVersion and kind without a tag.
    #[test]
    fn every_release_knows_of_which_kind_a_configuration_is() {
        let text = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n";
        for release in Release::list() {
            let decoded = decode_of(release, text, FieldStrictness::Strict);
            assert_eq!(
                decoded.map(|decoded| decoded["kind"].clone()),
                Ok("PodSecurityConfiguration".into()),
                "{}",
                release.patch_version()
            );
        }
    }

    #[test]
    fn lenient_plugins_pass_over_unknown_and_repeated_fields() {
        let head = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n";
        let odd = format!("{head}other: 1\ndefaults: {{enforce: baseline, enforce: restricted}}\n");
        assert!(decode(&odd, FieldStrictness::Strict).is_err());
        let decoded = decode(&odd, FieldStrictness::Lenient).unwrap();
        assert_eq!(decoded["defaults"]["enforce"], "restricted");
        let wrong = format!("{head}other: 1\nother: 1\ndefaults: []\n");
        let error = decode(&wrong, FieldStrictness::Lenient).unwrap_err();
        assert!(error.contains("cannot unmarshal array"), "{error}");
    }

    #[test]
    fn faults_are_found_by_their_fields() {
        let text = b"policy:\n  list:\n  - a: 1\n  - a: 2\n";
        let place = |field: &str| {
            let failure = invalid_configuration("x.yaml", text, ("bad", field), Release::latest());
            let location = failure.problems[0].location.clone().unwrap();
            (location.start.line, location.start.column)
        };
        assert_eq!(place("policy.list[1].a"), (4, 8));
        assert_eq!(place("policy.other"), (1, 1));
    }
}
