//! A server's day with static manifests: loaded at the start, changed, put beside the API's, and removed.

use std::path::Path;

use pratique::FeatureGates;
use pratique::expressions::Expressions;
use pratique::live::InMemory;
use pratique::manifest::{LoadOptions, Loader, ManifestPlugin};
use pratique::observer::AdmissionPhases;
use pratique::types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};
use pratique::{Admission, Configurations, Limits, Live, Outcome, UnavailableReason};
use pratique_exclusion::VIRTUAL_RESOURCES;
use pratique_metrics::Metrics;

use crate::directories::{put, wait};
use crate::webhooks::{MUTATING, Markers, VALIDATING, webhook};
use crate::world::{configmap, file, mutating_policy, trail, validating_policy};

const POLICIES: ManifestPlugin = ManifestPlugin::ValidatingAdmissionPolicy;

pub(crate) fn api(text: &str) -> Configurations {
    let expressions = Expressions::new(std::sync::Arc::default());
    let options = LoadOptions::new(&expressions);
    Loader::for_api(&options)
        .load_files(&[file("api.yaml", text)])
        .unwrap()
        .into()
}

fn code(outcome: &Outcome) -> i32 {
    outcome.status.as_ref().map_or(200, |status| status.code)
}

/// The outcome of a request that need not be whole, by webhooks too.
fn as_given(live: &Live, request: &AdmissionRequest<'_>) -> Result<Outcome, UnavailableReason> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let outcome = live.admit_as_given(request, AdmissionPhases::Both, Limits::default());
    runtime.unwrap().block_on(outcome)
}

/// The creation of an object that configures admission.
fn registration(kind: &str, name: &str, operation: Operation) -> AdmissionRequest<'static> {
    let group = "admissionregistration.k8s.io";
    let resource = match kind {
        "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
        "MutatingAdmissionPolicy" => "mutatingadmissionpolicies".to_owned(),
        other => format!("{}s", other.to_lowercase()),
    };
    let object = format!(r#"{{"apiVersion":"{group}/v1","kind":"{kind}","metadata":{{"name":"{name}"}}}}"#);
    AdmissionRequest {
        kind: GroupVersionKind::new(group, "v1", kind),
        resource: GroupVersionResource::new(group, "v1", &resource),
        name: name.to_owned(),
        operation,
        object: pratique::json::parse(object.as_bytes()).unwrap().into_owned(),
        ..configmap("")
    }
}

/// How many reloads of a plugin succeeded.
fn reloads(metrics: &Metrics, plugin: ManifestPlugin) -> u32 {
    let wanted = format!("plugin=\"{}\",status=\"success\"}} ", plugin.name());
    let text = metrics.to_text();
    let mut lines = text
        .lines()
        .filter(|line| line.contains("automatic_reloads_total{"));
    let line = lines.find_map(|line| line.split_once(&wanted));
    line.map_or(0, |(_, count)| count.parse().unwrap())
}

struct Day {
    live: Live,
    metrics: Metrics,
    source: InMemory,
    directories: [tempfile::TempDir; 2],
}

impl Day {
    fn start(plugins: [ManifestPlugin; 2], first: (&str, &str), markers: Markers) -> Self {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        put(directories[1].path(), first.0, first.1);
        let (metrics, source) = (Metrics::new("server"), InMemory::new(Configurations::default()));
        let path = |at: usize| directories[at].path().to_str().unwrap();
        let live = Admission::builder()
            .registry_checks(true)
            .caller(markers)
            .directory(path(0), plugins[0])
            .directory(path(1), plugins[1])
            .live()
            .source(source.clone())
            .observer(metrics.clone())
            .start()
            .unwrap();
        Day {
            live,
            metrics,
            source,
            directories,
        }
    }

    fn mutating(&self) -> &Path {
        self.directories[0].path()
    }

    fn validating(&self) -> &Path {
        self.directories[1].path()
    }

    fn admit(&self, request: &AdmissionRequest<'_>) -> Outcome {
        as_given(&self.live, request).unwrap()
    }
}

