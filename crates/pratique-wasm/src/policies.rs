//! Loading policies, as `pratique check` does.

use std::sync::Arc;

use pratique::{Admission, AdmissionBuilder, BuildError, Configurations, FeatureGates, workers::Sequential};
use pratique_lint::{DefinitionSet, ExpressionCost, LintOptions};
use pratique_manifest::{Kind, Location, ManifestFile, ManifestSet};
use pratique_policy::Origin;
use pratique_review::sorted_objects::SortedPolicies;
use pratique_review::{PodPolicies, add_policies, bind, unbound};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::findings::Finding;
use crate::request::{Evaluate, File};

/// The memory that loading may take, by the loader's estimate.
const LOAD_BYTES: u64 = 256 << 20;

/// Policies that were loaded.
pub(crate) struct LoadedPolicies {
    pub(crate) admission: Admission,
    pub(crate) sets: Vec<(Origin, ManifestSet)>,
    /// The stored policies and bindings.
    pub(crate) stored: Configurations,
}

impl LoadedPolicies {
    /// What is evaluated of Pods.
    pub(crate) fn pod_policies(&self) -> PodPolicies<'_> {
        PodPolicies::new(self.sets.iter().map(|(_, set)| set), false).with_stored(&self.stored)
    }

    /// Whether a policy is evaluated at all.
    pub(crate) fn has_evaluated_policies(&self) -> bool {
        let policies = self
            .sets
            .iter()
            .map(|(_, set)| set.validating_policies.len() + set.mutating_policies.len());
        let stored = self.stored.validating_policies.len() + self.stored.mutating_policies.len();
        policies.sum::<usize>() > unbound(&self.sets).len() || stored > 0
    }
}

/// The report of loading policies.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoadReport {
    /// Errors that prevent loading.
    pub(crate) problems: Vec<Finding>,
    /// Warnings of the lints.
    pub(crate) lints: Vec<Finding>,
    /// Objects that are not evaluated.
    pub(crate) not_evaluated: Vec<String>,
    /// The estimated costs, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) costs: Vec<CostReport>,
}

/// The estimated cost of an expression.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CostReport {
    object: [String; 2],
    field: String,
    location: Location,
    /// The type of the expression.
    result: String,
    min: u64,
    max: u64,
    limit: u64,
    /// The size of the objects for which it is estimated, in bytes.
    object_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_kind: Option<String>,
}

/// Loads the policies of a request, or says in the report why they are not loaded.
pub(crate) fn load(input: &Evaluate, gates: FeatureGates, report: &mut LoadReport) -> Option<LoadedPolicies> {
    let mut sorted = SortedPolicies::new(None);
    for File { path, text } in &input.policies {
        let (path, content) = (path.clone(), text.clone().into_bytes());
        sorted.add(ManifestFile { path, content }, true);
    }
    for (kind, count) in sorted.others() {
        report
            .not_evaluated
            .push(format!("{count} of kind {kind} among the policies"));
    }
    let builder = || {
        Admission::builder()
            .feature_gates(gates)
            .workers(Sequential)
            .max_load_bytes(LOAD_BYTES)
    };
    let builder_of_all = builder();
    let mut sets = match sorted.load(builder_of_all.expressions()) {
        Ok(loaded) => {
            let sets = loaded.into_iter().map(|(group, set)| (group.origin(), set));
            sets.collect::<Vec<_>>()
        }
        Err(refused) => {
            report
                .problems
                .extend(refused.errors.problems().map(Finding::from));
            return None;
        }
    };
    let linted: Vec<&ManifestSet> = sets.iter().map(|(_, set)| set).collect();
    if input.without_lints {
        let lints = pratique_lint::lint_loaded(&linted);
        report.lints.extend(lints.iter().map(Finding::from));
    } else {
        let mixed = sorted.mixed().iter().map(|(name, location)| (name, location));
        let definitions = DefinitionSet::new(gates.release(), sorted.definitions().to_vec());
        let options = LintOptions::default().feature_gates(gates);
        let lints = pratique_lint::lint_policies(&linted, mixed, &definitions, options);
        report.lints.extend(lints.iter().map(Finding::from));
    }
    if input.costs {
        report.costs = pratique_lint::estimate_costs(gates.release(), &linted)
            .iter()
            .map(CostReport::from)
            .collect();
    }
    if input.bind {
        bind(&mut sets);
    }
    let unbound = unbound(&sets);
    let unbound = unbound
        .iter()
        .map(|policy| format!("{} {}, which has no binding", policy.kind(), policy.name));
    report.not_evaluated.extend(unbound);
    report
        .not_evaluated
        .extend(sets.iter().flat_map(|(_, set)| webhooks(set)));
    let compiled = stored_policies(&input.stored)
        .and_then(|stored| Ok((compile(builder_of_all, &sets, stored.clone())?, stored)));
    match compiled {
        Ok((admission, stored)) => Some(LoadedPolicies {
            admission,
            sets,
            stored,
        }),
        Err(error) => {
            report
                .problems
                .push(Finding::plain("unsupported-kind", error.to_string()));
            None
        }
    }
}

/// Why policies are not compiled.
#[derive(Debug, thiserror::Error)]
enum CompileError {
    #[error("a stored {kind} cannot be decoded: {error}")]
    Stored { kind: Kind, error: serde_json::Error },
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Compiles what was loaded, without webhooks.
fn compile(
    builder: AdmissionBuilder,
    sets: &[(Origin, ManifestSet)],
    stored: Configurations,
) -> Result<Admission, BuildError> {
    let builder = sets.iter().fold(builder, |builder, (origin, set)| {
        let mut set = set.clone();
        set.mutating_webhooks.clear();
        set.validating_webhooks.clear();
        add_policies(builder, *origin, set)
    });
    builder.configurations(stored).build()
}

/// The policies and bindings among stored objects.
fn stored_policies(stored: &[Value]) -> Result<Configurations, CompileError> {
    Ok(Configurations {
        mutating_policies: of_kind(stored, Kind::MutatingAdmissionPolicy)?,
        mutating_bindings: of_kind(stored, Kind::MutatingAdmissionPolicyBinding)?,
        validating_policies: of_kind(stored, Kind::ValidatingAdmissionPolicy)?,
        validating_bindings: of_kind(stored, Kind::ValidatingAdmissionPolicyBinding)?,
        ..Configurations::default()
    })
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

impl From<&ExpressionCost> for CostReport {
    fn from(cost: &ExpressionCost) -> Self {
        CostReport {
            object: [cost.object.kind.name().to_owned(), cost.object.name.clone()],
            field: cost.field.clone(),
            location: cost.location.clone(),
            result: cost.usage.result.to_string(),
            min: cost.usage.cost.min,
            max: cost.usage.cost.max,
            limit: ExpressionCost::LIMIT,
            object_size: ExpressionCost::LARGE,
            for_kind: cost.kind.as_ref().map(ToString::to_string),
        }
    }
}
