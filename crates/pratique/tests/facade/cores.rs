//! Requests that meet very many policies, which several threads judge.

use std::fmt::Write;
use std::thread;

use pratique::manifest::Plugin;
use pratique::{Admission, Objects};

use crate::world::{NoDecider, configmap, file, run};

const POLICIES: usize = 400;

/// Policies with three expressions each, of which no two are equal. Those at `denying` deny; the last one has variables each
/// of which needs the one before.
fn policies(denying: &[usize]) -> String {
    let mut text = String::new();
    for at in 0..POLICIES {
        let name = format!("p{at:03}.static.k8s.io");
        let mut tests = [0, 1, 2].map(|test| format!("object.metadata.name != 'p{at}-{test}'"));
        let mut variables = "[]".to_owned();
        if denying.contains(&at) {
            tests[1] = format!("object.metadata.name == 'p{at}'");
        }
        if at + 1 == POLICIES {
            tests[2] = format!("variables.v{} == 1", DEEP - 1);
            variables = deep();
        }
        let validations: String = tests
            .iter()
            .map(|test| format!("{{expression: \"{test}\"}}, "))
            .collect();
        let _ = write!(
            text,
            "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\n\
             spec:\n  matchConstraints:\n    resourceRules: \
             [{{apiGroups: [\"\"], apiVersions: [v1], resources: [configmaps], operations: [\"*\"]}}]\n  \
             variables: {variables}\n  validations: [{validations}]\n\
             ---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
             metadata: {{name: {name}}}\nspec: {{policyName: {name}, validationActions: [Deny]}}\n"
        );
    }
    text
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
    let first = denying.first().map(|at| format!("'p{at:03}.static.k8s.io'"));
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
    let judging = roomy.spawn(|| [&[][..], &[3, 398], &[398]].into_iter().for_each(check));
    judging.unwrap().join().unwrap();
}
