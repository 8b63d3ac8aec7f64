//! The cases that an API server's own code answered; `tools/go/rbac` makes them.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::fs;
use std::path::Path;

use pratique_cel::library::authz::{Answer, Authorizer, Check, ResourceCheck, Target, User};
use pratique_rbac::{Completeness, Rbac, RbacAuthorizer};
use serde::Deserialize;

#[derive(Deserialize)]
struct World {
    objects: Vec<serde_json::Value>,
    checks: Vec<Question>,
}

#[derive(Debug, Deserialize)]
struct Question {
    user: String,
    groups: Vec<String>,
    verb: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    group: String,
    #[serde(default)]
    resource: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
    allowed: bool,
    reason: String,
}

impl Question {
    fn user(&self) -> User {
        User {
            name: self.user.clone(),
            groups: self.groups.clone(),
            ..User::default()
        }
    }

    fn resource(&self) -> ResourceCheck {
        ResourceCheck {
            group: self.group.clone(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            ..ResourceCheck::default()
        }
    }
}

fn worlds() -> Vec<World> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rbac/cases.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn decisions_are_those_of_an_api_server() {
    let (mut allowed, mut failed, mut aggregated) = (0, 0, 0);
    for (number, world) in worlds().iter().enumerate() {
        let texts: Vec<String> = world.objects.iter().map(ToString::to_string).collect();
        let objects: Vec<_> = texts
            .iter()
            .map(|text| pratique_json::parse(text.as_bytes()).unwrap())
            .collect();
        aggregated += usize::from(texts.iter().any(|text| text.contains("aggregationRule")));
        let rbac: Rbac = objects.iter().collect();
        let complete = RbacAuthorizer::new(rbac.clone(), Completeness::Complete);
        let partial = RbacAuthorizer::new(rbac, Completeness::Partial);
        for question in &world.checks {
            let (user, resource) = (question.user(), question.resource());
            let check = Check {
                user: &user,
                verb: &question.verb,
                target: match question.path.as_str() {
                    "" => Target::Resource(&resource),
                    path => Target::Path(path),
                },
            };
            let Answer::Decided(found) = complete.authorize(&check) else {
                panic!("{question:?}");
            };
            let expected = (question.allowed, question.reason.as_str());
            assert_eq!(
                (found.allowed, found.reason.as_str()),
                expected,
                "world {number}: {question:?}"
            );
            if question.allowed {
                assert_eq!(partial.authorize(&check), Answer::Decided(found))
            } else {
                assert_eq!(partial.authorize(&check), Answer::Unknown)
            }
            allowed += usize::from(question.allowed);
            failed += usize::from(!question.allowed && !question.reason.is_empty());
        }
    }
    assert!(
        allowed > 50 && failed > 100 && aggregated > 10,
        "{allowed} {failed} {aggregated}"
    );
}

#[test]
fn nodes_have_an_authorizer_of_their_own() {
    let authorizer = RbacAuthorizer::new(Rbac::default(), Completeness::Complete);
    let node = User {
        name: "system:node:one".to_owned(),
        groups: vec!["system:nodes".to_owned()],
        ..User::default()
    };
    let resource = ResourceCheck::default();
    let check = |user| Check {
        user,
        verb: "get",
        target: Target::Resource(&resource),
    };
    assert_eq!(authorizer.authorize(&check(&node)), Answer::Unknown);
    assert!(matches!(
        authorizer.authorize(&check(&User::default())),
        Answer::Decided(_)
    ));
}

#[test]
fn aggregation_is_bounded() {
    // Every role aggregates every other.
    let role = |index: usize| {
        let text = format!(
            r#"{{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{{"name":"r{index}"}},
                "aggregationRule":{{"clusterRoleSelectors":[{{}}]}}}}"#
        );
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    };
    let objects: Vec<_> = (0..10_000).map(role).collect();
    let rbac: Rbac = objects.iter().collect();
    let (user, resource) = (User::default(), ResourceCheck::default());
    let check = Check {
        user: &user,
        verb: "get",
        target: Target::Resource(&resource),
    };
    let authorizer = RbacAuthorizer::new(rbac, Completeness::Complete);
    assert_eq!(authorizer.authorize(&check), Answer::Unknown);
}
