//! Policies that are loaded of texts, with those that a server has stored.

use std::sync::Arc;

use pratique::{Admission, AdmissionBuilder, BuildError, Configurations};
use pratique_manifest::{Kind, ManifestSet, Rule};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::plain_finding::PlainFinding;
use crate::pod_policies::PodPolicies;
use crate::policies::{OriginSets, add_sets, count_policies};
use crate::review_texts::{ReviewTexts, ReviewedTexts};
use crate::sorted_objects::SortedPolicies;
use crate::unbound::{bind, unbound};

/// Policies that were loaded. Their webhooks are not called.
#[derive(Debug)]
pub(crate) struct LoadedPolicies {
    /// What evaluates them.
    pub(crate) admission: Admission,
    /// Those of files.
    pub(crate) sets: OriginSets,
    /// The stored policies and bindings.
    stored: Configurations,
}

/// Why policies are not compiled.
#[derive(Debug, thiserror::Error)]
enum CompileError {
    #[error("a stored {kind} cannot be decoded: {error}")]
    Stored { kind: Kind, error: serde_json::Error },
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl LoadedPolicies {
    /// Loads the policies of texts, or says why they are not loaded. `inspect` sees those of files as they were written.
    pub(crate) fn load(
        texts: &ReviewTexts,
        builder: AdmissionBuilder,
        reviewed: &mut ReviewedTexts,
        inspect: impl FnOnce(&SortedPolicies, &[&ManifestSet]),
    ) -> Option<Self> {
        let mut sorted = SortedPolicies::new(None);
        let files = texts.policies.iter();
        files.for_each(|file| sorted.add(file.into(), true));
        let others = sorted.others().iter();
        let others = others.map(|(kind, count)| format!("{count} of kind {kind} among the policies"));
        reviewed.not_evaluated.extend(others);
        let mut sets = match sorted.load_sets(builder.expressions()) {
            Ok(sets) => sets,
            Err(refused) => {
                reviewed.add_problems(refused.errors.problems());
                return None;
            }
        };
        inspect(&sorted, &sets.iter().map(|(_, set)| set).collect::<Vec<_>>());
        if texts.bind {
            bind(&mut sets);
        }
        let unbound = unbound(&sets).into_iter();
        let unbound =
            unbound.map(|policy| format!("{} {}, which has no binding", policy.kind(), policy.name));
        reviewed.not_evaluated.extend(unbound);
        let webhooks = sets.iter().flat_map(|(_, set)| webhooks(set));
        reviewed.not_evaluated.extend(webhooks);
        match LoadedPolicies::compile(builder, sets, &texts.stored) {
            Ok(loaded) => Some(loaded),
            Err(error) => {
                let rule = Rule::UnsupportedKind.name();
                reviewed.problems.push(PlainFinding::new(rule, error.to_string()));
                None
            }
        }
    }

    fn compile(builder: AdmissionBuilder, sets: OriginSets, stored: &[Value]) -> Result<Self, CompileError> {
        let stored = Configurations {
            mutating_policies: of_kind(stored, Kind::MutatingAdmissionPolicy)?,
            mutating_bindings: of_kind(stored, Kind::MutatingAdmissionPolicyBinding)?,
            validating_policies: of_kind(stored, Kind::ValidatingAdmissionPolicy)?,
            validating_bindings: of_kind(stored, Kind::ValidatingAdmissionPolicyBinding)?,
            ..Configurations::default()
        };
        let called = sets.iter().cloned().map(|(origin, mut set)| {
            set.mutating_webhooks.clear();
            set.validating_webhooks.clear();
            (origin, set)
        });
        let builder = add_sets(builder, called);
        let admission = builder.configurations(stored.clone()).build()?;
        Ok(LoadedPolicies {
            admission,
            sets,
            stored,
        })
    }

    /// What is evaluated of Pods.
    pub(crate) fn pod_policies(&self) -> PodPolicies<'_> {
        PodPolicies::new(self.sets.iter().map(|(_, set)| set), false).with_stored(&self.stored)
    }

    /// Whether a policy is evaluated at all.
    pub(crate) fn is_evaluated(&self) -> bool {
        let stored = self.stored.validating_policies.len() + self.stored.mutating_policies.len();
        count_policies(&self.sets) > unbound(&self.sets).len() || stored > 0
    }
}

/// The objects of a kind among stored ones.
fn of_kind<T: DeserializeOwned>(objects: &[Value], kind: Kind) -> Result<Vec<Arc<T>>, CompileError> {
    let is_kind = |object: &&Value| object.get("kind").and_then(Value::as_str) == Some(kind.name());
    let typed = objects
        .iter()
        .filter(is_kind)
        .map(|object| serde_json::from_value(object.clone()).map(Arc::new));
    typed
        .collect::<Result<_, _>>()
        .map_err(|error| CompileError::Stored { kind, error })
}

/// The webhook configurations of a set, which are not called here.
fn webhooks(set: &ManifestSet) -> impl Iterator<Item = String> {
    let kinds = [
        Kind::MutatingWebhookConfiguration,
        Kind::ValidatingWebhookConfiguration,
    ];
    let objects = set.objects().filter(move |object| kinds.contains(&object.kind));
    objects.map(|object| format!("{} {}: webhooks are not called", object.kind, object.name))
}
