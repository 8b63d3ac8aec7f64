//! Authorization checks are collected, asked together, each once.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use pratique::authorization::{
    AuthorizerDecision, CheckDecider, NoAuthorizer, NoOpinion, PendingDecisions, Question,
};
use pratique::manifest::{ManifestFile, ManifestPlugin};
use pratique::policy::{MissingDependency, OnUndecided};
use pratique::types::AdmissionRequest;
use pratique::{Admission, AdmissionContext, AdmissionDecision, Objects, Outcome};

/// Allows what begins with `a`, and remembers what it was asked, question by question.
#[derive(Default)]
struct Office(Mutex<Vec<Vec<String>>>);

impl CheckDecider for Office {
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_> {
        let decisions = questions.iter().map(|question| AuthorizerDecision {
            allowed: question.verb.starts_with('a'),
            ..AuthorizerDecision::default()
        });
        let decisions = decisions.collect();
        let verbs = questions.into_iter().map(|question| question.verb);
        self.0.lock().unwrap().push(verbs.collect());
        Box::pin(async { decisions })
    }
}

/// Runs a future that never waits.
fn run<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing waits"),
    }
}

/// Decides on the creation of a ConfigMap by validating policies with these expressions; gives what was asked.
fn evaluate(mutations: &[&str], policies: &[&str]) -> (Outcome, Vec<Vec<String>>) {
    let office = Office::default();
    let outcome = decide_by(&office, mutations, policies, OnUndecided::Report);
    (outcome, office.0.into_inner().unwrap())
}

fn decide_by(
    decider: &dyn CheckDecider,
    mutations: &[&str],
    policies: &[&str],
    on_undecided: OnUndecided,
) -> Outcome {
    let rules = "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: ['*']}]}";
    let head = "apiVersion: admissionregistration.k8s.io/v1\nkind:";
    let mut validating = String::new();
    for (index, expression) in policies.iter().enumerate() {
        let name = format!("p{index}.static.k8s.io");
        validating += &format!(
            "---\n{head} ValidatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec: {{{rules}, validations: [{{expression: \"{expression}\"}}]}}\n\
             ---\n{head} ValidatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec: {{policyName: {name}, validationActions: [Deny]}}\n"
        );
    }
    let mut mutating = String::new();
    for (index, expression) in mutations.iter().enumerate() {
        let name = format!("m{index}.static.k8s.io");
        mutating += &format!(
            "---\n{head} MutatingAdmissionPolicy\nmetadata: {{name: {name}}}\nspec: {{{rules}, reinvocationPolicy: Never, mutations: [{{patchType: JSONPatch, jsonPatch: {{expression: \"{expression}\"}}}}]}}\n\
             ---\n{head} MutatingAdmissionPolicyBinding\nmetadata: {{name: {name}}}\nspec: {{policyName: {name}}}\n"
        );
    }
    let file = |text: String| ManifestFile {
        path: "policies.yaml".into(),
        content: text.into_bytes(),
    };
    let mut builder = Admission::builder().on_undecided(on_undecided);
    if !mutating.is_empty() {
        builder = builder.files([file(mutating)], ManifestPlugin::MutatingAdmissionPolicy);
    }
    if !validating.is_empty() {
        builder = builder.files([file(validating)], ManifestPlugin::ValidatingAdmissionPolicy);
    }
    let admission = builder.build().unwrap();
    let request: AdmissionRequest<'_> = serde_json::from_str(
        r#"{"uid":"u","kind":{"version":"v1","kind":"ConfigMap"},"resource":{"version":"v1","resource":"configmaps"},
            "name":"c","operation":"CREATE","userInfo":{"username":"ann"},"object":{"metadata":{"name":"c"}}}"#,
    )
    .unwrap();
    run(admission.admit(
        &request,
        AdmissionContext::new(&Objects::new()).with_decider(decider),
        &mut (),
    ))
    .unwrap()
}

const FORBIDS: &str = "!authorizer.requestResource.check('use').allowed()";

