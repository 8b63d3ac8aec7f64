//! Policies of both kinds with their bindings.

use std::collections::HashMap;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::Declarations;
use pratique_manifest::{Kind, ManifestSet, Step};

use super::origin::{Origin, item, path};
use super::rule::RuleView;
use super::site::{Role, Site};

/// A policy with its bindings.
pub(crate) struct Policy<'m> {
    /// The policy as it was loaded.
    pub(crate) manifest: pratique_sample::Policy<'m>,
    pub(crate) origin: Origin<'m>,
    pub(crate) constraints: Option<&'m api::MatchResources>,
    pub(crate) rules: Vec<RuleView<'m>>,
    pub(crate) excluded: Vec<RuleView<'m>>,
    /// All expressions: match conditions, variables, then the rest in order.
    pub(crate) sites: Vec<Site<'m>>,
    /// The validations of a validating policy.
    pub(crate) validations: &'m [api::Validation],
    /// Whether the failure policy is `Ignore`.
    pub(crate) ignores_errors: bool,
    pub(crate) bindings: Vec<Binding<'m>>,
}

/// A binding of a policy.
pub(crate) struct Binding<'m> {
    pub(crate) origin: Origin<'m>,
    pub(crate) resources: Option<&'m api::MatchResources>,
    pub(crate) rules: Vec<RuleView<'m>>,
    pub(crate) excluded: Vec<RuleView<'m>>,
    pub(crate) actions: &'m [String],
}

/// The fields that both kinds of policies have.
struct Parts<'m> {
    manifest: pratique_sample::Policy<'m>,
    origin: Origin<'m>,
    constraints: Option<&'m api::MatchResources>,
    conditions: &'m Option<Vec<api::MatchCondition>>,
    variables: &'m Option<Vec<api::Variable>>,
    failure_policy: Option<&'m str>,
    has_params: bool,
}

pub(super) fn collect<'m>(set: &'m ManifestSet, policies: &mut Vec<Policy<'m>>) {
    let mut bindings = validating_bindings(set);
    policies.extend(set.validating_policies.iter().map(|loaded| {
        let kind = Kind::ValidatingAdmissionPolicy;
        let origin = Origin::new(kind, &loaded.object.metadata.name, &loaded.source);
        let of_policy = bindings.remove(origin.name.name.as_str()).unwrap_or_default();
        validating(&loaded.object, origin, of_policy)
    }));
    let mut bindings = mutating_bindings(set);
    policies.extend(set.mutating_policies.iter().map(|loaded| {
        let kind = Kind::MutatingAdmissionPolicy;
        let origin = Origin::new(kind, &loaded.object.metadata.name, &loaded.source);
        let of_policy = bindings.remove(origin.name.name.as_str()).unwrap_or_default();
        mutating(&loaded.object, origin, of_policy)
    }));
}

fn validating<'m>(
    policy: &'m api::ValidatingAdmissionPolicy,
    origin: Origin<'m>,
    bindings: Vec<Binding<'m>>,
) -> Policy<'m> {
    let manifest = pratique_sample::Policy::Validating(policy);
    let spec = policy.spec.as_ref();
    let mut policy = begin(
        Parts {
            manifest,
            origin,
            constraints: spec.and_then(|spec| spec.match_constraints.as_ref()),
            conditions: spec.map_or(&None, |spec| &spec.match_conditions),
            variables: spec.map_or(&None, |spec| &spec.variables),
            failure_policy: spec.and_then(|spec| spec.failure_policy.as_deref()),
            has_params: spec.is_some_and(|spec| spec.param_kind.is_some()),
        },
        bindings,
    );
    let full = declarations(spec.is_some_and(|spec| spec.param_kind.is_some()));
    policy.validations = spec
        .and_then(|spec| spec.validations.as_deref())
        .unwrap_or_default();
    let list = path(&["spec", "validations"]);
    for (index, validation) in policy.validations.iter().enumerate() {
        let at = item(&list, index, "expression");
        policy
            .sites
            .push(site(at, &validation.expression, Role::Validation, full));
        let message = validation.message_expression.as_deref();
        if let Some(text) = message.filter(|text| !text.is_empty()) {
            let at = item(&list, index, "messageExpression");
            let declarations = Declarations {
                authorizer: false,
                ..full
            };
            policy.sites.push(site(at, text, Role::Message, declarations));
        }
    }
    let list = path(&["spec", "auditAnnotations"]);
    let annotations = spec
        .and_then(|spec| spec.audit_annotations.as_deref())
        .unwrap_or_default();
    for (index, annotation) in annotations.iter().enumerate() {
        let at = item(&list, index, "valueExpression");
        policy
            .sites
            .push(site(at, &annotation.value_expression, Role::Annotation, full));
    }
    policy
}

