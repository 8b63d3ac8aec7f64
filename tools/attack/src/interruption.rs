//! Expressions and patches that go on for minutes, over objects as large as an API server takes: the deadline of the
//! review ends each of them, wherever it is, and nothing is computed after the answer.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use pratique_harness::{ToolError, with};
use serde::Deserialize;
use serde_json::{Value, json};

use super::attacked_server::{ServeOptions, ServedProgram};
use super::faults::FaultCase;
use super::{AttackScale, count_codes};

/// The only fault of this module.
pub(super) const ALL: [FaultCase; 1] = [("evaluations that do not end", &[], deadlines)];

const GROUP: &str = "interrupted.example";
/// The deadline of each review, and how long after it the answer may come, not counting the time to send the review.
const DEADLINE: Duration = Duration::from_secs(1);
const LATE: Duration = Duration::from_millis(50);
/// The same on a busy machine: work that goes on for minutes is still found.
const VERY_LATE: Duration = Duration::from_secs(10);
/// How long after an answer the processors may still work for a server that has nothing to do, and how that is seen: in
/// spans of time, in one of which they worked for no more than this.
const IDLE_AFTER: Duration = Duration::from_millis(200);
const SPAN: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_millis(20);

/// The place of an expression.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ExpressionPlace {
    Validation,
    Condition,
    Variable,
    Message,
    Annotation,
    JsonPatch,
    /// Of a Pod.
    ApplyConfiguration,
}

use ExpressionPlace::{Annotation, ApplyConfiguration, Condition, JsonPatch, Message, Validation, Variable};

/// What takes long, of every kind: loops and single calls, comparisons, conversions, texts, patterns, lists, patches. None
/// costs more than an API server allows before a second is over, unless machines become much faster.
static CASES: LazyLock<Vec<(ExpressionPlace, String)>> =
    // The text is a constant of ours; a test counts the cases.
    LazyLock::new(|| serde_json::from_str(include_str!("interrupted.json")).unwrap_or_default());

/// A policy and its binding for each case, which only reviews of that case match: validating ones, and mutating ones.
fn manifests() -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    let [validating, mutating] = &mut texts;
    for (index, (place, expression)) in CASES.iter().enumerate() {
        let [policy, binding] = policy(index, *place, expression);
        let text = match place {
            JsonPatch | ApplyConfiguration => &mut *mutating,
            _ => &mut *validating,
        };
        // Text takes everything.
        let _ = write!(text, "---\n{policy}\n---\n{binding}\n");
    }
    texts
}

fn policy(index: usize, place: ExpressionPlace, expression: &str) -> [Value; 2] {
    let name = format!("case-{index}.static.k8s.io");
    let (group, resource) = target(index, place);
    let rule =
        json!({"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": ["*"]});
    let chosen = json!({"name": "chosen", "expression": format!("request.name == 'case-{index}'")});
    let spec = json!({"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule]}, "matchConditions": [chosen]});
    let members = match place {
        Validation => json!({"validations": [{"expression": expression}]}),
        Condition => json!({"matchConditions": [chosen, {"name": "long", "expression": expression}],
            "validations": [{"expression": "true"}]}),
        Variable => json!({"variables": [{"name": "long", "expression": expression}],
            "validations": [{"expression": "variables.long"}]}),
        Message => json!({"validations": [{"expression": "false", "messageExpression": expression}]}),
        Annotation => json!({"validations": [{"expression": "true"}],
            "auditAnnotations": [{"key": "long", "valueExpression": expression}]}),
        JsonPatch => json!({"reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]}),
        ApplyConfiguration => json!({"reinvocationPolicy": "Never",
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]}),
    };
    let members = members.as_object().into_iter().flatten();
    let spec = with(
        spec,
        members.map(|(name, member)| (name.as_str(), member.clone())),
    );
    let (kind, actions) = match place {
        JsonPatch | ApplyConfiguration => ("MutatingAdmissionPolicy", None),
        _ => (
            "ValidatingAdmissionPolicy",
            Some(("validationActions", json!(["Deny"]))),
        ),
    };
    let version = "admissionregistration.k8s.io/v1";
    let bound = with(json!({"policyName": name}), actions);
    [
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}),
        json!({"apiVersion": version, "kind": format!("{kind}Binding"), "metadata": {"name": name}, "spec": bound}),
    ]
}

/// The group and the resource of what a case is about.
fn target(index: usize, place: ExpressionPlace) -> (&'static str, String) {
    match place {
        ApplyConfiguration => ("", "pods".to_owned()),
        _ => (GROUP, format!("larges{index}")),
    }
}

/// An object with much of everything, of about 3 MB, as large as an API server takes.
fn large() -> Value {
    let names = |count: usize| {
        (0..count)
            .map(|number| format!("example.com/{number}"))
            .collect::<Vec<_>>()
    };
    let map = (0..10_000).map(|number| (format!("k{number}"), json!({"a": [number]})));
    let letters = "ab".repeat(100_000);
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Large", "metadata": {"name": "target", "namespace": "shop"},
        "many": names(45_000), "same": names(45_000), "some": names(5_000), "map": map.collect::<serde_json::Map<_, _>>(),
        "text": format!("{letters}é"), "digits": "0".repeat(200_000), "url": format!("https://h/{letters}"),
        "duration": format!("{}s", "0".repeat(200_000)), "version": format!("1.0.0-{}a", "a.".repeat(100_000)),
        "pattern": r"(\pL{999}N|\pL{998}M)*N",
    })
}

