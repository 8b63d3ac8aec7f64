//! Validations as policies have them. `NUMBER` stands for what is a policy's own.

use pratique_harness::Dice;
use serde_json::{Map, Value, json};

/// What holds for both Pods, whatever the number: an expression and what is said when it does not hold.
const RULES: [(&str, &str); 32] = [
    (
        "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || c.securityContext.privileged == false)",
        "containers are not privileged",
    ),
    (
        "!has(object.spec.hostNetwork) || !object.spec.hostNetwork",
        "the network is the Pod's own",
    ),
    (
        "!has(object.spec.hostPID) || object.spec.hostPID == false",
        "the processes are the Pod's own",
    ),
    (
        "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))",
        "volumes are not of the host",
    ),
    (
        "object.spec.containers.all(c, c.image.startsWith('registry.shop.example/') || c.image.startsWith('mirror-NUMBER.shop.example/'))",
        "images come from the registry or mirror NUMBER",
    ),
    (
        "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
        "images have a version",
    ),
    (
        "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)",
        "memory is limited",
    ),
    (
        "object.spec.containers.all(c, quantity(c.resources.limits['memory']).isLessThan(quantity('4NUMBERMi')))",
        "memory is limited to 4NUMBERMi",
    ),
    (
        "object.spec.containers.all(c, has(c.resources.requests) && quantity(c.resources.requests['cpu']).compareTo(quantity('NUMBER')) <= 0)",
        "at most NUMBER processors are asked for",
    ),
    (
        "has(object.metadata.labels) && 'team' in object.metadata.labels",
        "somebody owns it",
    ),
    (
        "['app', 'team', 'tier'].all(l, l in object.metadata.labels)",
        "the usual labels are there",
    ),
    (
        "object.metadata.labels.all(k, object.metadata.labels[k].size() <= 63)",
        "labels are short",
    ),
    (
        "!has(object.metadata.annotations) || object.metadata.annotations.all(k, !k.startsWith('unit-NUMBER.example.com/'))",
        "annotations of unit NUMBER are not for everybody",
    ),
    (
        "object.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        "the name is a DNS label",
    ),
    (
        "request.userInfo.username != 'intern-NUMBER' && !('contractors-NUMBER' in request.userInfo.groups)",
        "unit NUMBER may not",
    ),
    (
        "namespaceObject.metadata.labels[?'env'].orValue('dev') != 'frozen-NUMBER'",
        "namespaces of freeze NUMBER stay",
    ),
    (
        "!has(object.spec.tolerations) || object.spec.tolerations.all(t, t.?key.orValue('') != 'dedicated-NUMBER')",
        "nodes of unit NUMBER are its own",
    ),
    (
        "object.spec.containers.filter(c, has(c.livenessProbe)).size() > 0",
        "something is probed",
    ),
    (
        "object.spec.?securityContext.runAsNonRoot.orValue(false) || object.spec.containers.all(c, c.?securityContext.runAsNonRoot.orValue(false))",
        "nothing runs as root",
    ),
    (
        "object.spec.containers.all(c, c.?securityContext.capabilities.drop.orValue([]).exists(d, d == 'ALL'))",
        "all capabilities are dropped",
    ),
    (
        "object.spec.containers.all(c, !has(c.ports) || c.ports.all(p, p.containerPort != 2NUMBER && !has(p.hostPort)))",
        "port 2NUMBER is taken",
    ),
    (
        "object.spec.containers.all(c, !has(c.env) || c.env.all(e, e.name != 'UNIT_NUMBER_TOKEN'))",
        "the token of unit NUMBER comes from a Secret",
    ),
    (
        "variables.images.all(i, !i.startsWith('docker.io/'))",
        "images are not from abroad",
    ),
    (
        "variables.images.filter(i, i.contains('/unit-NUMBER/')).size() == 0",
        "images of unit NUMBER stay there",
    ),
    (
        "!has(object.spec.nodeSelector) || !('unit-NUMBER' in object.spec.nodeSelector)",
        "nodes of unit NUMBER are not asked for",
    ),
    (
        "object.spec.?serviceAccountName.orValue('default') != 'admin-NUMBER'",
        "the account of admin NUMBER is not for Pods",
    ),
    (
        "!has(object.spec.priorityClassName) || object.spec.priorityClassName in ['low', 'normal', 'unit-NUMBER']",
        "the priority is not too high",
    ),
    (
        "oldObject == null || oldObject.metadata.name == object.metadata.name",
        "names stay",
    ),
    (
        "object.spec.containers.all(c, object.spec.containers.exists_one(d, d.name == c.name))",
        "containers have names of their own",
    ),
    (
        "object.metadata.?ownerReferences.orValue([]).all(o, o.kind != 'Job' || o.name != 'job-NUMBER')",
        "job NUMBER is over",
    ),
    (
        "!has(object.spec.terminationGracePeriodSeconds) || object.spec.terminationGracePeriodSeconds <= 4NUMBER",
        "it ends soon",
    ),
    (
        "object.spec.containers.all(c, c.image.matches('^registry[.]shop[.]example/[a-z0-9/-]+:[0-9.]+$'))",
        "images are named as they should be",
    ),
];

