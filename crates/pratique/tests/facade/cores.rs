//! Work on several threads: starting, and requests that match very many policies.

use std::thread;
use std::time::Duration;

use pratique::manifest::ManifestPlugin;
use pratique::observer::AdmissionPhases;
use pratique::{Admission, AdmissionContext, Objects};
use pratique_testkit::CountingExecutor;

use crate::directories::{put, wait};
use crate::world::{NoDecider, configmap, configmap_in_shop, file, run, validating_policy};

/// Enough for several threads.
const POLICIES: usize = 1200;

/// Policies of which no two have the same expression. Those at `denying` deny; the last one has variables each of which needs
/// the one before.
fn policies(denying: &[usize]) -> String {
    let equality = |at| if denying.contains(&at) { "==" } else { "!=" };
    let text = |at| {
        let expression = format!("object.metadata.name {} 'p{at}'", equality(at));
        validating_policy(&name(at), &expression)
    };
    let last = validating_policy(&name(POLICIES), &format!("variables.v{} == 1", DEEP - 1));
    let last = last.replace(
        "  validations:",
        &format!("  variables: {}\n  validations:", deep()),
    );
    (0..POLICIES).map(text).chain([last]).collect()
}

fn name(at: usize) -> String {
    format!("p{at:04}.static.k8s.io")
}

const DEEP: usize = 99;

fn deep() -> String {
    let (open, close) = ("[".repeat(NESTED), "]".repeat(NESTED) + &"[0]".repeat(NESTED));
    let of = |at: usize| match at.checked_sub(1) {
        None => "1".to_owned(),
        Some(before) => format!("{open}variables.v{before}{close}"),
    };
    let all = (0..DEEP).map(|at| format!("{{name: v{at}, expression: \"{}\"}}, ", of(at)));
    format!("[{}]", all.collect::<String>())
}

const NESTED: usize = 30;

fn check(denying: &[usize]) {
    let file = file("policies.yaml", &policies(denying));
    let builder = Admission::builder().files([file], ManifestPlugin::ValidatingAdmissionPolicy);
    let admission = builder.build().unwrap();
    let cluster = Objects::new();
    let outcome = run(admission.admit(
        &configmap(""),
        AdmissionContext::new(&cluster).with_decider(&NoDecider),
        &mut (),
    ))
    .unwrap();
    let message = outcome.status.map(|status| status.message);
    let first = denying.first().map(|at| format!("'{}'", name(*at)));
    match (&message, &first) {
        (None, None) => {}
        (Some(message), Some(first)) => assert!(message.contains(first), "{message}"),
        _ => panic!("{message:?}, {first:?}"),
    }
}

#[test]
fn all_parts_are_heard() {
    // With one core, everything is evaluated here.
    let roomy = thread::Builder::new().stack_size(64 << 20);
    let evaluating = roomy.spawn(|| [&[][..], &[3, 1198], &[1198]].into_iter().for_each(check));
    evaluating.unwrap().join().unwrap();
}

#[test]
fn the_start_is_shared_and_reloads_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let text = |at: usize| validating_policy(&name(at), &format!("object.metadata.name != 'p{at}'"));
    put(
        directory.path(),
        "many.yaml",
        &(1..100).map(text).collect::<String>(),
    );
    put(directory.path(), "one.yaml", &text(0));
    let (path, crowd) = (
        directory.path().to_str().unwrap(),
        CountingExecutor::new(Duration::from_micros(500)),
    );
    let builder = Admission::builder().workers(crowd.clone());
    let builder = builder
        .directory(path, ManifestPlugin::ValidatingAdmissionPolicy)
        .load()
        .unwrap();
    let loaded = crowd.asked();
    assert!(loaded > 0);
    let live = builder.live().start().unwrap();
    // The directory was loaded again, to be watched, and the policies were compiled.
    let started = crowd.asked();
    assert!(started >= loaded + 2, "{started}");
    let allowed = || {
        run(live.review(&configmap_in_shop(""), AdmissionPhases::Both))
            .unwrap()
            .allowed
    };
    assert!(allowed());
    let denying: String = (1..101).map(|at| text(at).replace("!=", "==")).collect();
    put(directory.path(), "many.yaml", &denying);
    wait("a change", || !allowed());
    // Requests need the cores now.
    assert_eq!(crowd.asked(), started);
    live.stop();
}
