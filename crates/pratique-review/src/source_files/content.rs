//! What the content of a file says of it.

use std::path::Path;

use pratique_json::Value;
use pratique_manifest::{LoadErrors, ManifestFile, path_text, read_contents};
use pratique_stream::to_utf8;

use super::SourceKind;
use pratique_manifest::convert::convert;

/// The group of kustomizations. That of the objects which Flux makes of some is another one.
const KUSTOMIZE_GROUP: &str = "kustomize.config.k8s.io/";

/// The fields of a configuration of transformers, all of which are lists.
// Upstream: kustomize, api/internal/plugins/builtinconfig/transformerconfig.go, TransformerConfig
const CONFIGURED: [&str; 11] = [
    "commonAnnotations",
    "commonLabels",
    "images",
    "labels",
    "namePrefix",
    "nameReference",
    "nameSuffix",
    "namespace",
    "replicas",
    "templateLabels",
    "varReference",
];

/// Words of which a source has one, unless its name or its directory says what it is.
const WORDS: [&str; 6] = [
    "{{",
    KUSTOMIZE_GROUP,
    KUSTOMIZE_BUILTIN,
    "fieldSpecs",
    "path:",
    "clusters",
];

/// The `apiVersion` of transformers and generators that are part of Kustomize.
// Upstream: kustomize, api/konfig/general.go, BuiltinPluginApiVersion
const KUSTOMIZE_BUILTIN: &str = "builtin";

/// The groups of what programs are configured with, and their kind where the group has others as well. No server has them.
const PROGRAM_GROUPS: [(&str, Option<&str>); 15] = [
    ("audit.k8s.io/", Some("Policy")),
    ("client.authentication.k8s.io/", None),
    ("controller-runtime.sigs.k8s.io/", None),
    ("ctlptl.dev/", None),
    ("kind.sigs.k8s.io/", None),
    ("kind.x-k8s.io/", None),
    ("kubeadm.k8s.io/", None),
    ("kubecontrollermanager.config.k8s.io/", None),
    ("kubelet.config.k8s.io/", None),
    ("kubeproxy.config.k8s.io/", None),
    ("kubescheduler.config.k8s.io/", None),
    ("pratique/", Some("Baseline")),
    ("pratique/", Some("Configuration")),
    ("pratique/", Some("Exceptions")),
    ("skaffold/", None),
];

/// The groups of what an API server reads when it starts, besides those of [`SERVER_PLUGINS`].
const SERVER_GROUPS: [&str; 2] = ["apiserver.config.k8s.io/", "apiserver.k8s.io/"];

/// How the groups of the configurations of plugins end, which stand in an AdmissionConfiguration or in files of their own. A review
/// has the group `admission.k8s.io`.
const SERVER_PLUGINS: [&str; 2] = [".admission.config.k8s.io/", ".admission.k8s.io/"];

/// The kinds of tests, by their groups. No cluster has them, whatever names they have.
const TEST_KINDS: [(&str, &[&str]); 3] = [
    // Upstream: kyverno, cmd/cli/kubectl-kyverno/apis
    (
        "cli.kyverno.io/",
        &["Context", "Test", "UserInfo", "Value", "Values", "Variable"],
    ),
    ("pratique/", &["Suite"]),
    // Upstream: gatekeeper, pkg/gator/verify/read_suites.go
    ("test.gatekeeper.sh/", &["Suite"]),
];

/// The version and kind of a kubeconfig, which has `clusters`.
const KUBECONFIG: (&str, &str) = ("v1", "Config");

/// The content of a file, read only as far as it is asked.
pub(super) struct FileContent {
    text: String,
    is_whole: bool,
    is_json: bool,
    documents: Vec<Value<'static>>,
    errors: LoadErrors,
}

