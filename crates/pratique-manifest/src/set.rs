//! What loads: the objects of a plugin's manifests, defaulted and valid, with their sources.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};

use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::kind::Kind;
use crate::position::{DocumentSource, Location};
use crate::tree::{NodeId, Step, Tree};

/// The objects of a directory of static manifests. Each list is sorted by name, bytewise.
#[derive(Clone, Debug, Default)]
pub struct ManifestSet {
    /// `sha256:` and the hash of the files' content; empty when no file has any.
    pub hash: String,
    /// ValidatingAdmissionPolicies.
    pub validating_policies: Vec<Loaded<ValidatingAdmissionPolicy>>,
    /// Bindings of ValidatingAdmissionPolicies.
    pub validating_bindings: Vec<Loaded<ValidatingAdmissionPolicyBinding>>,
    /// MutatingAdmissionPolicies.
    pub mutating_policies: Vec<Loaded<MutatingAdmissionPolicy>>,
    /// Bindings of MutatingAdmissionPolicies.
    pub mutating_bindings: Vec<Loaded<MutatingAdmissionPolicyBinding>>,
    /// ValidatingWebhookConfigurations.
    pub validating_webhooks: Vec<Loaded<ValidatingWebhookConfiguration>>,
    /// MutatingWebhookConfigurations.
    pub mutating_webhooks: Vec<Loaded<MutatingWebhookConfiguration>>,
    /// Text that follows the end of a document, and that the server does not read.
    pub unread: Vec<Location>,
}

impl ManifestSet {
    /// Takes another set's objects.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.validating_policies.append(&mut other.validating_policies);
        self.validating_bindings.append(&mut other.validating_bindings);
        self.mutating_policies.append(&mut other.mutating_policies);
        self.mutating_bindings.append(&mut other.mutating_bindings);
        self.validating_webhooks.append(&mut other.validating_webhooks);
        self.mutating_webhooks.append(&mut other.mutating_webhooks);
        self.unread.append(&mut other.unread);
    }

    /// The kinds and names of all objects.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Kind, &str)> {
        names(Kind::ValidatingAdmissionPolicy, &self.validating_policies)
            .chain(names(
                Kind::ValidatingAdmissionPolicyBinding,
                &self.validating_bindings,
            ))
            .chain(names(Kind::MutatingAdmissionPolicy, &self.mutating_policies))
            .chain(names(
                Kind::MutatingAdmissionPolicyBinding,
                &self.mutating_bindings,
            ))
            .chain(names(
                Kind::ValidatingWebhookConfiguration,
                &self.validating_webhooks,
            ))
            .chain(names(Kind::MutatingWebhookConfiguration, &self.mutating_webhooks))
    }

    /// The file, kind and name of each object.
    pub(crate) fn names_in_files(&self) -> impl Iterator<Item = (&str, Kind, &str)> {
        let files = files(&self.validating_policies)
            .chain(files(&self.validating_bindings))
            .chain(files(&self.mutating_policies))
            .chain(files(&self.mutating_bindings))
            .chain(files(&self.validating_webhooks))
            .chain(files(&self.mutating_webhooks));
        files
            .zip(self.names())
            .map(|(file, (kind, name))| (file, kind, name))
    }
}

fn files<T>(list: &[Loaded<T>]) -> impl Iterator<Item = &str> {
    list.iter().map(|loaded| &**loaded.source.document().file())
}

fn names<T: Metadata<Ty = ObjectMeta>>(kind: Kind, list: &[Loaded<T>]) -> impl Iterator<Item = (Kind, &str)> {
    let names = list.iter().map(|loaded| loaded.object.metadata().name.as_deref());
    names.map(move |name| (kind, name.unwrap_or_default()))
}

/// An object and where it came from.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// The object, defaulted. What is made of it can tell by identity that it is the same as before.
    pub object: Arc<T>,
    /// Its source.
    pub source: ObjectSource,
}

/// Where an object stands in its file, and where each of its fields does.
#[derive(Clone, Debug)]
pub struct ObjectSource {
    document: Arc<ParsedDocument>,
    root: NodeId,
}

/// A document's text, and its values once somebody asks for a place in it: a directory that loads takes hardly more
/// memory than its text and its objects.
#[derive(Debug)]
pub(crate) struct ParsedDocument {
    pub(crate) source: DocumentSource,
    is_json: bool,
    tree: OnceLock<Box<Tree>>,
}

impl ParsedDocument {
    pub(crate) fn new(source: DocumentSource, is_json: bool) -> Self {
        Self {
            source,
            is_json,
            tree: OnceLock::new(),
        }
    }

    /// Keeps the values that were read.
    pub(crate) fn keep(&self, tree: Tree) {
        // If somebody asked before, they are there.
        let _ = self.tree.set(Box::new(tree));
    }

    pub(crate) fn tree(&self) -> &Tree {
        // The text was parsed before, so it parses, and to the same nodes.
        self.tree.get_or_init(|| {
            Box::new(crate::parse::tree(self.source.text(), self.is_json).unwrap_or_default())
        })
    }
}

impl ObjectSource {
    pub(crate) fn new(document: Arc<ParsedDocument>, root: NodeId) -> Self {
        Self { document, root }
    }

    /// Whether the document is JSON, rather than YAML.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.document.is_json
    }

    /// Whether places in the document can still be told.
    pub(crate) fn has_text(&self) -> bool {
        !self.document.source.text().is_empty()
    }

    /// The same object's source, where every place is the document's start.
    pub(crate) fn without_text(&self) -> Self {
        let source = self.document.source.without_text();
        Self {
            document: Arc::new(ParsedDocument::new(source, self.document.is_json)),
            root: self.root,
        }
    }

    /// The document that the object is in.
    #[must_use]
    pub fn document(&self) -> &DocumentSource {
        &self.document.source
    }

    /// The values as they were written, before defaulting.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        self.document.tree()
    }

    /// The object's node of [`tree`](Self::tree).
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// Where a field stands; if it is not given, where the nearest object around it is.
    #[must_use]
    pub fn locate(&self, path: &[Step]) -> Location {
        self.document
            .source
            .location(self.document.tree().nearest_span(self.root, path))
    }

    /// Where a range of a string field's decoded text stands in the file, as [`locate_in`](Self::locate_in) for one byte.
    #[must_use]
    pub fn locate_range(&self, path: &[Step], range: Range<usize>) -> Location {
        let mut location = self.locate_in(path, range.start);
        if let Some(last) = range.end.checked_sub(1).filter(|last| *last > range.start) {
            location.end = self.locate_in(path, last).end;
        }
        location
    }

    /// Where a byte of a string field's decoded text stands in the file, through quotes, escapes and folded lines.
    #[must_use]
    pub fn locate_in(&self, path: &[Step], offset: usize) -> Location {
        let Some(id) = self.document.tree().find(self.root, path) else {
            return self.locate(path);
        };
        let span = crate::scalar::span_at(&self.document.source, self.document.tree().get(id), offset);
        self.document.source.location(span)
    }
}
