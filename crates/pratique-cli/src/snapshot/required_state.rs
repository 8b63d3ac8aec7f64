//! The state of a cluster that policies and admission plugins need.

use std::collections::BTreeSet;

use pratique::plugins::StateKind;
use pratique::policy::NeedKind;
use pratique::{Admission, Configurations};
use pratique_schema::Release;
use pratique_types::admissionregistration::{MatchResources, ParamKind};
use pratique_types::{GroupVersion, GroupVersionKind};

use crate::policies::OriginSets;

/// The state of a cluster that policies and admission plugins need, besides its namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequiredState {
    /// The kinds of params.
    pub(crate) params: BTreeSet<GroupVersionKind>,
    /// The groups whose CustomResourceDefinitions matter.
    pub(crate) definitions: CustomGroups,
    /// Whether something asks the authorizer.
    pub(crate) authorizer: bool,
    /// The kinds that admission plugins look up.
    pub(crate) plugin_kinds: BTreeSet<StateKind>,
}

/// Kinds that are read only where that is asked for: a cluster has many Pods and Nodes, and Secrets are to stay in it.
const ON_REQUEST: [StateKind; 3] = [StateKind::POD, StateKind::NODE, StateKind::SECRET];

/// Groups of custom resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CustomGroups {
    All,
    Named(BTreeSet<String>),
}

impl Default for CustomGroups {
    fn default() -> Self {
        CustomGroups::Named(BTreeSet::new())
    }
}

impl CustomGroups {
    /// These groups and others.
    pub(crate) fn union(&self, others: &CustomGroups) -> CustomGroups {
        match (self, others) {
            (CustomGroups::Named(one), CustomGroups::Named(other)) => {
                CustomGroups::Named(one.union(other).cloned().collect())
            }
            _ => CustomGroups::All,
        }
    }
}

impl RequiredState {
    /// The state that policies need.
    pub(crate) fn new(admission: &Admission, sets: &OriginSets) -> Self {
        let mut required = RequiredState {
            authorizer: admission
                .needs()
                .iter()
                .any(|need| need.kind == NeedKind::Authorizer),
            ..RequiredState::default()
        };
        for (_, set) in sets {
            required.add(&set.clone().into());
        }
        required
    }

    /// Adds what plugins look up. They come with the whole chain, in which custom resources of any group are completed.
    pub(crate) fn with_plugins(mut self, kinds: impl IntoIterator<Item = StateKind>) -> Self {
        self.definitions = CustomGroups::All;
        let kinds = kinds.into_iter().filter(|kind| !ON_REQUEST.contains(kind));
        self.plugin_kinds.extend(kinds);
        self
    }

    fn add(&mut self, configurations: &Configurations) {
        for policy in &configurations.validating_policies {
            if let Some(spec) = &policy.spec {
                self.kind(spec.param_kind.as_ref());
                self.groups(spec.match_constraints.as_ref());
            }
        }
        for policy in &configurations.mutating_policies {
            if let Some(spec) = &policy.spec {
                self.kind(spec.param_kind.as_ref());
                self.groups(spec.match_constraints.as_ref());
            }
        }
    }

    fn kind(&mut self, kind: Option<&ParamKind>) {
        let named = kind.and_then(|kind| {
            let version = GroupVersion::parse(kind.api_version.as_deref()?).ok()?;
            Some(version.with_kind(kind.kind.as_deref()?))
        });
        if let Some(kind) = named {
            if !is_builtin(&kind.group) {
                self.group(&kind.group);
            }
            self.params.insert(kind);
        }
    }

    /// Adds the groups of custom resources that a policy matches.
    fn groups(&mut self, resources: Option<&MatchResources>) {
        let rules = resources.and_then(|resources| resources.resource_rules.as_ref());
        let groups = rules.into_iter().flatten().flat_map(|rule| &rule.api_groups);
        for group in groups.flatten() {
            match group.as_str() {
                "*" => self.definitions = CustomGroups::All,
                group if is_builtin(group) => {}
                group => self.group(group),
            }
        }
    }

    fn group(&mut self, group: &str) {
        if let CustomGroups::Named(groups) = &mut self.definitions {
            groups.insert(group.to_owned());
        }
    }
}

/// Whether a group is one of Kubernetes. What is required is known before the cluster has said its release.
fn is_builtin(group: &str) -> bool {
    let mut releases = Release::list().iter();
    releases.any(|release| release.resources().has_group(group))
}
