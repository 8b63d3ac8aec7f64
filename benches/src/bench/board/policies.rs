//! Policies to measure with, made from a seed: the same on every machine, others with every seed.
//!
//! There are several shapes, so that nothing is made faster for one set of policies only. [`rules`] are the validations that
//! real policies have, [`leaves`] makes expressions of which no two read the same, [`mutations`] change objects.

mod leaves;
mod mutations;
pub(crate) mod rules;
pub(crate) mod yaml;

use std::fs;
use std::path::Path;

use pratique_harness::{RandomDice, ToolError, with};
use serde::Deserialize;
use serde_json::{Value, json};

use super::rows::EvaluatedObject;

/// A set of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct PolicySet {
    /// The effect of the policies.
    #[serde(default)]
    pub(super) effect: PolicyEffect,
    /// The kind of their expressions.
    #[serde(default)]
    pub(super) shape: ExpressionShape,
    /// How many there are.
    pub(super) count: usize,
    /// How many of them are about Pods; all if nothing is said.
    pub(super) matching: Option<usize>,
    /// How many bindings each has.
    #[serde(default = "one")]
    pub(super) bindings: usize,
}

/// One, if nothing is said.
pub(super) fn one() -> usize {
    1
}

/// The effect of policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PolicyEffect {
    /// Three validations each.
    #[default]
    Validate,
    /// Mutation by server-side apply.
    Apply,
    /// Mutation by JSON Patch.
    Patch,
}

/// The kind of expressions of policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ExpressionShape {
    /// As on a cluster: of the common rules, in about half of which each policy has names and limits of its own.
    #[default]
    Mix,
    /// The same rules in all policies, as when every team installs them.
    Shared,
    /// No expression twice, and other fields in each.
    Distinct,
    /// All fail, and say why.
    Deny,
}

/// Policies in one file.
const IN_A_FILE: usize = 1;

impl PolicySet {
    /// How many of them are about Pods.
    pub(super) fn matching(&self) -> usize {
        self.matching.unwrap_or(self.count)
    }

    /// The name of the plugin whose they are.
    pub(super) fn plugin(&self) -> &'static str {
        match self.effect {
            PolicyEffect::Validate => "ValidatingAdmissionPolicy",
            PolicyEffect::Apply | PolicyEffect::Patch => "MutatingAdmissionPolicy",
        }
    }

    /// Writes them into an empty directory.
    pub(super) fn write(&self, seed: u64, directory: &Path) -> Result<(), ToolError> {
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory).map_err(failed)?;
        for (name, text) in self.files(seed) {
            fs::write(directory.join(name), text).map_err(failed)?;
        }
        Ok(())
    }

    /// The names and texts of their files.
    pub(super) fn files(&self, seed: u64) -> Vec<(String, String)> {
        let mut dice = RandomDice::new(seed);
        let mut documents = Vec::new();
        for index in 0..self.count {
            // A prime step, so that those about Pods are anywhere among the others.
            let is_about_pods =
                self.matching() >= self.count || (index * 7_919) % self.count < self.matching();
            let mut policy = vec![self.policy(index, is_about_pods, &mut dice)];
            policy.extend((0..self.bindings).map(|number| self.binding(index, number)));
            documents.push(policy);
        }
        let file = |(number, policies): (usize, &[Vec<Value>])| {
            let texts: Vec<String> = policies.iter().flatten().map(yaml::write_document).collect();
            (format!("policies-{number:05}.yaml"), texts.join("---\n"))
        };
        documents.chunks(IN_A_FILE).enumerate().map(file).collect()
    }

    fn policy(&self, index: usize, is_about_pods: bool, dice: &mut RandomDice) -> Value {
        let spec = match self.effect {
            PolicyEffect::Validate => self.validations(index, dice),
            PolicyEffect::Apply => mutations::apply(index),
            PolicyEffect::Patch => mutations::patch(index),
        };
        let spec = with(spec, [("matchConstraints", constraints(is_about_pods, dice))]);
        let kind = self.plugin();
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": policy_name(index)},
            "spec": spec,
        })
    }

    fn validations(&self, index: usize, dice: &mut RandomDice) -> Value {
        match self.shape {
            ExpressionShape::Mix => rules::mix(index, dice),
            ExpressionShape::Shared => rules::shared(index),
            ExpressionShape::Distinct => {
                leaves::validations(index, &super::objects::object(EvaluatedObject::Full))
            }
            ExpressionShape::Deny => rules::deny(index, dice),
        }
    }

    fn binding(&self, index: usize, number: usize) -> Value {
        let mut spec = json!({"policyName": policy_name(index)});
        if let (PolicyEffect::Validate, Some(spec)) = (self.effect, spec.as_object_mut()) {
            spec.insert("validationActions".to_owned(), json!(["Deny"]));
            // Every fourth of many looks where it is.
            if number % 4 == 3 {
                let selector = json!({"namespaceSelector": {"matchLabels": {"env": "prod"}}});
                spec.insert("matchResources".to_owned(), selector);
            }
        }
        let kind = format!("{}Binding", self.plugin());
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": format!("binding-{index:05}-{number:04}.static.k8s.io")},
            "spec": spec,
        })
    }
}

