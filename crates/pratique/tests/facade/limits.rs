//! What ends a request that takes too long, or too much memory.

use std::thread;
use std::time::{Duration, Instant};

use pratique::manifest::ManifestPlugin;
use pratique::policy::{Interrupt, MemoryBudget, MemoryLimit};
use pratique::types::AdmissionRequest;
use pratique::{Admission, AdmissionContext, Limits, Objects, Outcome, UnfinishedEvaluation};

use crate::world::{NoDecider, configmap, file, mutating_policy, run, validating_policy};

/// How long a request may compute in a test, its deadline included. Each takes at least ten times as long if it is let.
const SOON: Duration = Duration::from_secs(3);

/// It costs little: what it reads has no type.
const SLOW: &str = "object.metadata.finalizers.all(f, f in object.metadata.finalizers)";

/// A ConfigMap as large as an API server takes.
fn large() -> AdmissionRequest<'static> {
    let mut request = configmap("");
    let names: Vec<String> = (0..70_000)
        .map(|number| format!("\"example.com/{number}\""))
        .collect();
    let object = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"c","finalizers":[{}]}},"data":{{"trail":"{}"}}}}"#,
        names.join(","),
        "a".repeat(100_000)
    );
    request.object = pratique_json::parse(object.as_bytes()).unwrap().into_owned();
    request
}

fn admit(
    files: &[(ManifestPlugin, String)],
    limits: Limits,
) -> (Result<Outcome, UnfinishedEvaluation>, Duration) {
    let mut builder = Admission::builder();
    for (plugin, text) in files {
        builder = builder.files([file("policies.yaml", text)], *plugin);
    }
    let admission = builder.build().unwrap();
    let (request, objects) = (large(), Objects::new());
    let context = AdmissionContext::new(&objects)
        .with_decider(&NoDecider)
        .with_limits(limits);
    let began = computed();
    let outcome = run(admission.admit(&request, context, &mut ()));
    (outcome, computed().saturating_sub(began))
}

/// The time for which this thread computed, where the system tells; others may have had the processor meanwhile.
fn computed() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn validating(expression: &str) -> Vec<(ManifestPlugin, String)> {
    let text = validating_policy("v.static.k8s.io", expression);
    vec![(ManifestPlugin::ValidatingAdmissionPolicy, text)]
}

/// The code and message of a refusal.
fn refusal(outcome: Result<Outcome, UnfinishedEvaluation>) -> (i32, String) {
    let status = outcome.unwrap().status.unwrap();
    (status.code, status.message)
}

const TIMEOUT: &str = "Timeout: request did not complete within requested timeout";

#[test]
fn an_evaluation_ends_at_the_deadline() {
    let mutating = mutating_policy("m.static.k8s.io", "m", "Never");
    let mutating = mutating.replace("'m'", &format!("string({SLOW})"));
    let many: String = (0..200)
        .map(|number| {
            validating_policy(
                &format!("v{number}.static.k8s.io"),
                &format!("{SLOW} || {number} == 0"),
            )
        })
        .collect();
    for files in [
        validating(SLOW),
        vec![(ManifestPlugin::MutatingAdmissionPolicy, mutating)],
        vec![(ManifestPlugin::ValidatingAdmissionPolicy, many)],
    ] {
        let limits = Limits::from(Instant::now() + Duration::from_millis(500));
        let (outcome, took) = admit(&files, limits);
        assert_eq!(refusal(outcome), (504, TIMEOUT.to_owned()), "{took:?}");
        assert!(took < SOON, "{took:?}");
    }
}

#[test]
fn a_request_that_is_not_wanted_any_more_gets_no_answer() {
    let interrupt = Interrupt::new();
    let other = interrupt.clone();
    let setting = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        other.set();
    });
    let (outcome, took) = admit(&validating(SLOW), Limits::from(interrupt));
    setting.join().unwrap();
    assert_eq!(outcome.map(|_| ()), Err(UnfinishedEvaluation::Interrupted));
    assert!(took < SOON, "{took:?}");
}

/// Makes a text of a hundred kilobytes for each finalizer.
const LARGE: &str = "object.metadata.finalizers.map(f, object.data.trail + f).size() > 0";

/// Whatever failure policies say: a request that takes too much must not get in by that.
#[test]
fn memory_is_bounded() {
    let ignoring = |expression| {
        let files = validating(expression);
        files
            .into_iter()
            .map(|(plugin, text)| {
                (
                    plugin,
                    text.replace("spec:\n", "spec:\n  failurePolicy: Ignore\n"),
                )
            })
            .collect::<Vec<_>>()
    };
    let limits = |memory| Limits::default().with_memory(memory);
    for files in [validating(LARGE), ignoring(LARGE)] {
        let (outcome, _) = admit(&files, limits(MemoryLimit::new(16 << 20)));
        let message = "evaluating policies takes more memory than a request may have";
        assert_eq!(refusal(outcome), (413, message.to_owned()));
        let nothing = MemoryLimit::default().with_budget(std::sync::Arc::new(Nothing));
        let (outcome, _) = admit(&files, limits(nothing));
        assert_eq!(
            refusal(outcome),
            (429, "no memory is left for evaluating policies".to_owned())
        );
    }
    let (outcome, _) = admit(
        &validating("object.data.trail != ''"),
        limits(MemoryLimit::new(1 << 20)),
    );
    assert!(outcome.unwrap().allowed());
}

/// A budget of nothing.
#[derive(Debug)]
struct Nothing;

impl MemoryBudget for Nothing {
    fn take(&self, _: usize) -> bool {
        false
    }

    fn give_back(&self, _: usize) {}
}