impl FileContent {
    /// A content, or the beginning of one, of which no document is read.
    pub(super) fn new(path: &Path, text: &[u8], is_whole: bool) -> Self {
        let text = to_utf8(text.to_vec());
        let file = ManifestFile {
            path: path_text(path),
            content: if is_whole { text.clone() } else { Vec::new() },
        };
        let contents = read_contents(&file);
        let documents = contents.documents.iter();
        let documents = documents.map(|document| convert(document.source.tree(), document.source.root()));
        FileContent {
            text: String::from_utf8_lossy(&text).into_owned(),
            is_whole,
            is_json: path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("json")),
            documents: documents.filter(|document| !document.is_null()).collect(),
            errors: contents.errors,
        }
    }

    /// Whether there is no object of the API in it: no document with a kind.
    pub(super) fn has_no_object(&self) -> bool {
        let mut documents = self.documents.iter();
        self.is_whole && self.is_read() && documents.all(|document| document.get("kind").is_none())
    }

    /// Whether an object of the API with a name is in it, or may be: a large content is not read.
    pub(super) fn may_have_object(&self) -> bool {
        let is_one = |document: &Value<'static>| {
            let text = |path: &[&str]| document.at(path).and_then(Value::as_str).unwrap_or_default();
            let version = text(&["apiVersion"]);
            // Transformers and generators are named so, and no server knows them.
            let is_of_kustomize = version == KUSTOMIZE_BUILTIN || version.starts_with(KUSTOMIZE_GROUP);
            let is_test = || document_kind(document) == Some(SourceKind::TestSuite);
            let is_typed = !version.is_empty() && !text(&["kind"]).is_empty();
            // Whatever its kind, items are those of a list.
            is_typed && (has_items(document) || (!is_of_kustomize && is_named(document) && !is_test()))
        };
        let is_unread = !self.is_whole && !self.is_template();
        is_unread || self.documents.iter().any(is_one)
    }

    /// Whether it is a kustomization, or a component. Kustomizations need no kind if their file has its name.
    pub(super) fn is_kustomization(&self, is_named_so: bool) -> bool {
        let text = |document: &Value<'_>, name: &str| {
            let text = document.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let is_one = |document: &Value<'static>| {
            let (version, kind) = (text(document, "apiVersion"), text(document, "kind"));
            let is_of_kustomize = version.starts_with(KUSTOMIZE_GROUP) || (is_named_so && version.is_empty());
            let has_kind = matches!(kind.as_str(), "Kustomization" | "Component");
            !has_items(document) && is_of_kustomize && (has_kind || (is_named_so && kind.is_empty()))
        };
        let is_empty = self.documents.is_empty() && is_named_so;
        self.is_whole
            && self.is_read()
            && (is_empty || (!self.documents.is_empty() && self.documents.iter().all(is_one)))
    }

    /// What a file is that only programs read: the configuration of one, such as kind and kubectl, or tests; `None` for another.
    /// What has a name may be an object, since a cluster can have a definition of such a group, unless it is a test.
    pub(super) fn program_kind(&self) -> Option<SourceKind> {
        if !self.is_whole || !self.is_read() {
            return None;
        }
        let mut kinds = self.documents.iter().map(document_kind);
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }

    /// Whether it configures the transformers of Kustomize: `kustomizeconfig.yaml`, as kubebuilder writes it.
    pub(super) fn is_kustomize_configuration(&self) -> bool {
        let is_one = |document: &Value<'static>| match document {
            Value::Object(members) if document.get("apiVersion").is_some() => {
                members.get("apiVersion").and_then(Value::as_str) == Some(KUSTOMIZE_BUILTIN)
                    && members.get("kind").is_some()
                    && !has_items(document)
            }
            Value::Object(members) => {
                let mut members = members.iter();
                let is_configured = |(name, value): (&str, &Value<'_>)| {
                    CONFIGURED.contains(&name) && value.as_array().is_some()
                };
                members.len() > 0 && members.all(|(name, value)| is_configured((name, value)))
            }
            _ => false,
        };
        self.is_read() && !self.documents.is_empty() && self.documents.iter().all(is_one)
    }

    /// Whether it is a JSON Patch: a list of operations.
    pub(super) fn is_json_patch(&self) -> bool {
        let is_operation = |item: &Value<'_>| item.get("op").is_some() && item.get("path").is_some();
        let is_one = |document: &Value<'static>| match document {
            Value::Array(items) => !items.is_empty() && items.iter().all(is_operation),
            _ => false,
        };
        self.is_read() && !self.documents.is_empty() && self.documents.iter().all(is_one)
    }

    /// Whether nothing in it is a syntax error.
    pub(super) fn is_read(&self) -> bool {
        self.errors.failures().is_empty()
    }

    /// Whether it has an action of a template somewhere.
    pub(super) fn has_action(&self) -> bool {
        self.text.contains("{{")
    }

    /// Whether it is a template wherever it lies: it begins with an action, or cannot be read because of one. Texts in objects may
    /// have actions as well, such as those of alerts.
    pub(super) fn is_template(&self) -> bool {
        if !self.has_action() {
            return false;
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let is_text = |line: &&&str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && line != "---"
        };
        let begins = lines
            .iter()
            .find(is_text)
            .is_some_and(|line| line.trim_start().starts_with("{{"));
        let locations = self
            .errors
            .problems()
            .filter_map(|problem| problem.location.as_ref());
        let mut lines_of_errors = locations.map(|location| location.start.line as usize);
        // The reader stops at an action, or where it goes on after one.
        let is_of_action = |line: usize| {
            let around = lines.iter().skip(line.saturating_sub(2)).take(2);
            around.clone().any(|line| line.contains("{{"))
        };
        // Lines of JSON may be cut off, as in logs.
        begins || (!self.is_json && lines_of_errors.any(is_of_action))
    }
}

/// What a document is that only programs read.
fn document_kind(document: &Value<'static>) -> Option<SourceKind> {
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() || has_items(document) {
        return None;
    }
    let is_test = |(group, kinds): &(&str, &[&str])| version.starts_with(group) && kinds.contains(&kind);
    if TEST_KINDS.iter().any(is_test) {
        return Some(SourceKind::TestSuite);
    }
    if is_named(document) {
        return None;
    }
    let is_of_program = |(group, only): &(&str, Option<&str>)| {
        version.starts_with(group) && only.is_none_or(|only| kind == only)
    };
    if (version, kind) == KUBECONFIG || PROGRAM_GROUPS.iter().any(is_of_program) {
        return Some(SourceKind::ProgramConfiguration);
    }
    let is_of_server = SERVER_GROUPS.iter().any(|group| version.starts_with(group))
        || SERVER_PLUGINS.iter().any(|suffix| version.contains(suffix));
    is_of_server.then_some(SourceKind::ServerConfiguration)
}

/// Whether an object is a list, whatever its kind.
fn has_items(object: &Value<'static>) -> bool {
    let items = object.get("items").and_then(Value::as_array);
    items.is_some_and(|items| !items.is_empty())
}

/// Whether an object has a name, or is to get one.
fn is_named(object: &Value<'static>) -> bool {
    let name = |field: &&str| object.at(&["metadata", field]).and_then(Value::as_str);
    let mut names = ["name", "generateName"].iter().filter_map(name);
    names.any(|name| !name.is_empty())
}

/// Whether a text may be a source whose name and directory say nothing.
pub(super) fn may_be_source(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let has = |word: &str| text.contains(word);
    let programs = PROGRAM_GROUPS.iter().map(|(group, _)| *group);
    let tests = TEST_KINDS.iter().map(|(group, _)| *group);
    let groups = programs.chain(tests).chain(SERVER_GROUPS).chain(SERVER_PLUGINS);
    WORDS.into_iter().chain(groups).any(has)
}
