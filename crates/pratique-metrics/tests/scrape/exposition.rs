//! Counts everything once, and compares both formats.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use pratique_metrics::{
    Action, ConditionOwner, Metrics, Operation, PolicyError, StepType, WebhookError, WebhookType,
};

use super::strict::{self, MetricFamily};

fn busy() -> Metrics {
    let metrics = Metrics::new("server");
    let millis = Duration::from_millis;
    metrics.step(StepType::Admit, Operation::Create, false, millis(4));
    metrics.step(StepType::Validate, Operation::Create, true, millis(30));
    metrics.controller(
        "ValidatingAdmissionPolicy",
        StepType::Validate,
        Operation::Delete,
        true,
        millis(3),
    );
    metrics.webhook_call(
        "deny.example.com",
        WebhookType::Validating,
        Operation::Create,
        (true, 400),
        millis(3000),
    );
    metrics.webhook_rejection(
        "deny.example.com",
        WebhookType::Validating,
        Operation::Create,
        WebhookError::None,
        400,
    );
    metrics.webhook_failed_open("open.example.com", WebhookType::Mutating);
    metrics.match_conditions("p", ConditionOwner::Policy, Operation::Update, millis(1));
    metrics.match_conditions(
        "h",
        ConditionOwner::ValidatingWebhook,
        Operation::Update,
        millis(1),
    );
    metrics.match_condition_error("h", ConditionOwner::MutatingWebhook, Operation::Connect);
    metrics.match_condition_exclusion("h", WebhookType::Validating, Operation::Connect);
    metrics.validation(
        "all.static.k8s.io",
        "b",
        Action::Deny,
        PolicyError::Invalid,
        Duration::from_nanos(400),
    );
    metrics.validation(
        "q\"uo\\te\n",
        "b",
        Action::Warn,
        PolicyError::OutOfBudget,
        millis(2),
    );
    metrics.mutation("label.static.k8s.io", "b", PolicyError::None, millis(2));
    metrics.reload_succeeded(
        "ValidatingAdmissionPolicy",
        "sha256:78da",
        UNIX_EPOCH + millis(1_795_226_642_934),
    );
    metrics.reload_failed(
        "ValidatingAdmissionPolicy",
        UNIX_EPOCH + millis(1_795_226_643_000),
    );
    metrics.reload_succeeded("MutatingAdmissionWebhook", "", UNIX_EPOCH);
    metrics.compilation(millis(1));
    metrics.evaluations(1, millis(1));
    metrics.pod_security_evaluation(["deny", "enforce", "baseline", "latest", "create", "pod", ""]);
    metrics.pod_security_exemption(["create", "controller", ""]);
    metrics.pod_security_error(true, ["update", "namespace", ""]);
    metrics.audit_event();
    metrics.audit_errors("log", 3);
    metrics.audit_write_failures(4);
    metrics.reviews_refused(413, "RequestEntityTooLarge", 1);
    metrics.reviews_refused(504, "Timeout", 0);
    metrics.log_lines_dropped(2);
    metrics.background_tasks_ended("watch", 0);
    metrics.background_tasks_ended("audit", 1);
    metrics.directory_watched("ValidatingAdmissionPolicy", "/manifests", true);
    metrics.certificates_loaded();
    metrics.certificates_failed();
    metrics.certificate_expires("serving", UNIX_EPOCH + millis(1_800_000_000_000));
    metrics
}

type Samples = BTreeMap<(String, BTreeMap<String, String>), u64>;

fn samples(families: &[MetricFamily]) -> Samples {
    let mut all = Samples::new();
    for sample in families.iter().flat_map(|family| &family.samples) {
        let mut labels = sample.labels.clone();
        if let Some(bound) = labels.get_mut("le") {
            // The formats write numbers in labels differently.
            *bound = super::sample::number(bound).unwrap().to_string();
        }
        all.insert((sample.name.clone(), labels), sample.value.to_bits());
    }
    all
}

#[test]
fn both_formats_are_strict_and_agree() {
    let metrics = busy();
    let text = strict::text(&metrics.to_text()).unwrap();
    let open = strict::openmetrics(&metrics.openmetrics()).unwrap();
    assert_eq!(samples(&text), samples(&open));
    let helps = |families: &[MetricFamily]| {
        families
            .iter()
            .map(|family| family.help.clone())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(helps(&text), helps(&open));
    let levels = ["[ALPHA] ", "[BETA] ", "[STABLE] "];
    assert!(
        text.iter()
            .all(|family| levels.iter().any(|level| family.help.starts_with(level)))
    );
}

#[test]
fn empty_metrics_are_empty() {
    let metrics = Metrics::new("");
    assert_eq!((&*metrics.to_text(), &*metrics.openmetrics()), ("", "# EOF\n"));
    metrics.reload_succeeded("MutatingAdmissionPolicy", "sha256:1", UNIX_EPOCH);
    assert!(!metrics.to_text().contains("last_config_info"));
}

#[test]
fn the_text_is_that_of_an_api_server() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/exposition.txt");
    let found = busy().to_text();
    if std::env::var_os("PRATIQUE_BLESS").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")).unwrap();
        std::fs::write(path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(path).unwrap());
}