fn policy_name(index: usize) -> String {
    format!("policy-{index:05}.static.k8s.io")
}

/// Rules for Pods, or for something else.
fn constraints(is_about_pods: bool, dice: &mut RandomDice) -> Value {
    let rule = |group: &str, resources: &[&str]| {
        json!({
            "apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": resources,
        })
    };
    if is_about_pods {
        return json!({"resourceRules": [rule("", &["pods"])]});
    }
    let others: [(&str, &[&str]); 6] = [
        ("apps", &["deployments", "statefulsets"]),
        ("apps", &["daemonsets"]),
        ("batch", &["jobs", "cronjobs"]),
        ("networking.k8s.io", &["ingresses"]),
        ("", &["services"]),
        ("", &["configmaps", "secrets"]),
    ];
    let rules = dice
        .pick(&others)
        .map(|(group, resources)| rule(group, resources));
    json!({"resourceRules": rules.into_iter().collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn policies(shape: ExpressionShape, count: usize, matching: usize) -> PolicySet {
        PolicySet {
            effect: PolicyEffect::Validate,
            shape,
            count,
            matching: Some(matching),
            bindings: 1,
        }
    }

    fn texts(policies: PolicySet, seed: u64) -> String {
        policies.files(seed).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_seed_gives_the_same_policies() {
        let mix = policies(ExpressionShape::Mix, 50, 50);
        assert_eq!(texts(mix, 1), texts(mix, 1));
        assert_ne!(texts(mix, 1), texts(mix, 2));
    }

    #[test]
    fn as_many_match_as_are_to() {
        let check = |count: usize, matching: usize| {
            let text = texts(policies(ExpressionShape::Mix, count, matching), 3);
            assert_eq!(text.matches("- \"pods\"").count(), matching, "{count}");
        };
        check(1_000, 10);
        check(10, 10);
        check(7, 7);
    }

    #[test]
    fn distinct_policies_share_no_expression() {
        let text = texts(policies(ExpressionShape::Distinct, 200, 200), 1);
        let expressions: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(" expression: "))
            .collect();
        let unique: BTreeSet<&&str> = expressions.iter().collect();
        assert_eq!((expressions.len(), unique.len()), (600, 600));
    }

    #[test]
    fn each_policy_has_its_bindings() {
        let many = PolicySet {
            bindings: 5,
            ..policies(ExpressionShape::Mix, 2, 2)
        };
        let text = texts(many, 1);
        assert_eq!(
            text.matches("kind: ValidatingAdmissionPolicyBinding\n").count(),
            10
        );
        assert_eq!(
            text.matches("policyName: \"policy-00001.static.k8s.io\"").count(),
            5
        );
    }
}