#[test]
fn a_day_with_policies() {
    let plugins = [ManifestPlugin::MutatingAdmissionPolicy, POLICIES];
    let denying = validating_policy("deny.static.k8s.io", "!object.data.trail.startsWith('bad')");
    let day = Day::start(plugins, ("deny.yaml", &denying), Markers::default());
    // There from the first request on.
    assert_eq!(code(&day.admit(&configmap("bad"))), 422);
    assert_eq!(
        (
            reloads(&day.metrics, plugins[0]),
            reloads(&day.metrics, plugins[1])
        ),
        (1, 1)
    );
    // Another plugin's, while running; both act.
    put(
        day.mutating(),
        "m.yaml",
        &mutating_policy("m.static.k8s.io", "m", "Never"),
    );
    wait("mutating", || day.admit(&configmap("")).object.is_some());
    wait("count", || reloads(&day.metrics, plugins[0]) == 2);
    assert_eq!(trail(&day.admit(&configmap("x"))), "xm");
    assert_eq!(code(&day.admit(&configmap("bad"))), 422);
    // Another file, as a list, of which one policy is about configuration of admission.
    let items: Vec<String> = validating_policy("protect.static.k8s.io", "false")
        .replace("apiGroups: ['']", "apiGroups: ['*']")
        .replace(
            "resources: [configmaps]",
            "resources: ['validatingadmissionpolicies', 'subjectaccessreviews']",
        )
        .split("---\n")
        .filter(|item| !item.is_empty())
        .map(|item| format!("- {}", item.trim_end().replace('\n', "\n  ")))
        .collect();
    let list = format!("apiVersion: v1\nkind: List\nitems:\n{}\n", items.join("\n"));
    put(day.validating(), "protect.yaml", &list);
    let policy = registration("ValidatingAdmissionPolicy", "mine", Operation::Create);
    wait("protection", || code(&day.admit(&policy)) == 422);
    // What decides about access is never held up.
    let review = AdmissionRequest {
        kind: GroupVersionKind::new("authorization.k8s.io", "v1", "SubjectAccessReview"),
        resource: GroupVersionResource::new("authorization.k8s.io", "v1", "subjectaccessreviews"),
        ..configmap("")
    };
    assert_eq!(code(&day.admit(&review)), 200);
    // The API's beside it, which do not see configuration of admission.
    let mut configurations = api(&validating_policy("p", "!object.data.trail.startsWith('worse')"));
    day.source.replace(configurations.clone());
    day.live.settle();
    assert_eq!(code(&day.admit(&configmap("worse"))), 422);
    assert_eq!(code(&day.admit(&configmap("bad"))), 422);
    // A binding of the API does not bind a static policy.
    configurations.validating_policies.clear();
    day.source.replace(configurations);
    day.live.settle();
    assert_eq!(code(&day.admit(&configmap("worse"))), 200);
    // Removed: it is evaluated no longer, and all others are.
    std::fs::remove_file(day.validating().join("deny.yaml")).unwrap();
    wait("removal", || code(&day.admit(&configmap("bad"))) == 200);
    assert_eq!(code(&day.admit(&policy)), 422);
    assert_eq!(trail(&day.admit(&configmap("bad"))), "badm");
    wait("count", || reloads(&day.metrics, plugins[1]) == 3);
}

#[test]
fn a_day_with_webhooks() {
    let markers = Markers::default();
    let validating = webhook(VALIDATING, "v.static.k8s.io", "null", "");
    let day = Day::start([MUTATING, VALIDATING], ("v.yaml", &validating), markers.clone());
    let called = || std::mem::take(&mut *markers.0.lock().unwrap());
    assert_eq!(day.admit(&configmap("")).warnings, ["seen"]);
    assert_eq!(called(), ["null"]);
    put(
        day.mutating(),
        "m.yaml",
        &webhook(MUTATING, "m.static.k8s.io", "m", ""),
    );
    wait("mutating", || day.admit(&configmap("")).object.is_some());
    called();
    assert_eq!(trail(&day.admit(&configmap("x"))), "xm");
    assert_eq!(called(), ["m", "null"]);
    wait("count", || reloads(&day.metrics, MUTATING) == 2);
    // Static ones see configuration of admission; those of the API do not.
    let request = registration("ValidatingWebhookConfiguration", "mine", Operation::Delete);
    assert_eq!(day.admit(&request).warnings, ["seen"]);
    called();
    put(
        day.validating(),
        "v.yaml",
        &webhook(VALIDATING, "v.static.k8s.io", "deny", ""),
    );
    wait("denial", || {
        code(&day.admit(&request)) == 400 || code(&day.admit(&request)) == 403
    });
    std::fs::remove_file(day.validating().join("v.yaml")).unwrap();
    wait("removal", || code(&day.admit(&request)) == 200);
    day.source.replace(api(&webhook(VALIDATING, "own", "deny", "")));
    day.live.settle();
    called();
    assert_eq!(code(&day.admit(&request)), 200);
    assert!(day.admit(&configmap("")).status.is_some());
    // The mutating one goes its own way.
    assert_eq!(called().first().map(String::as_str), Some("m"));
    wait("count", || reloads(&day.metrics, VALIDATING) == 3);
}

