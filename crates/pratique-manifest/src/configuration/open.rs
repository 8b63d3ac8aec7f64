//! Opening an AdmissionConfiguration file.

use std::sync::Arc;

use pratique_gotext::strconv::quote;
use pratique_schema::Release;
use pratique_typed::decode::{TreeNode, type_meta};
use pratique_types::GroupVersionKind;
use pratique_types::configuration::AdmissionConfiguration;

use crate::budget::{Budget, DEFAULT_LOAD_BYTES};
use crate::decode::{self, RawDecoding, failures, registry};
use crate::parse::file_document::FileDocument;
use crate::parse::split::RawDocument;
use crate::parse::{ParsedContent, parse};
use crate::position::{DocumentStart, file_lines};
use crate::problem::{Failure, Problem, Rule};
use crate::read::directory;
use crate::tree::{NodeId, PathStep};

/// An AdmissionConfiguration, and the file that it is from.
pub(super) struct OpenedConfiguration {
    pub(super) path: String,
    pub(super) parsed: Option<ParsedContent>,
    pub(super) configuration: AdmissionConfiguration,
}

impl OpenedConfiguration {
    /// The node of a plugin's embedded configuration.
    pub(super) fn embedded(&self, index: usize) -> Option<(&ParsedContent, NodeId)> {
        let parsed = self.parsed.as_ref()?;
        let path = [
            PathStep::Field("plugins".to_owned()),
            PathStep::Index(index),
            PathStep::Field("configuration".to_owned()),
        ];
        Some((parsed, parsed.tree().find(parsed.root, &path)?))
    }
}

const GROUP: &str = "apiserver.config.k8s.io";
/// Kinds of the same group that the server decodes and then refuses here.
const OTHER_KINDS: [&str; 4] = [
    "AuthenticationConfiguration",
    "AuthorizationConfiguration",
    "EncryptionConfiguration",
    "TracingConfiguration",
];

// Upstream: apiserver/pkg/admission/config.go, ReadAdmissionConfiguration
pub(super) fn open(path: &str, release: &'static Release) -> Result<OpenedConfiguration, Failure> {
    let bytes = directory::read_file(path).map_err(|reason| {
        let text = format!(
            "unable to read admission control configuration from {} [{reason}]",
            quote(path)
        );
        prefixed(Problem::new(Rule::Unreadable, text).into())
    })?;
    open_content(path, bytes, release)
}

/// Opens a file whose content was read already.
pub(super) fn open_content(
    path: &str,
    bytes: Vec<u8>,
    release: &'static Release,
) -> Result<OpenedConfiguration, Failure> {
    let parsed = parse(whole_file(path, bytes), &Budget::new(DEFAULT_LOAD_BYTES), release)
        .map_err(|failure| prefixed(*failure))?;
    let configuration = match decode_configuration(&parsed, release) {
        Ok(configuration) => configuration,
        Err(FileRefusal::Legacy) => AdmissionConfiguration::default(),
        Err(FileRefusal::Failed(failure)) => return Err(prefixed(failure)),
    };
    Ok(OpenedConfiguration {
        path: path.to_owned(),
        parsed: Some(parsed),
        configuration,
    })
}

fn prefixed(failure: Failure) -> Failure {
    failure.prefixed("failed to read plugin config: ")
}

/// A file as one document: configurations are not split, and text after the first document is ignored.
pub(super) fn whole_file(path: &str, bytes: Vec<u8>) -> FileDocument {
    let file_lines = file_lines(&bytes);
    let start = DocumentStart::FILE;
    FileDocument {
        file: Arc::from(path),
        index: 0,
        raw: RawDocument { bytes, start },
        file_lines,
    }
}

/// Why a file is not an AdmissionConfiguration.
enum FileRefusal {
    /// It is one of the two unversioned legacy kinds, which configure other plugins.
    Legacy,
    Failed(Failure),
}

fn decode_configuration(
    parsed: &ParsedContent,
    release: &'static Release,
) -> Result<AdmissionConfiguration, FileRefusal> {
    let unless_legacy = |failure| {
        if is_legacy(parsed, release) {
            FileRefusal::Legacy
        } else {
            FileRefusal::Failed(failure)
        }
    };
    let document_kind = failures::kind_of(parsed, parsed.root, release).map_err(unless_legacy)?;
    if let Some(type_name) = configuration_type(&document_kind) {
        return decode_as(parsed, parsed.root, (release, type_name)).map_err(FileRefusal::Failed);
    }
    if document_kind.group == GROUP
        && OTHER_KINDS.contains(&document_kind.kind.as_str())
        && document_kind.version == "v1"
    {
        let text = format!("unexpected type: *apiserver.{}", document_kind.kind);
        return Err(FileRefusal::Failed(failures::unsupported(
            parsed,
            parsed.root,
            text,
            release,
        )));
    }
    let text = registry::not_registered(&document_kind, release);
    Err(unless_legacy(failures::unsupported(
        parsed,
        parsed.root,
        text,
        release,
    )))
}

fn configuration_type(document_kind: &GroupVersionKind) -> Option<&'static str> {
    let type_name = match (document_kind.group.as_str(), document_kind.version.as_str()) {
        (GROUP, "v1") => "apiserver/v1.AdmissionConfiguration",
        ("apiserver.k8s.io", "v1alpha1") => "apiserver/v1alpha1.AdmissionConfiguration",
        _ => return None,
    };
    (document_kind.kind == "AdmissionConfiguration").then_some(type_name)
}

/// Whether a file without a known kind has a field of the legacy kinds.
fn is_legacy(parsed: &ParsedContent, release: &Release) -> bool {
    ["imagePolicy", "podNodeSelectorPluginConfig"]
        .iter()
        .any(|key| parsed.tree().entry(parsed.root, key).is_some())
        && type_meta(TreeNode::new(parsed.tree(), parsed.root), release).is_ok()
}

/// Decodes a value strictly as a type of a release that has the fields of one of the tables.
pub(super) fn decode_as<T: serde::de::DeserializeOwned + Default>(
    parsed: &ParsedContent,
    id: NodeId,
    (release, type_name): (&'static Release, &str),
) -> Result<T, Failure> {
    let decoded = decode::decode(release, parsed.tree(), id, type_name, RawDecoding::Kept);
    match failures::decoding(parsed, id, &decoded) {
        Some(failure) => Err(failure),
        // The types are the schema's, so nothing is lost.
        None => Ok(serde_json::from_value(decoded.value).unwrap_or_default()),
    }
}
