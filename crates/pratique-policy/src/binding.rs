//! Compiled bindings.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_cel::internal::into_boxed_exact;
use pratique_core::Cluster;
use pratique_json::Value;
use pratique_match::MatchResources;
use pratique_types::GroupVersionKind;

use crate::constraints::SharedConstraints;
use crate::names::{AssembledName, OrderedNames};
use crate::params::ParamRef;
use crate::unmatched_reason::UnmatchedReason;

/// The bindings of a policy, by name: there may be thousands with equal contents, which they share.
#[derive(Debug, Default)]
pub(crate) struct PolicyBindings {
    names: OrderedNames,
    places: TermPlaces,
    terms: Box<[BindingTerms]>,
}

/// The index of the terms of each.
#[derive(Debug)]
enum TermPlaces {
    /// Of 256 at most, as nearly always.
    Few(Box<[u8]>),
    Many(Box<[u32]>),
}

/// A compiled binding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompiledBinding<'b> {
    pub(crate) name: AssembledName<'b>,
    pub(crate) terms: &'b BindingTerms,
}

/// The contents of a binding besides its name and that of the policy.
#[derive(Debug, PartialEq)]
pub(crate) struct BindingTerms {
    /// `None` matches all that the policy matches.
    pub(crate) resources: Option<Arc<MatchResources>>,
    pub(crate) param_ref: Option<ParamRef>,
    /// None for a mutating policy.
    pub(crate) actions: Box<[FailureAction]>,
    /// The actions as they are written, for the audit log.
    pub(crate) action_names: Box<[Box<str>]>,
}

/// How many of the last terms are compared with those of a binding.
const FEW: usize = 16;

/// The action on a failed validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureAction {
    Deny,
    Warn,
    Audit,
}

impl PolicyBindings {
    /// Compiles bindings, which are in their order, each with its name.
    pub(crate) fn new<B>(bindings: &[(&str, B)], terms: impl Fn(&B) -> BindingTerms) -> Self {
        let mut all: Vec<BindingTerms> = Vec::new();
        let places = bindings.iter().map(|(_, binding)| {
            let terms = terms(binding);
            let position = all.iter().rev().take(FEW).position(|other| *other == terms);
            let at = match position {
                Some(from_end) => all.len() - 1 - from_end,
                None => {
                    all.push(terms);
                    all.len() - 1
                }
            };
            u32::try_from(at).unwrap_or(u32::MAX)
        });
        let places: Box<[u32]> = places.collect();
        PolicyBindings {
            names: OrderedNames::new(bindings.iter().map(|(name, _)| *name)),
            places: TermPlaces::new(places, all.len()),
            terms: into_boxed_exact(all),
        }
    }

