//! Locations of policies and their expressions in manifests.

use pratique_manifest::{ManifestSet, ObjectSource, PathStep, TreeValue};
use pratique_policy::{AdmissionPhase, ExpressionId, Origin};

use crate::explanation::{Explanation, Expression};

impl Explanation {
    /// Sets the locations of policies and of their expressions from the manifests of all origins.
    pub fn locate_in(&mut self, sets: &[(Origin, ManifestSet)]) {
        sets.iter().for_each(|(origin, set)| self.locate(*origin, set));
    }

    /// Sets the locations of the policies of an origin, and of their expressions, from a set of manifests.
    pub fn locate(&mut self, origin: Origin, set: &ManifestSet) {
        for policy in self.policies.iter_mut().filter(|policy| policy.origin == origin) {
            let Some(source) = source(set, policy.phase, &policy.name) else {
                continue;
            };
            policy.location = Some(source.locate(&[]));
            let rounds = policy.bindings.iter_mut().flat_map(|binding| &mut binding.rounds);
            for expression in rounds.flat_map(|round| &mut round.expressions) {
                expression.locate(source);
            }
        }
    }
}

impl Expression {
    fn locate(&mut self, source: &ObjectSource) {
        let Some(path) = path(&self.place, source) else {
            return;
        };
        if let (ExpressionId::Condition(_), Some((_, item))) = (&self.place, path.split_last()) {
            let name = [item, &[field("name")]].concat();
            self.name = source_text(source, &name);
        }
        self.location = Some(source.locate(&path));
    }
}

fn source<'s>(set: &'s ManifestSet, phase: AdmissionPhase, name: &str) -> Option<&'s ObjectSource> {
    let is = |candidate: &Option<String>| candidate.as_deref() == Some(name);
    match phase {
        AdmissionPhase::Mutating => {
            let mut policies = set.mutating_policies.iter();
            policies
                .find(|policy| is(&policy.object.metadata.name))
                .map(|policy| &policy.source)
        }
        AdmissionPhase::Validating => {
            let mut policies = set.validating_policies.iter();
            policies
                .find(|policy| is(&policy.object.metadata.name))
                .map(|policy| &policy.source)
        }
    }
}

/// The path of an expression in its policy.
fn path(place: &ExpressionId, source: &ObjectSource) -> Option<Vec<PathStep>> {
    let (list, index, fields) = match place {
        ExpressionId::Condition(index) => ("matchConditions", *index, vec!["expression"]),
        ExpressionId::Variable(name) => ("variables", variable(source, name)?, vec!["expression"]),
        ExpressionId::Validation(index) => ("validations", *index, vec!["expression"]),
        ExpressionId::Message(index) => ("validations", *index, vec!["messageExpression"]),
        ExpressionId::Annotation(index) => ("auditAnnotations", *index, vec!["valueExpression"]),
        ExpressionId::Mutation(index) => {
            let forms = ["applyConfiguration", "jsonPatch"].map(|form| vec![form, "expression"]);
            let is_there = |fields: &Vec<&str>| {
                let path = item_path("mutations", *index, fields);
                source.tree().find(source.root(), &path).is_some()
            };
            ("mutations", *index, forms.into_iter().find(is_there)?)
        }
    };
    Some(item_path(list, index, &fields))
}

/// The index of a variable; of two with the same name the later, which is the one that expressions read.
fn variable(source: &ObjectSource, name: &str) -> Option<usize> {
    let list = source
        .tree()
        .find(source.root(), &[field("spec"), field("variables")])?;
    let TreeValue::List(items) = &source.tree().get(list).value else {
        return None;
    };
    (0..items.len()).rfind(|index| {
        source_text(source, &item_path("variables", *index, &["name"])).as_deref() == Some(name)
    })
}

/// The path of a field of an item in a list of the policy's `spec`.
fn item_path(list: &str, index: usize, fields: &[&str]) -> Vec<PathStep> {
    let start = [field("spec"), field(list), PathStep::Index(index)];
    start
        .into_iter()
        .chain(fields.iter().map(|name| field(name)))
        .collect()
}

fn field(name: &str) -> PathStep {
    PathStep::Field(name.to_owned())
}

fn source_text(source: &ObjectSource, path: &[PathStep]) -> Option<String> {
    match &source.tree().get(source.tree().find(source.root(), path)?).value {
        TreeValue::String(text, _) => Some(text.to_string()),
        _ => None,
    }
}