fn mutating<'m>(
    policy: &'m api::MutatingAdmissionPolicy,
    origin: Origin<'m>,
    bindings: Vec<Binding<'m>>,
) -> Policy<'m> {
    let manifest = pratique_sample::Policy::Mutating(policy);
    let spec = policy.spec.as_ref();
    let has_params = spec.is_some_and(|spec| spec.param_kind.is_some());
    let mut policy = begin(
        Parts {
            manifest,
            origin,
            constraints: spec.and_then(|spec| spec.match_constraints.as_ref()),
            conditions: spec.map_or(&None, |spec| &spec.match_conditions),
            variables: spec.map_or(&None, |spec| &spec.variables),
            failure_policy: spec.and_then(|spec| spec.failure_policy.as_deref()),
            has_params,
        },
        bindings,
    );
    let full = Declarations {
        patch_types: true,
        ..declarations(has_params)
    };
    let list = path(&["spec", "mutations"]);
    let mutations = spec
        .and_then(|spec| spec.mutations.as_deref())
        .unwrap_or_default();
    for (index, mutation) in mutations.iter().enumerate() {
        let apply = mutation
            .apply_configuration
            .as_ref()
            .and_then(|configuration| configuration.expression.as_deref());
        if let Some(text) = apply {
            let at = item(&list, index, "applyConfiguration.expression");
            policy.sites.push(site(at, text, Role::ApplyConfiguration, full));
        }
        if let Some(text) = mutation
            .json_patch
            .as_ref()
            .and_then(|patch| patch.expression.as_deref())
        {
            let at = item(&list, index, "jsonPatch.expression");
            policy.sites.push(site(at, text, Role::JsonPatch, full));
        }
    }
    policy
}

/// A policy with its conditions and variables.
fn begin<'m>(parts: Parts<'m>, bindings: Vec<Binding<'m>>) -> Policy<'m> {
    let at = path(&["spec", "matchConstraints"]);
    let full = declarations(parts.has_params);
    let conditions = path(&["spec", "matchConditions"]);
    let variables = path(&["spec", "variables"]);
    let without_variables = Declarations {
        variables: false,
        ..full
    };
    let mut sites = condition_sites(parts.conditions, &conditions, without_variables);
    sites.extend(
        parts
            .variables
            .iter()
            .flatten()
            .enumerate()
            .map(|(index, variable)| {
                let role = Role::Variable(&variable.name);
                site(
                    item(&variables, index, "expression"),
                    &variable.expression,
                    role,
                    full,
                )
            }),
    );
    Policy {
        manifest: parts.manifest,
        rules: RuleView::included(parts.constraints, &at),
        excluded: RuleView::excluded(parts.constraints, &at),
        constraints: parts.constraints,
        origin: parts.origin,
        sites,
        validations: &[],
        ignores_errors: parts.failure_policy == Some("Ignore"),
        bindings,
    }
}

/// The match conditions of a policy or a webhook.
pub(super) fn condition_sites<'m>(
    conditions: &'m Option<Vec<api::MatchCondition>>,
    list: &[Step],
    declarations: Declarations,
) -> Vec<Site<'m>> {
    let conditions = conditions.iter().flatten().enumerate();
    conditions
        .map(|(index, condition)| {
            let at = item(list, index, "expression");
            site(at, &condition.expression, Role::Condition, declarations)
        })
        .collect()
}

fn declarations(params: bool) -> Declarations {
    Declarations {
        params,
        authorizer: true,
        patch_types: false,
        variables: true,
    }
}

fn site<'m>(path: Vec<Step>, text: &'m str, role: Role<'m>, declarations: Declarations) -> Site<'m> {
    Site {
        path,
        text,
        role,
        declarations,
    }
}

/// The bindings of a set by the names of their policies.
type ByPolicy<'m> = HashMap<&'m str, Vec<Binding<'m>>>;

fn validating_bindings(set: &ManifestSet) -> ByPolicy<'_> {
    let mut bindings = ByPolicy::new();
    for loaded in &set.validating_bindings {
        let (name, spec) = (&loaded.object.metadata.name, &loaded.object.spec);
        let origin = Origin::new(Kind::ValidatingAdmissionPolicyBinding, name, &loaded.source);
        let binding = binding(origin, spec.match_resources.as_ref(), &spec.validation_actions);
        bindings.entry(&spec.policy_name).or_default().push(binding);
    }
    bindings
}

fn mutating_bindings(set: &ManifestSet) -> ByPolicy<'_> {
    let mut bindings = ByPolicy::new();
    for loaded in &set.mutating_bindings {
        let name = &loaded.object.metadata.name;
        let origin = Origin::new(Kind::MutatingAdmissionPolicyBinding, name, &loaded.source);
        if let Some(spec) = &loaded.object.spec {
            let binding = binding(origin, spec.match_resources.as_ref(), &[]);
            let policy = spec.policy_name.as_deref().unwrap_or_default();
            bindings.entry(policy).or_default().push(binding);
        }
    }
    bindings
}

fn binding<'m>(
    origin: Origin<'m>,
    resources: Option<&'m api::MatchResources>,
    actions: &'m [String],
) -> Binding<'m> {
    let at = path(&["spec", "matchResources"]);
    Binding {
        rules: RuleView::included(resources, &at),
        excluded: RuleView::excluded(resources, &at),
        origin,
        resources,
        actions,
    }
}