    /// All, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = CompiledBinding<'_>> {
        (0..self.len()).filter_map(|at| {
            Some(CompiledBinding {
                name: self.names.name(at),
                terms: self.terms.get(self.places.get(at)?)?,
            })
        })
    }

    /// The contents of all, equal ones once as a rule.
    pub(crate) fn terms(&self) -> &[BindingTerms] {
        &self.terms
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for TermPlaces {
    fn default() -> Self {
        TermPlaces::Few(Box::default())
    }
}

impl TermPlaces {
    /// `count` is that of the terms.
    fn new(places: Box<[u32]>, count: usize) -> Self {
        if count <= 1 << u8::BITS {
            TermPlaces::Few(places.iter().map(|place| *place as u8).collect())
        } else {
            TermPlaces::Many(places)
        }
    }

    fn get(&self, at: usize) -> Option<usize> {
        match self {
            TermPlaces::Few(places) => places.get(at).map(|place| usize::from(*place)),
            TermPlaces::Many(places) => places.get(at).map(|place| *place as usize),
        }
    }

    fn len(&self) -> usize {
        match self {
            TermPlaces::Few(places) => places.len(),
            TermPlaces::Many(places) => places.len(),
        }
    }
}

impl BindingTerms {
    pub(crate) fn validating(
        binding: &api::ValidatingAdmissionPolicyBinding,
        constraints: &SharedConstraints,
    ) -> Self {
        let spec = &binding.spec;
        let names = spec.validation_actions.iter();
        BindingTerms {
            actions: names
                .clone()
                .filter_map(|name| FailureAction::from_name(name))
                .collect(),
            action_names: names.map(|name| name.as_str().into()).collect(),
            ..BindingTerms::new(
                spec.match_resources.as_ref(),
                spec.param_ref.as_ref(),
                constraints,
            )
        }
    }

    pub(crate) fn mutating(
        binding: &api::MutatingAdmissionPolicyBinding,
        constraints: &SharedConstraints,
    ) -> Self {
        let spec = binding.spec.as_ref();
        BindingTerms::new(
            spec.and_then(|spec| spec.match_resources.as_ref()),
            spec.and_then(|spec| spec.param_ref.as_ref()),
            constraints,
        )
    }

    fn new(
        resources: Option<&api::MatchResources>,
        param_ref: Option<&api::ParamRef>,
        constraints: &SharedConstraints,
    ) -> Self {
        BindingTerms {
            resources: resources
                .map(|resources| constraints.shared(MatchResources::compile(Some(resources)))),
            param_ref: param_ref.map(ParamRef::compile),
            actions: Box::default(),
            action_names: Box::default(),
        }
    }

    /// The params to evaluate with, one after the other: a policy or binding without params is evaluated once, with none.
    pub(crate) fn params<'s>(
        &self,
        kind: Option<&GroupVersionKind>,
        namespace: &str,
        cluster: &'s dyn Cluster,
    ) -> Result<BoundParams<'s>, UnmatchedReason> {
        let (Some(kind), Some(param_ref)) = (kind, &self.param_ref) else {
            return Ok(BoundParams::NoneNeeded);
        };
        let Some(scope) = cluster.param_scope(kind) else {
            return Ok(BoundParams::Found(Vec::new()));
        };
        let param_objects = param_ref.find(kind, scope, namespace, cluster);
        param_objects
            .map(BoundParams::Found)
            .map_err(UnmatchedReason::from)
    }
}

/// The params to evaluate with.
#[derive(Debug)]
pub(crate) enum BoundParams<'s> {
    /// One round, without.
    NoneNeeded,
    /// One round for each.
    Found(Vec<&'s Value<'s>>),
}

impl<'s> BoundParams<'s> {
    /// One for each round.
    pub(crate) fn rounds(&self) -> impl Iterator<Item = Option<&'s Value<'s>>> {
        let (without, param_objects) = match self {
            BoundParams::NoneNeeded => (Some(None), [].as_slice()),
            BoundParams::Found(param_objects) => (None, param_objects.as_slice()),
        };
        without.into_iter().chain(param_objects.iter().copied().map(Some))
    }
}

impl FailureAction {
    /// Unknown actions do nothing.
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "Deny" => Some(FailureAction::Deny),
            "Warn" => Some(FailureAction::Warn),
            "Audit" => Some(FailureAction::Audit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_with_equal_terms_share_them() {
        let terms = |param: usize| BindingTerms {
            resources: None,
            param_ref: (param > 0).then(|| {
                let name = format!("param-{param}");
                ParamRef::compile(&api::ParamRef {
                    name: Some(name),
                    ..api::ParamRef::default()
                })
            }),
            actions: Box::default(),
            action_names: Box::default(),
        };
        let given = [("a", 0), ("", 1), ("longer", 0), ("é", 1), ("z", 2)];
        let bindings = PolicyBindings::new(&given, |param| terms(*param));
        assert_eq!((bindings.len(), bindings.terms().len()), (5, 3));
        for (binding, (name, param)) in bindings.iter().zip(given) {
            assert_eq!((&*binding.name.to_string(), binding.terms), (name, &terms(param)));
        }
        assert!(PolicyBindings::new(&[], |param| terms(*param)).is_empty());
    }

    #[test]
    fn many_terms_are_kept_apart() {
        let terms = |name: &str| BindingTerms {
            resources: None,
            param_ref: None,
            actions: Box::default(),
            action_names: [name.into()].into(),
        };
        for count in [0, 1, 255, 256, 257, 600] {
            let names: Vec<String> = (0..count).map(|at| format!("n{at}")).collect();
            let given: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &**name)).collect();
            let bindings = PolicyBindings::new(&given, |name| terms(name));
            assert_eq!((bindings.len(), bindings.terms().len()), (count, count));
            assert_eq!(bindings.iter().count(), count);
            for (binding, name) in bindings.iter().zip(&names) {
                assert_eq!((&binding.name.to_string(), binding.terms), (name, &terms(name)));
            }
        }
    }
}
