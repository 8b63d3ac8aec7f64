//! What loads: the objects of a plugin's manifests, defaulted and valid, with their sources.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};

use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::kind::Kind;
use crate::parse::source::ObjectSource;
use crate::position::Location;

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
