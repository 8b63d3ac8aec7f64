//! Webhooks in the chain: between whom they are called, and what a second round is for them and for policies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pratique::json::base64;
use pratique::manifest::ManifestPlugin;
use pratique::observer::{ChainObserver, ChainSpan};
use pratique::policy::{DenialCause, MemoryBudget, MemoryLimit};
use pratique::step::{StepPlace, step};
use pratique::types::AdmissionRequest;
use pratique::webhook::{Answer, Call, Caller};
use pratique::{Admission, AdmissionBuilder, AdmissionContext, Limits, Objects, Outcome};
use pratique_json::Value;

use crate::world::{NoDecider, append, configmap, file, mutating, trail, validating};

/// Webhooks that add the last part of their path to the trail, if there is one, or as `deny` refuse; `null` lets
/// everything be, and warns.
#[derive(Clone, Default)]
pub(crate) struct Markers(pub(crate) Arc<Mutex<Vec<String>>>);

impl Caller for Markers {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        let mark = call.endpoint.url.rsplit('/').next().unwrap().to_owned();
        self.0.lock().unwrap().push(mark.clone());
        let review = pratique_json::parse(&call.body).unwrap();
        let uid = review.at(&["request", "uid"]).and_then(Value::as_str).unwrap();
        let trail = review.at(&["request", "object", "data", "trail"]);
        let trail = trail.and_then(Value::as_str);
        let value = format!("{}{mark}", trail.unwrap_or_default());
        let patch = format!(r#"[{{"op":"replace","path":"/data/trail","value":"{value}"}}]"#);
        let patch = base64::encode(patch.as_bytes());
        let response = match mark.as_str() {
            "deny" => r#""allowed":false,"status":{"message":"no"}"#.to_owned(),
            "null" => r#""allowed":true,"warnings":["seen"]"#.to_owned(),
            _ if trail.is_none() => r#""allowed":true"#.to_owned(),
            _ => format!(r#""allowed":true,"patchType":"JSONPatch","patch":"{patch}""#),
        };
        let body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{uid}",{response}}}}}"#
        );
        Box::pin(async move { Ok(body.into()) })
    }
}

/// The configuration of a webhook with this mark, which is called for all ConfigMaps and configuration of admission.
pub(crate) fn webhook(plugin: ManifestPlugin, name: &str, mark: &str, more: &str) -> String {
    let kind = match plugin {
        MUTATING => "MutatingWebhookConfiguration",
        _ => "ValidatingWebhookConfiguration",
    };
    format!(
        "---\napiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nwebhooks:\n\
         - name: {mark}.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  clientConfig: {{url: 'https://hooks.example.com/{mark}'}}\n\
         \u{20} rules: [{{apiGroups: ['', admissionregistration.k8s.io], apiVersions: [v1], resources: [configmaps, validatingwebhookconfigurations], operations: ['*']}}]\n{more}"
    )
}

/// With static webhooks of these marks and reinvocation policies.
pub(crate) fn webhooks(
    builder: AdmissionBuilder,
    plugin: ManifestPlugin,
    hooks: &[(&str, &str)],
) -> AdmissionBuilder {
    let reinvocation = |policy: &str| match plugin {
        MUTATING => format!("  reinvocationPolicy: {policy}\n"),
        _ => String::new(),
    };
    let text: String = hooks
        .iter()
        .enumerate()
        .map(|(index, (mark, policy))| {
            webhook(
                plugin,
                &format!("w{index}.static.k8s.io"),
                mark,
                &reinvocation(policy),
            )
        })
        .collect();
    builder.files([file("w.yaml", &text)], plugin)
}

async fn admit(
    builder: AdmissionBuilder,
    request: &AdmissionRequest<'_>,
) -> (Outcome, Vec<String>, Vec<String>) {
    #[derive(Default)]
    struct Parts(Vec<String>);
    impl ChainObserver for Parts {
        fn part(&mut self, name: &str, _: &ChainSpan) {
            self.0.push(name.to_owned());
        }
    }
    let caller = Markers::default();
    let admission = builder.caller(caller.clone()).build().unwrap();
    let objects = Objects::new();
    let context = AdmissionContext::new(&objects).with_decider(&NoDecider);
    let mut parts = Parts::default();
    let outcome = admission.admit(request, context, &mut parts).await.unwrap();
    let called = caller.0.lock().unwrap().clone();
    (outcome, called, parts.0)
}

pub(crate) const MUTATING: ManifestPlugin = ManifestPlugin::MutatingAdmissionWebhook;
pub(crate) const VALIDATING: ManifestPlugin = ManifestPlugin::ValidatingAdmissionWebhook;

#[tokio::test]
async fn a_webhook_that_changes_the_object_brings_policies_back() {
    let builder = mutating(Admission::builder(), &[("m", "IfNeeded"), ("n", "Never")]);
    let (outcome, called, parts) =
        admit(webhooks(builder, MUTATING, &[("w", "Never")]), &configmap("")).await;
    assert_eq!(trail(&outcome), "mnwm");
    assert_eq!(called, ["w"]);
    let round = ["MutatingAdmissionPolicy", "MutatingAdmissionWebhook"];
    assert_eq!(
        parts,
        [
            &round[..],
            &round,
            &["ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"]
        ]
        .concat()
    );
}

#[tokio::test]
async fn a_policy_that_comes_back_brings_webhooks_back() {
    let builder = mutating(Admission::builder(), &[("m", "IfNeeded")]);
    let hooks = [("v", "IfNeeded"), ("w", "Never")];
    let (outcome, called, _) = admit(webhooks(builder, MUTATING, &hooks), &configmap("")).await;
    assert_eq!(trail(&outcome), "mvwmv");
    assert_eq!(called, ["v", "w", "v"]);
}

