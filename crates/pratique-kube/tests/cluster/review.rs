//! Authorization checks go to the API server, and its answers are remembered.

use std::time::Duration;

use pratique::authorization::{CheckDecider, Question, QuestionSubject, ResourceCheck, User};

use crate::follow::{binding, code, policy, start};
use crate::server::{BINDINGS, FakeServer, NAMESPACES, POLICIES};

pub(crate) fn question(verb: &str) -> Question {
    let resource = ResourceCheck {
        resource: "pods".to_owned(),
        field_selector: "spec.nodeName=n".to_owned(),
        ..ResourceCheck::default()
    };
    Question {
        user: User {
            name: "ann".to_owned(),
            groups: vec!["people".to_owned()],
            ..User::default()
        },
        verb: verb.to_owned(),
        subject: QuestionSubject::Resource(Box::new(resource)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_in_order_and_are_remembered() {
    let server = FakeServer::default();
    let reviewer = server.api().reviewer();
    let verbs = ["may", "not", "fail", "puzzle"];
    let questions: Vec<_> = verbs.into_iter().map(question).collect();
    let first = reviewer.decide(questions.clone()).await;
    assert!(first[0].allowed && first[0].reason == "because");
    assert!(!first[1].allowed && first[1].error.is_none());
    let forbidden = "subjectaccessreviews.authorization.k8s.io is forbidden";
    assert_eq!(first[2].error.as_deref(), Some(forbidden));
    assert_eq!(first[3].error.as_deref(), Some("role not found"));
    assert_eq!(reviewer.decide(questions.clone()).await, first);
    assert_eq!(server.reviews().len(), 6, "errors are asked again");
    let spec = &server.reviews()[0];
    assert_eq!(
        (&spec["user"], &spec["groups"][0]),
        (&"ann".into(), &"people".into())
    );
    let attributes = &spec["resourceAttributes"];
    assert_eq!(attributes["version"], "*");
    assert_eq!(attributes["fieldSelector"]["rawSelector"], "spec.nodeName=n");
    let forgetful = reviewer.remember(Duration::ZERO, Duration::ZERO);
    for _ in 0..2 {
        forgetful.decide(vec![question("may")]).await;
    }
    assert_eq!(server.reviews().len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_ask() {
    let server = FakeServer::default();
    server.put(NAMESPACES, serde_json::json!({"metadata": {"name": "shop"}}));
    server.put(
        POLICIES,
        policy("authorizer.group('').resource('pods').check('not').allowed()"),
    );
    server.put(BINDINGS, binding());
    let live = start(&server);
    live.ready().await.unwrap();
    assert_eq!(code(&live, "shop").await, 422);
    server.put(
        POLICIES,
        policy("authorizer.group('').resource('pods').check('may').allowed()"),
    );
    crate::follow::becomes(&live, "shop", 200).await;
    assert_eq!(server.reviews()[0]["user"], "ann");
}
