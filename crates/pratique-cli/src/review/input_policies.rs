//! Policies among the inputs.

use std::collections::BTreeMap;

use pratique_manifest::ManifestFile;
use pratique_review::{ForeignPolicy, PolicyEngine};
use pratique_stream::Limits;
use pratique_types::{ADMISSION_GROUP, GroupVersionResource};

use crate::evaluation::input_request::InputRequest;
use crate::exit::CliError;
use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::output::text::text;
use crate::output::{self, problems};
use crate::stream::read::UserInputs;

/// How many kinds of policies of other engines are told: an input may name any.
const MAX_FOREIGN: usize = 100;

/// Whether objects of a resource configure admission.
pub(super) fn configures_admission(resource: &GroupVersionResource) -> bool {
    resource.group == ADMISSION_GROUP
}

/// Whether objects of a resource bind policies, so that a server evaluates them.
pub(super) fn binds_policies(resource: &GroupVersionResource) -> bool {
    let bindings = [
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicybindings",
    ];
    configures_admission(resource) && bindings.contains(&resource.resource.as_str())
}

/// How many objects there are in a path of the user, and how many of them are about admission.
#[derive(Debug, Default)]
pub(super) struct PathObjects {
    pub(super) all: usize,
    /// Those that configure admission.
    pub(super) policies: usize,
    /// Those of them that bind policies.
    pub(super) bindings: usize,
}

impl PathObjects {
    /// Why it counts that the policies in a path are not evaluated for other objects, if it does: all that is in the path is policies,
    /// or they are bound, as policies that a server evaluates are.
    pub(super) fn unevaluated(&self, path: &str) -> Option<InputNotice> {
        let message = if self.policies == 0 {
            return None;
        } else if self.policies == self.all {
            format!(
                "there are only policies in it, and they are reviewed as objects: --policies {path} evaluates them for the others"
            )
        } else if self.bindings > 0 {
            "there are policies with bindings in it, and they are reviewed as objects: --input-policies evaluates them for all inputs"
                .to_owned()
        } else {
            return None;
        };
        Some(InputNotice::new(NOT_EVALUATED, path, message))
    }
}

/// Policies of other engines among the inputs, by kind: how many there are, and where the first is.
#[derive(Debug, Default)]
pub(super) struct ForeignPolicies {
    kinds: BTreeMap<String, ForeignPolicy>,
}

impl ForeignPolicies {
    /// Adds an object, if it is a policy of another engine.
    pub(super) fn add_request(&mut self, input: &InputRequest<'_>) {
        let kind = &input.request.kind;
        if let Some(engine) = PolicyEngine::from_group(&kind.group) {
            self.add_policy(ForeignPolicy {
                engine,
                kind: kind.kind.clone(),
                location: input.shown_location().clone(),
            });
        }
    }

    fn add_policy(&mut self, policy: ForeignPolicy) {
        let is_full = self.kinds.len() >= MAX_FOREIGN;
        if !is_full {
            self.kinds.entry(policy.to_string()).or_insert(policy);
        }
    }

    /// Adds those of a later part.
    pub(super) fn add(&mut self, other: ForeignPolicies) {
        other
            .kinds
            .into_values()
            .for_each(|policy| self.add_policy(policy));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A notice for each kind, at the first of its objects.
    pub(super) fn notices(&self) -> impl Iterator<Item = InputNotice> {
        let kinds = self.kinds.iter();
        kinds.map(|(message, policy)| {
            InputNotice::new(NOT_EVALUATED, problems::place(&policy.location), message.clone())
        })
    }
}

/// The documents of the inputs that may configure admission. What can be read only once is copied before, so that they count for
/// what stands before them as well.
///
/// # Errors
/// An input cannot be copied.
pub(super) fn files(inputs: &mut UserInputs, limits: Limits) -> Result<Vec<ManifestFile>, CliError> {
    inputs.copy_pipes()?;
    inputs.mentioning(ADMISSION_GROUP, limits)
}

/// Reports what is done with policies among the inputs.
pub(super) fn report(count: usize, evaluates: bool) {
    if count == 0 {
        return;
    }
    let objects = match count {
        1 => "1 policy, binding or webhook configuration among the inputs is",
        _ => "policies, bindings and webhook configurations among the inputs are",
    };
    output::eprint(&if evaluates {
        text!("{} reviewed, and evaluated for all inputs\n", objects)
    } else {
        output::warning(&text!(
            "{} reviewed as objects, and not evaluated: --input-policies evaluates them as well",
            objects
        ))
    });
}
