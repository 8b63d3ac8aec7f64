//! Requests that meet very many policies, which several threads judge.

use std::thread;

use pratique::manifest::Plugin;
use pratique::{Admission, Objects};

use crate::world::{NoDecider, configmap, file, run, validating_policy};

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
    let builder = Admission::builder().files(&[file], Plugin::ValidatingAdmissionPolicy);
    let admission = builder.unwrap().build().unwrap();
    let cluster = Objects::new();
    let outcome = run(admission.judge_with(&configmap(""), &cluster, &NoDecider, &mut ())).unwrap();
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
    // Where there is one core, all is judged here.
    let roomy = thread::Builder::new().stack_size(64 << 20);
    let judging = roomy.spawn(|| [&[][..], &[3, 1198], &[1198]].into_iter().for_each(check));
    judging.unwrap().join().unwrap();
}
