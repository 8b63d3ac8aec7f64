//! The chain and what it is made of.

use std::sync::Arc;

use pratique_expression::Cache;
use pratique_manifest::{
    ConfigurationErrors, ConfigurationOptions, LoadErrors, ManifestFile, ManifestSet, Options, Plugin,
    load_configuration, load_directory, load_files,
};
use pratique_policy::{Observer, Origin, Policies, Surroundings, Unfinished, validate};
use pratique_types::admissionregistration::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};
use pratique_types::{AdmissionRequest, AdmissionResponse};

use crate::expressions::Expressions;

/// Everything that judges requests: compiled, immutable, shared between threads.
#[derive(Debug)]
pub struct Admission {
    /// In the order in which they judge.
    policies: [Policies; 2],
    names: Vec<String>,
}

/// Collects what an [`Admission`] is made of.
#[derive(Debug)]
pub struct Builder {
    expressions: Expressions,
    manifest_gate: bool,
    manifests: Vec<ManifestSet>,
    policies: Vec<ValidatingAdmissionPolicy>,
    bindings: Vec<ValidatingAdmissionPolicyBinding>,
}

/// Configuration that loads but that this version does not evaluate. To go on without it would let in what it was
/// meant to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} objects of plugin {plugin} load, but are not evaluated by this version")]
pub struct NotEvaluated {
    /// The plugin that evaluates them in an API server.
    pub plugin: Plugin,
    /// How many there are.
    pub count: usize,
}

impl Admission {
    /// Begins with nothing.
    pub fn builder() -> Builder {
        Builder {
            expressions: Expressions::new(Arc::new(Cache::new())),
            manifest_gate: true,
            manifests: Vec::new(),
            policies: Vec::new(),
            bindings: Vec::new(),
        }
    }

    /// Judges a request.
    pub fn review(
        &self,
        request: &AdmissionRequest<'_>,
        surroundings: Surroundings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<AdmissionResponse, Unfinished> {
        let [first, second] = &self.policies;
        let verdict = validate(&[first, second], request, surroundings, observer)?;
        Ok(AdmissionResponse {
            uid: request.uid.clone(),
            allowed: verdict.allowed(),
            result: verdict.status,
            warnings: verdict.warnings,
            audit_annotations: verdict.audit_annotations,
            ..AdmissionResponse::default()
        })
    }

    /// The names of the static policies, in the order in which they judge.
    pub fn policy_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

impl Builder {
    /// Sets the feature gate `ManifestBasedAdmissionControlConfig`; it is on unless set.
    pub fn manifest_gate(self, manifest_gate: bool) -> Self {
        Builder {
            manifest_gate,
            ..self
        }
    }

    /// Adds what an AdmissionConfiguration file names.
    ///
    /// # Errors
    /// All that is wrong with the file and the manifests it names.
    pub fn configuration(mut self, path: &str) -> Result<Self, ConfigurationErrors> {
        let options = ConfigurationOptions {
            expressions: &self.expressions,
            manifest_gate: self.manifest_gate,
        };
        let loaded = load_configuration(path, &options)?;
        self.manifests
            .extend(loaded.plugins.into_iter().map(|plugin| plugin.manifests));
        Ok(self)
    }

    /// Adds a directory of static manifests.
    ///
    /// # Errors
    /// All that is wrong with the manifests.
    pub fn directory(mut self, path: &str, plugin: Plugin) -> Result<Self, LoadErrors> {
        let set = load_directory(
            path,
            plugin,
            &Options {
                expressions: &self.expressions,
            },
        )?;
        self.manifests.push(set);
        Ok(self)
    }

    /// Adds static manifests that were read already.
    ///
    /// # Errors
    /// All that is wrong with the manifests.
    pub fn files(mut self, files: &[ManifestFile], plugin: Plugin) -> Result<Self, LoadErrors> {
        let set = load_files(
            files,
            plugin,
            &Options {
                expressions: &self.expressions,
            },
        )?;
        self.manifests.push(set);
        Ok(self)
    }

    /// The compiler for sets that are loaded elsewhere: what it compiled need not be compiled again.
    pub fn expressions(&self) -> &Expressions {
        &self.expressions
    }

    /// Adds static manifests that were loaded already.
    pub fn manifests(mut self, set: ManifestSet) -> Self {
        self.manifests.push(set);
        self
    }

    /// Adds policies and bindings of the API: defaulted, and used as far as they go where they are not valid.
    pub fn api(
        mut self,
        policies: impl IntoIterator<Item = ValidatingAdmissionPolicy>,
        bindings: impl IntoIterator<Item = ValidatingAdmissionPolicyBinding>,
    ) -> Self {
        self.policies.extend(policies);
        self.bindings.extend(bindings);
        self
    }

    /// Compiles everything.
    ///
    /// # Errors
    /// Manifests of a plugin that this version does not evaluate.
    pub fn build(self) -> Result<Admission, NotEvaluated> {
        self.manifests.iter().try_for_each(evaluated)?;
        let cache = self.expressions.cache();
        let policies = self.manifests.iter().flat_map(|set| &set.validating_policies);
        let bindings = self.manifests.iter().flat_map(|set| &set.validating_bindings);
        let static_policies = Policies::compile(
            policies.clone().map(|loaded| &loaded.object),
            bindings.map(|loaded| &loaded.object),
            Origin::Static,
            cache,
        );
        let api_policies = Policies::compile(&self.policies, &self.bindings, Origin::Api, cache);
        let mut names: Vec<String> = policies
            .filter_map(|loaded| loaded.object.metadata.name.clone())
            .collect();
        names.sort();
        Ok(Admission {
            policies: [static_policies, api_policies],
            names,
        })
    }
}

fn evaluated(set: &ManifestSet) -> Result<(), NotEvaluated> {
    let counts = [
        (Plugin::MutatingAdmissionPolicy, set.mutating_policies.len()),
        (Plugin::MutatingAdmissionWebhook, set.mutating_webhooks.len()),
        (Plugin::ValidatingAdmissionWebhook, set.validating_webhooks.len()),
    ];
    match counts.into_iter().find(|(_, count)| *count > 0) {
        Some((plugin, count)) => Err(NotEvaluated { plugin, count }),
        None => Ok(()),
    }
}
