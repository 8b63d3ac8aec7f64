//! Coverage: which parts of policies tests exercise.
//!
//! A policy or a binding is covered when a request matches it; a match condition or a validation when it was true, and
//! when it was false; any other expression when it was evaluated. Within expressions, each term of `&&` and `||` and
//! each condition of `?:` has to be true, and false.

mod points;
mod recorder;
mod report;

use pratique_manifest::{Kind, ManifestSet};
use pratique_policy::{AdmissionPhase, Origin};

use crate::load::Policies;
use points::{BindingPoint, PolicyPoints};
pub use recorder::CoverageRecorder;
pub use report::{CoverageReport, MissingPoint, PolicyCoverage};

/// The coverage of policies by tests.
#[derive(Debug, Default)]
pub struct Coverage {
    policies: Vec<PolicyPoints>,
}

impl Coverage {
    /// Empty coverage.
    pub fn new() -> Self {
        Coverage::default()
    }

    /// A recorder for the policies of a suite. Policies that several suites load from the same file are counted once.
    pub fn recorder(&mut self, policies: &Policies) -> CoverageRecorder<'_> {
        let mut places = Vec::new();
        for (origin, set) in &policies.sets {
            for points in of_set(*origin, set) {
                let existing = self.policies.iter().position(|other| other.is_same(&points));
                let place = existing.unwrap_or(self.policies.len());
                if existing.is_none() {
                    self.policies.push(points);
                }
                places.push(place);
            }
        }
        CoverageRecorder::new(&self.policies, places)
    }

    /// The report of what was covered, and what was not.
    pub fn report(&self) -> CoverageReport {
        CoverageReport::new(&self.policies)
    }
}

fn of_set(origin: Origin, set: &ManifestSet) -> Vec<PolicyPoints> {
    let bindings = |kind: Kind, policy: &Option<String>| -> Vec<BindingPoint> {
        let bindings = set.bindings();
        let bound = bindings.filter(|(binding, of)| binding.kind == kind && policy.as_deref() == Some(*of));
        bound.map(|(binding, _)| BindingPoint::new(binding)).collect()
    };
    let mutating = set.mutating_policies.iter().map(|policy| {
        let name = &policy.object.metadata.name;
        let mut points = PolicyPoints::new(AdmissionPhase::Mutating, origin, name.clone(), &policy.source);
        points.bindings = bindings(Kind::MutatingAdmissionPolicyBinding, name);
        points.add_mutating(policy);
        points
    });
    let validating = set.validating_policies.iter().map(|policy| {
        let name = &policy.object.metadata.name;
        let mut points = PolicyPoints::new(AdmissionPhase::Validating, origin, name.clone(), &policy.source);
        points.bindings = bindings(Kind::ValidatingAdmissionPolicyBinding, name);
        points.add_validating(policy);
        points
    });
    mutating.chain(validating).collect()
}