#[test]
fn the_api_takes_no_reserved_names() {
    let admitted = |gate: bool, kind: &str, name: &str, operation: Operation| {
        let builder = Admission::builder()
            .registry_checks(true)
            .feature_gates(FeatureGates::default().with("ManifestBasedAdmissionControlConfig", gate));
        let live = builder.live().start().unwrap();
        as_given(&live, &registration(kind, name, operation)).unwrap()
    };
    for kind in [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ] {
        let refused = admitted(true, kind, "x.static.k8s.io", Operation::Create);
        let status = refused.status.unwrap();
        assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"), "{kind}");
        assert!(
            status
                .message
                .contains("are reserved for static manifest-based configurations")
        );
        assert_eq!(code(&admitted(true, kind, "x", Operation::Create)), 200);
        for (gate, operation, warnings) in [
            (true, Operation::Update, 1),
            (false, Operation::Create, 1),
            (false, Operation::Update, 1),
            (true, Operation::Delete, 0),
        ] {
            let outcome = admitted(gate, kind, "x.static.k8s.io", operation);
            assert!(outcome.allowed(), "{kind} {operation}");
            assert_eq!(outcome.warnings.len(), warnings, "{kind} {operation}");
        }
    }
}

/// Of everything: a policy and a webhook that deny, webhooks without the virtual resources or with them.
fn deny_everything(excludes_virtual_resources: bool) -> (Live, Markers) {
    let everything = |text: String| {
        text.replace("apiGroups: ['']", "apiGroups: ['*']")
            .replace(
                "apiGroups: ['', admissionregistration.k8s.io]",
                "apiGroups: ['*']",
            )
            .replace("apiVersions: [v1]", "apiVersions: ['*']")
            .replace("resources: [configmaps]", "resources: ['*']")
            .replace(
                "resources: [configmaps, validatingwebhookconfigurations]",
                "resources: ['*']",
            )
    };
    let denying = everything(validating_policy("p.static.k8s.io", "false"));
    let hook = everything(webhook(VALIDATING, "w.static.k8s.io", "deny", ""));
    let markers = Markers::default();
    let admission = Admission::builder()
        .feature_gates(FeatureGates::default().with(
            "ExcludeAdmissionWebhookVirtualResources",
            excludes_virtual_resources,
        ))
        .files([file("p.yaml", &denying)], POLICIES)
        .files([file("w.yaml", &hook)], VALIDATING)
        .caller(markers.clone());
    (admission.live().start().unwrap(), markers)
}

fn virtual_request((group, resource): (&str, &str)) -> AdmissionRequest<'static> {
    let object = format!(r#"{{"apiVersion":"{group}/v1","kind":"Review"}}"#);
    AdmissionRequest {
        object: pratique_json::parse(object.as_bytes()).unwrap().into_owned(),
        kind: GroupVersionKind::new(group, "v1", "Review"),
        resource: GroupVersionResource::new(group, "v1", resource),
        ..configmap("")
    }
}

#[test]
fn virtual_resources_pass() {
    let (live, markers) = deny_everything(true);
    assert!(as_given(&live, &configmap("")).unwrap().status.is_some());
    for resource in VIRTUAL_RESOURCES {
        let outcome = as_given(&live, &virtual_request(resource)).unwrap();
        assert!(outcome.allowed(), "{resource:?}");
    }
    assert!(markers.0.lock().unwrap().is_empty());
}

#[test]
fn webhooks_see_virtual_resources_without_the_gate() {
    let (live, markers) = deny_everything(false);
    for resource in VIRTUAL_RESOURCES {
        let status = as_given(&live, &virtual_request(resource))
            .unwrap()
            .status
            .unwrap();
        assert!(status.message.contains("admission webhook"), "{}", status.message);
    }
    // Policies never see them.
    assert_eq!(markers.0.lock().unwrap().len(), VIRTUAL_RESOURCES.len());
}

#[test]
fn rules_that_have_no_effect_are_warned_of() {
    let warnings = |excludes_virtual_resources, operation| {
        let builder = Admission::builder()
            .registry_checks(true)
            .feature_gates(FeatureGates::default().with(
                "ExcludeAdmissionWebhookVirtualResources",
                excludes_virtual_resources,
            ));
        let live = builder.live().start().unwrap();
        let mut request = registration("ValidatingWebhookConfiguration", "x", operation);
        let rules = r#"{"metadata":{"name":"x"},"webhooks":[{"rules":[
            {"apiGroups":["authentication.k8s.io"],"apiVersions":["*"],"resources":["tokenreviews"]}]}]}"#;
        request.object = pratique_json::parse(rules.as_bytes()).unwrap().into_owned();
        let outcome = as_given(&live, &request).unwrap();
        assert!(outcome.allowed());
        outcome.warnings
    };
    let warning = "webhooks[0].rules[0]: tokenreviews.authentication.k8s.io is excluded from admission webhooks; \
                   this rule will have no effect";
    assert_eq!(warnings(true, Operation::Create), [warning]);
    assert_eq!(warnings(true, Operation::Update), [warning]);
    assert!(warnings(true, Operation::Delete).is_empty());
    assert!(warnings(false, Operation::Create).is_empty());
}
