//! The chain and what it is made of.

use std::sync::Arc;

use pratique_exclusion::Reserved;
use pratique_expression::Cache;
use pratique_json::Value;
use pratique_manifest::{
    ConfigurationErrors, ConfigurationOptions, LoadErrors, ManifestFile, ManifestSet, Options, Plugin,
    load_configuration, load_directory, load_files,
};
use pratique_policy::{
    Cluster, Mutated, MutatingPolicies, Observer, Origin, Policies, Submission, Surroundings, Unfinished,
    Verdict, mutate, validate,
};
use pratique_types::admissionregistration::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use pratique_types::{AdmissionRequest, AdmissionResponse};

use crate::authorization::{Answers, Decider};
use crate::expressions::Expressions;
use crate::outcome::Outcome;

/// Everything that judges requests: compiled, immutable, shared between threads.
#[derive(Debug)]
pub struct Admission {
    /// In the order in which they mutate.
    mutating: [MutatingPolicies; 2],
    /// In the order in which they judge.
    validating: [Policies; 2],
    names: Vec<String>,
    /// Whether reserved names are refused as the API does it, and whether the gate is on.
    reserves_names: Option<bool>,
}

/// Collects what an [`Admission`] is made of.
#[derive(Debug)]
pub struct Builder {
    expressions: Expressions,
    manifest_gate: bool,
    manifests: Vec<ManifestSet>,
    validating: (
        Vec<ValidatingAdmissionPolicy>,
        Vec<ValidatingAdmissionPolicyBinding>,
    ),
    mutating: (Vec<MutatingAdmissionPolicy>, Vec<MutatingAdmissionPolicyBinding>),
    reserves_names: bool,
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
            validating: Default::default(),
            mutating: Default::default(),
            reserves_names: false,
        }
    }

    /// Judges a request: mutating policies change its object, validating policies judge what they made of it; in both
    /// phases static ones come before those of the API.
    ///
    /// # Errors
    /// There is no answer yet: to an authorization check, or because the caller interrupted.
    pub fn judge(
        &self,
        request: &AdmissionRequest<'_>,
        surroundings: Surroundings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Unfinished> {
        let mutated = self.mutated(request, surroundings.clone(), observer)?;
        let verdict = self.validated(request, &mutated, surroundings, observer)?;
        Ok(Outcome::new(mutated, verdict))
    }

    /// Judges a request, and has its authorization checks answered by `decider`: those that are known to be needed
    /// are asked together, and judging begins again once they are answered.
    ///
    /// # Errors
    /// The caller interrupted, or a check was asked for and never answered.
    pub async fn judge_with(
        &self,
        request: &AdmissionRequest<'_>,
        cluster: &(dyn Cluster + Sync),
        decider: &dyn Decider,
        observer: &mut (dyn Observer + Send),
    ) -> Result<Outcome, Unfinished> {
        let answers = Arc::new(Answers::default());
        let mutated = loop {
            let surroundings = Surroundings::new(cluster, answers.clone());
            match self.mutated(request, surroundings, observer) {
                Err(Unfinished::Pending) => {}
                ended => break ended?,
            }
            if !answers.ask(decider).await {
                return Err(Unfinished::Pending);
            }
        };
        let verdict = loop {
            let surroundings = Surroundings::new(cluster, answers.clone());
            match self.validated(request, &mutated, surroundings, observer) {
                Err(Unfinished::Pending) => {}
                ended => break ended?,
            }
            if !answers.ask(decider).await {
                return Err(Unfinished::Pending);
            }
        };
        Ok(Outcome::new(mutated, verdict))
    }

    /// The first phase.
    fn mutated(
        &self,
        request: &AdmissionRequest<'_>,
        surroundings: Surroundings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Mutated, Unfinished> {
        let [first, second] = &self.mutating;
        mutate(&[first, second], request, surroundings, observer)
    }

    /// What comes between the phases, where it is wanted, and the second phase.
    fn validated(
        &self,
        request: &AdmissionRequest<'_>,
        mutated: &Mutated,
        surroundings: Surroundings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Verdict, Unfinished> {
        if !mutated.allowed() {
            return Ok(Verdict::default());
        }
        let submission = Submission {
            request,
            object: mutated.object.as_ref().unwrap_or(&request.object),
        };
        let warning = match self.reserved(&submission) {
            Some(Reserved::Refused(status)) => {
                return Ok(Verdict {
                    status: Some(*status),
                    ..Verdict::default()
                });
            }
            Some(Reserved::Warned(warning)) => Some(warning),
            None => None,
        };
        let [first, second] = &self.validating;
        let mut verdict = validate(&[first, second], submission, surroundings, observer)?;
        verdict.warnings.splice(0..0, warning);
        Ok(verdict)
    }

    /// What the API says to a reserved name, where this is to say it.
    fn reserved(&self, submission: &Submission<'_>) -> Option<Reserved> {
        let gate = self.reserves_names?;
        let request = submission.request;
        let name = submission
            .object
            .at(&["metadata", "name"])
            .and_then(Value::as_str);
        Reserved::of(request.operation, &request.kind, name.unwrap_or_default(), gate)
    }

    /// Judges a request, and gives the answer in the form of an admission webhook's: changes are a JSON Patch.
    ///
    /// # Errors
    /// Those of [`judge`](Self::judge).
    pub fn review(
        &self,
        request: &AdmissionRequest<'_>,
        surroundings: Surroundings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<AdmissionResponse, Unfinished> {
        Ok(self
            .judge(request, surroundings, observer)?
            .into_response(request))
    }

    /// The names of the static policies: mutating ones first, each kind in the order in which they act.
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

    /// Says to names that are reserved for static manifests what the API says to them, between the two phases. An API
    /// server does that itself; this is for those who stand in for one.
    pub fn reserve_names(self, reserves_names: bool) -> Self {
        Builder {
            reserves_names,
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

    /// Adds validating policies and bindings of the API: defaulted, and used as far as they go where they are not valid.
    pub fn api(
        mut self,
        policies: impl IntoIterator<Item = ValidatingAdmissionPolicy>,
        bindings: impl IntoIterator<Item = ValidatingAdmissionPolicyBinding>,
    ) -> Self {
        self.validating.0.extend(policies);
        self.validating.1.extend(bindings);
        self
    }

    /// Adds mutating policies and bindings of the API, as [`api`](Self::api) does.
    pub fn api_mutating(
        mut self,
        policies: impl IntoIterator<Item = MutatingAdmissionPolicy>,
        bindings: impl IntoIterator<Item = MutatingAdmissionPolicyBinding>,
    ) -> Self {
        self.mutating.0.extend(policies);
        self.mutating.1.extend(bindings);
        self
    }

    /// Compiles everything.
    ///
    /// # Errors
    /// Manifests of a plugin that this version does not evaluate.
    pub fn build(self) -> Result<Admission, NotEvaluated> {
        self.manifests.iter().try_for_each(evaluated)?;
        Ok(Admission {
            mutating: self.mutating_policies(),
            validating: self.validating_policies(),
            names: self.names(),
            reserves_names: self.reserves_names.then_some(self.manifest_gate),
        })
    }

    fn mutating_policies(&self) -> [MutatingPolicies; 2] {
        let cache = self.expressions.cache();
        let policies = self.manifests.iter().flat_map(|set| &set.mutating_policies);
        let bindings = self.manifests.iter().flat_map(|set| &set.mutating_bindings);
        let (policies, bindings) = (policies.map(|own| &own.object), bindings.map(|own| &own.object));
        [
            MutatingPolicies::compile(policies, bindings, Origin::Static, cache),
            MutatingPolicies::compile(&self.mutating.0, &self.mutating.1, Origin::Api, cache),
        ]
    }

    fn validating_policies(&self) -> [Policies; 2] {
        let cache = self.expressions.cache();
        let policies = self.manifests.iter().flat_map(|set| &set.validating_policies);
        let bindings = self.manifests.iter().flat_map(|set| &set.validating_bindings);
        let (policies, bindings) = (policies.map(|own| &own.object), bindings.map(|own| &own.object));
        [
            Policies::compile(policies, bindings, Origin::Static, cache),
            Policies::compile(&self.validating.0, &self.validating.1, Origin::Api, cache),
        ]
    }

    /// The names of the static policies: mutating ones first, each kind in the order in which they act.
    fn names(&self) -> Vec<String> {
        let mutating = self.manifests.iter().flat_map(|set| &set.mutating_policies);
        let validating = self.manifests.iter().flat_map(|set| &set.validating_policies);
        let mut mutating: Vec<_> = mutating
            .filter_map(|own| own.object.metadata.name.clone())
            .collect();
        let mut validating: Vec<_> = validating
            .filter_map(|own| own.object.metadata.name.clone())
            .collect();
        mutating.sort();
        validating.sort();
        mutating.into_iter().chain(validating).collect()
    }
}

fn evaluated(set: &ManifestSet) -> Result<(), NotEvaluated> {
    let counts = [
        (Plugin::MutatingAdmissionWebhook, set.mutating_webhooks.len()),
        (Plugin::ValidatingAdmissionWebhook, set.validating_webhooks.len()),
    ];
    match counts.into_iter().find(|(_, count)| *count > 0) {
        Some((plugin, count)) => Err(NotEvaluated { plugin, count }),
        None => Ok(()),
    }
}