/// A Pod with more containers than any has.
fn pod() -> Value {
    let containers = (0..20_000)
        .map(|number| json!({"name": format!("container-{number}"), "image": "registry.shop.example/app"}));
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "target", "namespace": "shop"},
        "spec": {"containers": containers.collect::<Vec<_>>()}})
}

/// An update of an object, both as one text. It is put together from parts, as objects are large.
fn review(index: usize, place: ExpressionPlace, object: &str) -> String {
    let (group, resource) = target(index, place);
    let kind = if group.is_empty() { "Pod" } else { "Large" };
    let kind = json!({"group": group, "version": "v1", "kind": kind});
    let resource = json!({"group": group, "version": "v1", "resource": resource});
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"1","operation":"UPDATE","name":"case-{index}","namespace":"shop","kind":{kind},"resource":{resource},"requestKind":{kind},"requestResource":{resource},"userInfo":{{"username":"attacker"}},"object":{object},"oldObject":{object},"options":null}}}}"#
    )
}

/// Sends the review of a case; returns its code, duration and answer. A review without a case has enough time.
fn send_review(
    served: &ServedProgram,
    index: usize,
    place: ExpressionPlace,
    object: &str,
) -> Result<(u16, Duration, String), ToolError> {
    let path = match place {
        JsonPatch | ApplyConfiguration => "/mutate?timeout=1s",
        _ if index == CASES.len() => "/validate?timeout=30s",
        _ => "/validate?timeout=1s",
    };
    let body = review(index, place, object);
    let mut client = served.connect()?;
    let start = Instant::now();
    let answer = client.post(path, &body)?;
    let took = start.elapsed();
    let text = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
    Ok((answer.code, took, text))
}

/// How long it takes until the server uses no more processor time.
fn until_idle(served: &ServedProgram) -> Result<Duration, ToolError> {
    let start = Instant::now();
    while start.elapsed() < VERY_LATE {
        let (began, previous_time) = (start.elapsed(), served.processor_time()?);
        thread::sleep(SPAN);
        if served.processor_time()?.saturating_sub(previous_time) <= IDLE {
            return Ok(began);
        }
    }
    Err(format!("the server still works {VERY_LATE:.1?} after its answer").into())
}

fn deadlines(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let [validating, mutating] = manifests();
    let mut served = ServedProgram::start(&ServeOptions {
        validating: &validating,
        mutating: &mutating,
        ..*options
    })?;
    let (large, pod) = (large().to_string(), pod().to_string());
    let object = |place: ExpressionPlace| match place {
        ApplyConfiguration => &pod,
        _ => &large,
    };
    // What it takes to send the largest review and to read it; no policy matches this one.
    let (code, transport, text) = send_review(&served, CASES.len(), Validation, &large)?;
    if code != 200 {
        return Err(format!("a review that no policy matches: {code}: {text}").into());
    }
    until_idle(&served)?;
    let (late, idle_after) = if scale.measures_time {
        (transport + LATE, IDLE_AFTER)
    } else {
        (VERY_LATE, VERY_LATE)
    };
    let (mut codes, mut wrong) = (Vec::new(), Vec::new());
    let (mut latest, mut longest) = (Duration::ZERO, Duration::ZERO);
    // Few of each kind where there is little time.
    let step = if scale.measures_time { 1 } else { 5 };
    for (index, (place, expression)) in CASES.iter().enumerate().step_by(step) {
        let (code, took, text) = send_review(&served, index, *place, object(*place))?;
        let idle = until_idle(&served).map_err(|error| format!("{expression}: {error}"))?;
        codes.push(code);
        latest = latest.max(took);
        longest = longest.max(idle);
        if !matches!(code, 200 | 504) || took > DEADLINE + late || idle > idle_after {
            wrong.push(format!(
                "{expression}: {code} after {took:.1?}, idle {idle:.1?} later: {text}"
            ));
        }
    }
    let summary = format!(
        "{} cases over objects of {} bytes, answered {}; the last answer came after {latest:.1?}, of which sending takes {transport:.1?}; \
         idle {longest:.1?} after an answer at most",
        codes.len(),
        large.len(),
        count_codes(&codes),
    );
    // If nothing was interrupted, nothing was shown.
    if codes.iter().filter(|code| **code == 504).count() * 2 < codes.len() {
        wrong.push("fewer than half of them were interrupted".to_owned());
    }
    if wrong.is_empty() {
        Ok(format!("{summary}\n{}", served.survived()?))
    } else {
        Err(format!("{summary}\n{}", wrong.join("\n")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_are_as_large_as_they_say() {
        let text = large().to_string();
        assert!((2_500_000..3_100_000).contains(&text.len()), "{}", text.len());
        let review: Value = serde_json::from_str(&review(3, Validation, &text)).unwrap();
        assert_eq!(review["request"]["name"], "case-3");
        assert_eq!(review["request"]["oldObject"], large());
    }

    #[test]
    fn each_case_has_a_policy_and_a_binding() {
        assert_eq!(CASES.len(), 34);
        let [validating, mutating] = manifests();
        let policies = |text: &str| text.matches("\n---\n").count();
        assert_eq!(policies(&validating) + policies(&mutating), 2 * CASES.len() - 2);
    }
}
