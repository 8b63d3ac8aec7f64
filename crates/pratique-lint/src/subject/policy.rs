//! Policies of both kinds with their bindings.

use std::collections::HashMap;

use k8s_openapi::api::admissionregistration::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_expression::ExpressionPurpose;
use pratique_manifest::{Kind, ManifestSet, ObjectSource};
use pratique_sample::{ExpressionId, Policy as Manifest};
use pratique_schema::Release;

use super::ExpressionGroup;
use super::origin::{ObjectOrigin, path};
use super::rule::RuleView;
use super::site::ExpressionSite;

/// A policy with its bindings, or the match conditions of a webhook, which are evaluated as those of a policy.
pub(crate) struct PolicyView<'m> {
    /// The release of the server.
    pub(crate) release: &'static Release,
    /// The policy as it was loaded.
    pub(crate) manifest: Manifest<'m>,
    pub(crate) origin: ObjectOrigin<'m>,
    pub(crate) constraints: Option<&'m api::MatchResources>,
    pub(crate) object_selector: Option<&'m LabelSelector>,
    pub(crate) rules: Vec<RuleView<'m>>,
    pub(crate) excluded: Vec<RuleView<'m>>,
    /// All expressions: match conditions, variables, then the rest in order.
    pub(crate) sites: Vec<ExpressionSite<'m>>,
    /// The validations of a validating policy.
    pub(crate) validations: &'m [api::Validation],
    /// Whether the failure policy is `Ignore`.
    pub(crate) ignores_errors: bool,
    /// Whether it is evaluated in the mutating phase.
    pub(crate) is_mutating: bool,
    /// Whether it is a webhook.
    pub(crate) is_webhook: bool,
    pub(crate) bindings: Vec<PolicyBinding<'m>>,
}

impl<'m> PolicyView<'m> {
    /// Its expressions, which are checked together.
    pub(crate) fn expression_group(&self) -> ExpressionGroup<'_, 'm> {
        ExpressionGroup {
            release: self.release,
            origin: &self.origin,
            sites: &self.sites,
            rules: &self.rules,
        }
    }

    /// The objects that it is made of.
    pub(crate) fn sources(&self) -> Vec<&'m ObjectSource> {
        let bindings = self.bindings.iter().map(|binding| binding.origin.source);
        std::iter::once(self.origin.source).chain(bindings).collect()
    }

    /// The first of its mutations, where a warning about what they do together is placed.
    pub(crate) fn first_mutation(&self) -> Option<&ExpressionSite<'m>> {
        let mut sites = self.sites.iter();
        sites.find(|site| matches!(site.id, ExpressionId::Mutation(_)))
    }

    /// One of its mutations.
    pub(crate) fn mutation(&self, index: usize) -> Option<&ExpressionSite<'m>> {
        let mut sites = self.sites.iter();
        sites.find(|site| site.id == ExpressionId::Mutation(index))
    }

    /// What an error of an expression comes to.
    pub(crate) fn outcome_of_errors(&self, usage: ExpressionPurpose) -> &'static str {
        match (usage, self.ignores_errors) {
            (ExpressionPurpose::Message, _) => "the message is replaced by a default one",
            (_, false) => "the request is denied",
            (_, true) if self.is_webhook => "the webhook is not called",
            (_, true) => "the request is let in",
        }
    }
}

/// A binding of a policy.
pub(crate) struct PolicyBinding<'m> {
    pub(crate) origin: ObjectOrigin<'m>,
    pub(crate) resources: Option<&'m api::MatchResources>,
    pub(crate) rules: Vec<RuleView<'m>>,
    pub(crate) excluded: Vec<RuleView<'m>>,
    pub(crate) actions: &'m [String],
}

pub(super) fn collect<'m>(
    release: &'static Release,
    set: &'m ManifestSet,
    policies: &mut Vec<PolicyView<'m>>,
) {
    let mut bindings = validating_bindings(release, set);
    policies.extend(set.validating_policies.iter().map(|loaded| {
        let kind = Kind::ValidatingAdmissionPolicy;
        let origin = ObjectOrigin::new(kind, &loaded.object.metadata.name, &loaded.source);
        policy(
            release,
            Manifest::Validating(&loaded.object),
            origin,
            &mut bindings,
        )
    }));
    let mut bindings = mutating_bindings(release, set);
    policies.extend(set.mutating_policies.iter().map(|loaded| {
        let kind = Kind::MutatingAdmissionPolicy;
        let origin = ObjectOrigin::new(kind, &loaded.object.metadata.name, &loaded.source);
        policy(release, Manifest::Mutating(&loaded.object), origin, &mut bindings)
    }));
}

fn policy<'m>(
    release: &'static Release,
    manifest: Manifest<'m>,
    origin: ObjectOrigin<'m>,
    bindings: &mut ByPolicy<'m>,
) -> PolicyView<'m> {
    let constraints = manifest.constraints();
    let at = path("spec.matchConstraints");
    let validations = match manifest {
        Manifest::Validating(policy) => policy.spec.as_ref().and_then(|spec| spec.validations.as_deref()),
        Manifest::Mutating(_) => None,
    };
    PolicyView {
        release,
        rules: RuleView::included(release, constraints, &at),
        excluded: RuleView::excluded(release, constraints, &at),
        constraints,
        object_selector: constraints.and_then(|constraints| constraints.object_selector.as_ref()),
        sites: manifest
            .expressions()
            .into_iter()
            .map(ExpressionSite::new)
            .collect(),
        validations: validations.unwrap_or_default(),
        ignores_errors: manifest.failure_policy() == Some("Ignore"),
        is_mutating: matches!(manifest, Manifest::Mutating(_)),
        is_webhook: false,
        bindings: bindings.remove(origin.name.name.as_str()).unwrap_or_default(),
        manifest,
        origin,
    }
}

/// The bindings of a set by the names of their policies.
type ByPolicy<'m> = HashMap<&'m str, Vec<PolicyBinding<'m>>>;

fn validating_bindings<'m>(release: &'static Release, set: &'m ManifestSet) -> ByPolicy<'m> {
    let mut bindings = ByPolicy::new();
    for loaded in &set.validating_bindings {
        let (name, spec) = (&loaded.object.metadata.name, &loaded.object.spec);
        let origin = ObjectOrigin::new(Kind::ValidatingAdmissionPolicyBinding, name, &loaded.source);
        let binding = binding(
            release,
            origin,
            spec.match_resources.as_ref(),
            &spec.validation_actions,
        );
        bindings.entry(&spec.policy_name).or_default().push(binding);
    }
    bindings
}

fn mutating_bindings<'m>(release: &'static Release, set: &'m ManifestSet) -> ByPolicy<'m> {
    let mut bindings = ByPolicy::new();
    for loaded in &set.mutating_bindings {
        let name = &loaded.object.metadata.name;
        let origin = ObjectOrigin::new(Kind::MutatingAdmissionPolicyBinding, name, &loaded.source);
        if let Some(spec) = &loaded.object.spec {
            let binding = binding(release, origin, spec.match_resources.as_ref(), &[]);
            let policy = spec.policy_name.as_deref().unwrap_or_default();
            bindings.entry(policy).or_default().push(binding);
        }
    }
    bindings
}

fn binding<'m>(
    release: &'static Release,
    origin: ObjectOrigin<'m>,
    resources: Option<&'m api::MatchResources>,
    actions: &'m [String],
) -> PolicyBinding<'m> {
    let at = path("spec.matchResources");
    PolicyBinding {
        rules: RuleView::included(release, resources, &at),
        excluded: RuleView::excluded(release, resources, &at),
        origin,
        resources,
        actions,
    }
}