#[tokio::test]
async fn a_webhook_without_changes_causes_no_reinvocation() {
    let builder = webhooks(Admission::builder(), MUTATING, &[("null", "IfNeeded")]);
    let (outcome, called, _) = admit(builder, &configmap("")).await;
    assert!(outcome.allowed() && outcome.object.is_none());
    assert_eq!(outcome.warnings, ["seen"]);
    assert_eq!(called, ["null"]);
}

#[tokio::test]
async fn a_step_between_counts_as_a_change_of_others() {
    // The webhook's own change brings the second round; what the step does before it makes it due.
    let builder = webhooks(Admission::builder(), MUTATING, &[("w", "IfNeeded")]);
    let builder = builder.step(
        StepPlace::BeforeMutatingPolicies,
        step("s", |attributes| {
            pratique::step::StepOutcome::change(append(attributes.object, "s"))
        }),
    );
    let (outcome, called, _) = admit(builder, &configmap("")).await;
    assert_eq!(trail(&outcome), "swsw");
    assert_eq!(called, ["w", "w"]);
}

#[tokio::test]
async fn validating_webhooks_see_the_last_form() {
    let builder = mutating(Admission::builder(), &[("m", "Never")]);
    let builder = webhooks(builder, VALIDATING, &[("deny", "")]);
    let (outcome, called, _) = admit(builder, &configmap("")).await;
    assert_eq!(outcome.cause, Some(DenialCause::Rule));
    let status = outcome.status.unwrap();
    assert_eq!(
        status.message,
        "admission webhook \"deny.example.com\" denied the request: no"
    );
    assert_eq!(called, ["deny"]);
}

#[tokio::test]
async fn a_policy_that_denies_keeps_webhooks_from_being_called() {
    let builder = validating(Admission::builder(), "false");
    let builder = webhooks(builder, VALIDATING, &[("null", "")]);
    let (outcome, called, parts) = admit(builder, &configmap("")).await;
    assert!(!outcome.allowed() && called.is_empty());
    assert_eq!(
        parts.last().map(String::as_str),
        Some("ValidatingAdmissionPolicy")
    );
}

#[test]
fn webhooks_that_nobody_calls_are_refused() {
    let builder = webhooks(Admission::builder(), VALIDATING, &[("null", ""), ("deny", "")]);
    let error = builder.build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 objects are loaded for plugin ValidatingAdmissionWebhook, but there is no caller of webhooks"
    );
}

/// Webhooks that make an object large, or say much about it.
struct Lavish;

impl Caller for Lavish {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        let uid = pratique_json::parse(&call.body).unwrap();
        let uid = uid.at(&["request", "uid"]).and_then(Value::as_str).unwrap();
        let long = "x".repeat(1 << 20);
        let patch = format!(r#"[{{"op":"add","path":"/data/long","value":"{long}"}}]"#);
        let response = if call.endpoint.url.ends_with("/deny") {
            format!(r#""allowed":false,"status":{{"message":"{long}"}}"#)
        } else {
            format!(
                r#""allowed":true,"patchType":"JSONPatch","patch":"{}""#,
                base64::encode(patch.as_bytes())
            )
        };
        let body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{uid}",{response}}}}}"#
        );
        Box::pin(async move { Ok(body.into()) })
    }
}

/// Counts what is held.
#[derive(Debug, Default)]
struct Held(AtomicUsize);

impl MemoryBudget for Held {
    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// As of a log that leaves out the groups of users, which a webhook is sent.
#[tokio::test]
async fn a_webhook_is_not_sent_what_is_not_known() {
    let mut request = configmap("");
    request.lacks_details = true;
    for plugin in [MUTATING, VALIDATING] {
        let builder = webhooks(Admission::builder(), plugin, &[("w", "Never")]);
        let (outcome, called, _) = admit(builder, &request).await;
        assert!(called.is_empty(), "{called:?}");
        let missing: Vec<&str> = outcome.undecided.iter().map(|one| one.missing.kind()).collect();
        assert_eq!(missing, ["requestDetail"], "{plugin}");
    }
}

#[tokio::test]
async fn what_webhooks_make_is_held_until_the_request_is_answered() {
    let configured = |plugin, mark| {
        let text = webhook(plugin, "w.static.k8s.io", mark, "  failurePolicy: Ignore\n");
        let builder = Admission::builder().files([file("w.yaml", &text)], plugin);
        builder.caller(Lavish).build().unwrap()
    };
    for (plugin, mark, code) in [(MUTATING, "grow", 200), (VALIDATING, "deny", 400)] {
        let (admission, objects) = (configured(plugin, mark), Objects::new());
        let held = Arc::new(Held::default());
        let admit = async |bytes| {
            let limits = Limits::default().with_memory(MemoryLimit::new(bytes).with_budget(held.clone()));
            let context = AdmissionContext::new(&objects).with_limits(limits);
            let outcome = admission.admit(&configmap(""), context, &mut ()).await.unwrap();
            let code = outcome.status.as_ref().map_or(200, |status| status.code);
            (code, outcome)
        };
        let (found, outcome) = admit(64 << 20).await;
        assert_eq!(found, code, "{mark}");
        assert!(held.0.load(Ordering::Relaxed) >= 1 << 20, "{mark}");
        drop(outcome);
        assert_eq!(held.0.load(Ordering::Relaxed), 0, "{mark}");
        assert_eq!(admit(1 << 20).await.0, 413, "{mark}");
        assert_eq!(held.0.load(Ordering::Relaxed), 0, "{mark}");
    }
}