#[test]
fn without_anything_to_ask_it_is_undecided() {
    let outcome = decide_by(&NoAuthorizer, &[], &[FORBIDS, "true"], OnUndecided::Report);
    assert_eq!(outcome.decision(), AdmissionDecision::Undecided);
    assert!(!outcome.allowed());
    let [undecided] = outcome.undecided.as_slice() else {
        panic!("{outcome:?}")
    };
    assert_eq!(undecided.name, "p0.static.k8s.io");
    let MissingDependency::Authorizer { check } = &undecided.missing else {
        panic!("{undecided:?}")
    };
    assert_eq!((check.verb.as_str(), check.user.name.as_str()), ("use", "ann"));
    // What answers yes or no says no, and why.
    let response = outcome.into_response(&AdmissionRequest::default());
    assert!(!response.allowed);
    let status = response.result.unwrap();
    assert_eq!((status.code, status.reason.as_str()), (500, "InternalError"));
    assert!(
        status
            .message
            .contains("it is not known whether user \"ann\" may use configmaps \"c\"")
    );
}

#[test]
fn no_opinion_denies_if_chosen() {
    let outcome = decide_by(&NoOpinion, &[], &[FORBIDS], OnUndecided::Report);
    assert_eq!(outcome.decision(), AdmissionDecision::Allowed);
}

#[test]
fn a_denial_beside_stays_one() {
    let outcome = decide_by(&NoAuthorizer, &[], &[FORBIDS, "false"], OnUndecided::Report);
    assert_eq!(outcome.decision(), AdmissionDecision::Denied);
    assert_eq!(outcome.undecided.len(), 1);
}

#[test]
fn undecided_mutations_end_the_chain() {
    let label = format!("[JSONPatch{{op: 'add', path: '/data', value: {{'may': string({FORBIDS})}}}}]");
    let outcome = decide_by(&NoAuthorizer, &[&label], &["false"], OnUndecided::Report);
    assert_eq!(outcome.decision(), AdmissionDecision::Undecided);
    assert_eq!(outcome.object, None);
}

#[test]
fn a_server_goes_by_the_failure_policy() {
    let outcome = decide_by(&NoAuthorizer, &[], &[FORBIDS], OnUndecided::FailurePolicy);
    assert_eq!(outcome.decision(), AdmissionDecision::Denied);
    assert!(outcome.undecided.is_empty());
    let message = outcome.status.unwrap().message;
    assert!(
        message.contains("denied request: undecided: it is not known whether"),
        "{message}"
    );
}

#[test]
fn checks_of_all_policies_are_asked_together() {
    let check = |verb: &str| format!("authorizer.requestResource.check('{verb}').allowed()");
    let (first, second) = (check("add"), check("ask"));
    let (outcome, asked) = evaluate(&[], &[&first, &second, &first]);
    assert!(outcome.allowed());
    assert_eq!(asked, [["add", "ask"]]);
}

#[test]
fn what_depends_on_an_answer_is_asked_after_it() {
    let both = "authorizer.requestResource.check('add').allowed() && authorizer.requestResource.check('burn').allowed()";
    let (outcome, asked) = evaluate(&[], &[both]);
    assert_eq!(outcome.status.map(|status| status.code), Some(422));
    assert_eq!(asked, [["add"], ["burn"]]);
}

#[test]
fn mutations_come_before_validations() {
    let label = "[JSONPatch{op: 'add', path: '/data', value: {'may': string(authorizer.requestResource.check('add').allowed())}}]";
    let check = "authorizer.requestResource.check('add').allowed() && object.data.may == 'true'";
    let (outcome, asked) = evaluate(&[label], &[check]);
    assert!(outcome.allowed(), "{outcome:?}");
    assert_eq!(asked, [["add"]]);
    assert_eq!(outcome.mutations.len(), 1);
}

#[test]
fn nothing_is_asked_for_nothing() {
    let (outcome, asked) = evaluate(&[], &["true"]);
    assert!(outcome.allowed() && asked.is_empty());
}
