//! The policies of a scan: the common rules about Pods and the templates of Deployments, and rules about other kinds.

use std::fs;
use std::path::Path;

use pratique_harness::{RandomDice, ToolError, with};
use serde_json::{Value, json};

use crate::board::policies::rules::{self, RULES, RuleText};
use crate::board::policies::yaml;

/// The kinds that policies match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PolicyKinds {
    Pods,
    Deployments,
    ConfigMaps,
    Rbac,
}

/// Writes so many policies into an empty directory, of a hundred 50 about Pods, 25 about Deployments, 15 about ConfigMaps and 10
/// about RBAC.
pub(crate) fn write(directory: &Path, seed: u64, count: usize) -> Result<(), ToolError> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(failed)?;
    let mut dice = RandomDice::new(seed);
    for index in 0..count {
        let about = match index * 100 / count.max(1) {
            0..50 => PolicyKinds::Pods,
            50..75 => PolicyKinds::Deployments,
            75..90 => PolicyKinds::ConfigMaps,
            _ => PolicyKinds::Rbac,
        };
        let documents = [policy(index, about, &mut dice), binding(index)];
        let text = documents.each_ref().map(yaml::write_document).join("---\n");
        fs::write(directory.join(format!("policy-{index:05}.yaml")), text).map_err(failed)?;
    }
    Ok(())
}

fn name(index: usize) -> String {
    format!("policy-{index:05}.static.k8s.io")
}

fn policy(index: usize, about: PolicyKinds, dice: &mut RandomDice) -> Value {
    let spec = match about {
        PolicyKinds::Pods => rules::mix(index, dice),
        PolicyKinds::Deployments => of_templates(&rules::mix(index, dice)),
        PolicyKinds::ConfigMaps => make_two_rules(&RULES.config_maps, index),
        PolicyKinds::Rbac => make_two_rules(&RULES.rbac, index),
    };
    let (group, resources): (&str, &[&str]) = match about {
        PolicyKinds::Pods => ("", &["pods"]),
        PolicyKinds::Deployments => ("apps", &["deployments"]),
        PolicyKinds::ConfigMaps => ("", &["configmaps"]),
        PolicyKinds::Rbac => ("rbac.authorization.k8s.io", &["roles", "rolebindings"]),
    };
    let rule = json!({
        "apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": resources,
    });
    let spec = with(spec, [("matchConstraints", json!({"resourceRules": [rule]}))]);
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name(index)},
        "spec": spec,
    })
}

fn binding(index: usize) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name(index)},
        "spec": {"policyName": name(index), "validationActions": ["Deny"]},
    })
}

/// Two rules of several.
fn make_two_rules(rules: &[RuleText], index: usize) -> Value {
    let own = |text: &str| text.replace("NUMBER", &(100 + index).to_string());
    let rule = |step: usize| rules.get((index + step) % rules.len().max(1));
    let validations = (0..2)
        .filter_map(rule)
        .map(|(expression, message)| json!({"expression": own(expression), "message": own(message)}));
    json!({"validations": validations.collect::<Vec<_>>()})
}

/// Rules about Pods as rules about the templates of workloads.
fn of_templates(spec: &Value) -> Value {
    match spec {
        Value::String(text) => text.replace("object.spec.", "object.spec.template.spec.").into(),
        Value::Array(items) => items.iter().map(of_templates).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), of_templates(member)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_those_of_workloads() {
        let spec = json!({"validations": [{"expression": "has(object.spec.containers) && object.metadata.name != ''"}]});
        assert_eq!(
            of_templates(&spec)
                .pointer("/validations/0/expression")
                .and_then(Value::as_str),
            Some("has(object.spec.template.spec.containers) && object.metadata.name != ''")
        );
    }

    #[test]
    fn policies_are_about_what_there_is() {
        let mut dice = RandomDice::new(1);
        for about in [
            PolicyKinds::Pods,
            PolicyKinds::Deployments,
            PolicyKinds::ConfigMaps,
            PolicyKinds::Rbac,
        ] {
            let text = policy(7, about, &mut dice).to_string();
            assert!(!text.contains("NUMBER"), "{text}");
            assert!(text.contains("resourceRules"), "{text}");
        }
    }
}