/// What holds for neither.
const FAILING: [(&str, &str); 6] = [
    (
        "object.spec.containers.all(c, c.image.startsWith('vault-NUMBER.example.com/'))",
        "images come from vault NUMBER",
    ),
    (
        "object.metadata.labels.exists(k, k == 'unit-NUMBER')",
        "it says what unit NUMBER gets",
    ),
    ("object.metadata.name == 'only-NUMBER'", "only NUMBER is let in"),
    (
        "object.spec.?runtimeClassName.orValue('') == 'sandbox-NUMBER'",
        "it runs in sandbox NUMBER",
    ),
    (
        "object.spec.containers.size() > 1NUMBER",
        "there are more than 1NUMBER containers",
    ),
    (
        "request.userInfo.username == 'robot-NUMBER'",
        "robot NUMBER makes these",
    ),
];

/// Three rules of any kind.
pub(crate) fn mix(index: usize, dice: &mut Dice) -> Value {
    let chosen = distinct(&RULES, dice);
    let validations: Vec<Value> = chosen
        .iter()
        .map(|rule| validation(rule, index, dice.chance(20)))
        .collect();
    let mut spec = json!({"validations": validations});
    let Some(members) = spec.as_object_mut() else {
        return spec;
    };
    add_variables(members);
    if dice.chance(25) {
        let condition = match dice.chance(50) {
            true => "!('system:nodes' in request.userInfo.groups)".to_owned(),
            false => numbered("request.userInfo.username != 'system:unit-NUMBER'", index),
        };
        members.insert(
            "matchConditions".to_owned(),
            json!([{"name": "who", "expression": condition}]),
        );
    }
    spec
}

/// The same three rules as others have, of the common ones without a number.
pub(super) fn shared(index: usize) -> Value {
    let common: Vec<&(&str, &str)> = RULES
        .iter()
        .filter(|(text, _)| !text.contains("NUMBER") && !text.contains("variables."))
        .collect();
    let step = |step: usize| common.get((index + step * 5) % common.len().max(1));
    let validations = (0..3).filter_map(step).map(|rule| validation(rule, index, false));
    json!({"validations": validations.collect::<Vec<_>>()})
}

/// A rule that fails first, and two more of either kind.
pub(super) fn deny(index: usize, dice: &mut Dice) -> Value {
    let mut validations = Vec::new();
    let [first, second, _] = distinct(&FAILING, dice);
    validations.push(validation(first, index, index % 2 == 1));
    validations.push(validation(second, index, dice.chance(30)));
    // None of those with variables, to keep it short.
    let [third, ..] = distinct(RULES.get(..20).unwrap_or_default(), dice);
    validations.push(validation(third, index, false));
    json!({"validations": validations})
}

/// Three of several, all different.
fn distinct<'t>(of: &'t [(&'t str, &'t str)], dice: &mut Dice) -> [&'t (&'t str, &'t str); 3] {
    const NONE: &(&str, &str) = &("true", "");
    let start = dice.below(of.len());
    // Steps that never lead back to the start in three.
    let [first, second] = [1 + dice.below(of.len() / 3), 1 + dice.below(of.len() / 3)];
    [start, start + first, start + first + second].map(|at| of.get(at % of.len().max(1)).unwrap_or(NONE))
}

fn validation((text, message): &(&str, &str), index: usize, speaks: bool) -> Value {
    let (expression, message) = (numbered(text, index), numbered(message, index));
    match speaks {
        false => json!({"expression": expression, "message": message}),
        true => {
            let computed = format!("'{}: ' + object.metadata.name", message.replace('\'', "\\'"));
            json!({"expression": expression, "messageExpression": computed})
        }
    }
}

/// The number has three digits at least, so that what is made larger by it is large.
fn numbered(text: &str, index: usize) -> String {
    text.replace("NUMBER", &format!("{}", 100 + index))
}

/// The variables that the validations name.
fn add_variables(members: &mut Map<String, Value>) {
    let is_named = members
        .get("validations")
        .is_some_and(|validations| validations.to_string().contains("variables."));
    if is_named {
        let images = "(object.spec.containers + object.spec.?initContainers.orValue([])).map(c, c.image)";
        members.insert(
            "variables".to_owned(),
            json!([{"name": "images", "expression": images}]),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn three_of_several_are_different() {
        let mut dice = Dice::new(5);
        for _ in 0..500 {
            for of in [&RULES[..], &FAILING[..]] {
                let texts = distinct(of, &mut dice).map(|(text, _)| *text);
                assert_eq!(BTreeSet::from(texts).len(), 3, "{texts:?}");
            }
        }
    }

    #[test]
    fn about_half_of_the_rules_are_a_policys_own() {
        let numbered = RULES.iter().filter(|(text, _)| text.contains("NUMBER")).count();
        assert!((12..=20).contains(&numbered), "{numbered}");
    }
}
