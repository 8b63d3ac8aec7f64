//! Policies and their bindings.

use pratique_harness::{RandomDice, with};
use serde_json::{Value, json};

use super::kinds::{KINDS, POD, ResourceKind};
use super::writer::{ExpressionPlace, PolicyWriter, SourceTrees};
use crate::sketch::OF_POLICIES;

/// The origin of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyOrigin {
    /// From manifests: what does not load is of no use, and defaults may be left out.
    Static,
    /// From the API, which has set the defaults.
    Api,
}

/// Policies of one origin with their bindings, mostly about one kind. Those of the API have no order, so there are few.
pub(super) fn policies(
    dice: &mut RandomDice,
    origin: PolicyOrigin,
    focus: &ResourceKind,
    trees: &mut SourceTrees,
) -> Vec<Value> {
    let mut all = Vec::new();
    let count = match origin {
        PolicyOrigin::Static => 1 + dice.below(3),
        PolicyOrigin::Api => 1 + dice.below(2),
    };
    let first = dice.below(2);
    for index in 0..count {
        let mutates = match origin {
            PolicyOrigin::Static => dice.chance(45),
            PolicyOrigin::Api => (first + index).is_multiple_of(2),
        };
        let subject = PolicySubject {
            origin,
            focus: *focus,
            mutates,
        };
        policy(dice, subject, index, trees, &mut all);
    }
    all
}

/// The kind of a policy.
#[derive(Clone, Copy)]
struct PolicySubject {
    origin: PolicyOrigin,
    /// The kind that it is about, mostly.
    focus: ResourceKind,
    mutates: bool,
}

fn policy(
    dice: &mut RandomDice,
    subject: PolicySubject,
    index: usize,
    trees: &mut SourceTrees,
    all: &mut Vec<Value>,
) {
    let PolicySubject {
        origin,
        focus,
        mutates,
    } = subject;
    let (of, sketch) = if mutates {
        ("Mutating", "mutating policy")
    } else {
        ("Validating", "validating policy")
    };
    let suffix = match origin {
        PolicyOrigin::Static => ".static.k8s.io",
        PolicyOrigin::Api => "",
    };
    let name = format!("p{index}{suffix}");
    let param_kind =
        (origin == PolicyOrigin::Api && dice.chance(50)).then(|| OF_POLICIES.draw("paramKind", dice));
    let mut writer = PolicyWriter::new(
        trees,
        param_kind.is_some(),
        mutates.then_some(focus),
        origin == PolicyOrigin::Api,
    );
    let spec = OF_POLICIES.draw_with(sketch, dice, &mut |part, dice| {
        let (of, place, otherwise) = match part {
            "variables" => return writer.variables(dice),
            "condition" => ("bool", ExpressionPlace::Condition, "true"),
            "validated" => ("bool", ExpressionPlace::Body, "has(object.metadata)"),
            "message" => ("string", ExpressionPlace::Message, "'made'"),
            "annotation" => ("string", ExpressionPlace::Message, "'v'"),
            "configuration" => (
                "Object",
                ExpressionPlace::Body,
                OF_POLICIES.word("plain configuration", dice),
            ),
            "patch" => (
                "list(JSONPatch)",
                ExpressionPlace::Body,
                OF_POLICIES.word("plain patch", dice),
            ),
            part => return rule(dice, subject, part),
        };
        json!(writer.expression(dice, of, place, otherwise))
    });
    let has_params = param_kind.is_some();
    let mut put = |dice: &mut RandomDice, kind: &str, name: &str, spec: Value| {
        let mut object = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{of}AdmissionPolicy{kind}"),
            "metadata": {"name": name}, "spec": spec,
        });
        if origin == PolicyOrigin::Static {
            leave_defaults_out(dice, &mut object);
        }
        all.push(object);
    };
    put(
        dice,
        "",
        &name,
        with(spec, param_kind.map(|kind| ("paramKind", kind))),
    );
    let bindings = if dice.chance(15) { 2 } else { 1 };
    for binding in 0..bindings {
        let spec = OF_POLICIES.draw_with("binding", dice, &mut |part, dice| rule(dice, subject, part));
        let mut members = vec![("policyName", json!(name))];
        if has_params && dice.chance(92) {
            members.push(("paramRef", OF_POLICIES.draw("paramRef", dice)));
        }
        if !mutates {
            members.push(("validationActions", OF_POLICIES.draw("actions", dice)));
        }
        put(
            dice,
            "Binding",
            &format!("b{index}{binding}{suffix}"),
            with(spec, members),
        );
    }
}

/// Removes some of what the API would set if it were not there.
fn leave_defaults_out(dice: &mut RandomDice, value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| match name.as_str() {
                "failurePolicy" => dice.chance(50),
                "matchPolicy" | "scope" => dice.chance(40),
                "namespaceSelector" | "objectSelector" => *member != json!({}),
                _ => true,
            });
            members
                .values_mut()
                .for_each(|member| leave_defaults_out(dice, member));
        }
        Value::Array(elements) => {
            elements
                .iter_mut()
                .for_each(|element| leave_defaults_out(dice, element));
        }
        _ => {}
    }
}

/// A rule, mostly about one kind; those of policies are mostly wide, so that there is something to evaluate.
fn rule(dice: &mut RandomDice, subject: PolicySubject, part: &str) -> Value {
    let kind = if dice.chance(80) {
        subject.focus
    } else {
        *dice.pick(KINDS).unwrap_or(&POD)
    };
    let wide = if part == "wide rule" { 40 } else { 10 };
    let sketch = if dice.chance(wide) {
        "any resource"
    } else {
        "one resource"
    };
    let mut rule = OF_POLICIES.draw_with(sketch, dice, &mut |part, _| match part {
        "group" => json!(kind.group),
        "version" => json!(kind.version),
        part => json!(part.replacen("resource", kind.resource, 1)),
    });
    if let (true, Some(operations)) = (
        subject.mutates,
        rule.pointer_mut("/operations").and_then(Value::as_array_mut),
    ) {
        // There is nothing to mutate on DELETE.
        operations.retain(|operation| operation != "DELETE");
    }
    rule
}
