//! One after the other, in order, and again where something changed.

use pratique_json::{base64, parse};
use pratique_types::configuration::StaticOrder;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource};
use pratique_webhook::{MutatedRequest, Origin};
use serde_json::json;

use crate::scene::{
    Player, allows, hook, labels, mutated, mutated_in_order, mutated_twice, mutating, request,
    request_mutated_twice, typed_mutated_twice,
};

#[tokio::test]
async fn configurations_go_by_name_and_static_ones_first() {
    let player = ["a", "b", "c", "d"]
        .iter()
        .fold(Player::default(), |player, path| player.plays(path, allows()));
    let api = mutating(
        Origin::Api,
        &[
            ("y", vec![hook("c", json!({}))]),
            ("x", vec![hook("b", json!({})), hook("a", json!({}))]),
        ],
    );
    let fixed = mutating(Origin::Static, &[("z.static.k8s.io", vec![hook("d", json!({}))])]);
    let mutated = mutated(&[&fixed, &api], &player).await;
    assert_eq!(player.paths(), ["d", "b", "a", "c"]);
    let noted: Vec<&String> = mutated.audit_annotations.values().collect();
    assert_eq!(noted.len(), 4);
    assert_eq!(
        mutated.audit_annotations["mutation.webhook.admission.k8s.io/round_0_index_3"],
        r#"{"configuration":"y","webhook":"c.example.com","mutated":false}"#
    );
}

#[tokio::test]
async fn static_ones_go_where_the_server_wants_them() {
    let api = mutating(
        Origin::Api,
        &[
            ("y", vec![hook("c", json!({}))]),
            ("x", vec![hook("a", json!({})), hook("b", json!({}))]),
        ],
    );
    let fixed = mutating(
        Origin::Static,
        &[
            ("xx.static.k8s.io", vec![hook("d", json!({}))]),
            ("z.static.k8s.io", vec![hook("e", json!({}))]),
        ],
    );
    for (order, expected) in [
        (StaticOrder::StaticFirst, "deabc"),
        (StaticOrder::StaticLast, "abcde"),
        (StaticOrder::ByName, "abdce"),
    ] {
        let player = ["a", "b", "c", "d", "e"]
            .iter()
            .fold(Player::default(), |player, path| player.plays(path, allows()));
        let mutated = mutated_in_order(order, &[&fixed, &api], &player).await;
        assert_eq!(player.paths().concat(), expected);
        let position = expected.find('d').unwrap();
        let key = format!("mutation.webhook.admission.k8s.io/round_0_index_{position}");
        assert!(
            mutated.audit_annotations[&key].contains("xx.static.k8s.io"),
            "{order:?}"
        );
    }
}

#[tokio::test]
async fn each_sees_what_those_before_it_made() {
    let player = Player::default().plays("a", labels("a")).plays("b", labels("b"));
    let hooks = mutating(
        Origin::Api,
        &[("m", vec![hook("a", json!({})), hook("b", json!({}))])],
    );
    let mutated = mutated(&[&hooks], &player).await;
    let labels = |value: &pratique_json::Value<'_>| value.at(&["metadata", "labels"]).unwrap().to_string();
    assert_eq!(labels(&mutated.object.unwrap()), r#"{"a":"x","b":"x"}"#);
    let calls = player.calls.lock().unwrap();
    assert_eq!(
        calls[1].review["request"]["object"]["metadata"]["labels"],
        json!({"a": "x"})
    );
    assert_eq!(
        mutated.patch_annotations["patch.webhook.admission.k8s.io/round_0_index_1"],
        r#"{"configuration":"m","webhook":"b.example.com","patch":[{"op":"add","path":"/metadata/labels/b","value":"x"}],"patchType":"JSONPatch"}"#
    );
}

#[tokio::test]
async fn those_that_want_it_are_called_again_after_a_change() {
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    let hooks = mutating(
        Origin::Api,
        &[(
            "m",
            vec![
                hook("wants", again.clone()),
                hook("does-not", json!({})),
                hook("changes", json!({})),
                hook("after", again),
            ],
        )],
    );
    let player = ["wants", "does-not", "after"]
        .iter()
        .fold(Player::default(), |player, path| player.plays(path, allows()));
    let player = player.plays("changes", labels("a"));
    let turns = mutated_twice(&[&hooks], &player, None).await;
    assert_eq!(player.paths(), ["wants", "does-not", "changes", "after", "wants"]);
    assert_eq!(turns.len(), 2);
    assert!(
        turns[1]
            .audit_annotations
            .contains_key("mutation.webhook.admission.k8s.io/round_1_index_0")
    );
}

#[tokio::test]
async fn nobody_is_called_again_without_a_change() {
    let hooks = mutating(
        Origin::Api,
        &[("m", vec![hook("a", json!({"reinvocationPolicy": "IfNeeded"}))])],
    );
    let player = Player::default().plays("a", allows());
    assert_eq!(mutated_twice(&[&hooks], &player, None).await.len(), 1);
    assert_eq!(player.paths(), ["a"]);
}

#[tokio::test]
async fn a_patch_that_changes_nothing_in_the_end_is_no_change() {
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    let hooks = mutating(Origin::Api, &[("m", vec![hook("a", again)])]);
    // The API server gives the object its kind again, and its form: that is not what was submitted.
    let patch = base64::encode(br#"[{"op": "add", "path": "/apiVersion", "value": ""}]"#);
    let response = json!({"allowed": true, "patchType": "JSONPatch", "patch": patch});
    let player = Player::default().plays("a", response);
    let turns = typed_mutated_twice(&[&hooks], &player).await;
    assert_eq!(turns.len(), 2);
    assert_eq!((&turns[0].status, &turns[0].object), (&None, &None));
    assert_eq!(player.paths(), ["a"]);
}

#[tokio::test]
async fn a_number_of_a_custom_resource_is_written_before_it_is_patched() {
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    let rules = json!([{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]);
    let hook = |path: &str| {
        let mut hook = hook(path, again.clone());
        hook["rules"] = rules.clone();
        hook
    };
    let hooks = mutating(Origin::Api, &[("m", vec![hook("a"), hook("b")])]);
    let patch = |operation: &[u8]| json!({"allowed": true, "patchType": "JSONPatch", "patch": base64::encode(operation)});
    let player = Player::default()
        .plays("a", patch(br#"[{"op": "add", "path": "/spec", "value": 1e2}]"#))
        .plays("b", patch(br#"[{"op": "add", "path": "/b", "value": 1}]"#));
    let turns = request_mutated_twice(&widget(), &[&hooks], &player, None).await;
    // The second wrote 100, so that 1e2 is a change again.
    assert_eq!(player.paths(), ["a", "b", "a", "b"]);
    let annotation = &turns[1].audit_annotations["mutation.webhook.admission.k8s.io/round_1_index_0"];
    assert!(annotation.ends_with(r#""mutated":true}"#), "{annotation}");
}

#[tokio::test]
async fn an_empty_list_is_none() {
    let hooks = mutating(Origin::Api, &[("m", vec![hook("a", json!({}))])]);
    let patch = base64::encode(br#"[{"op": "add", "path": "/spec/containers", "value": []}]"#);
    let response = json!({"allowed": true, "patchType": "JSONPatch", "patch": patch});
    let player = Player::default().plays("a", response);
    // The containers of the request's Pod are null to the API server.
    let turns = typed_mutated_twice(&[&hooks], &player).await;
    let annotation = &turns[0].audit_annotations["mutation.webhook.admission.k8s.io/round_0_index_0"];
    assert!(annotation.ends_with(r#""mutated":false}"#), "{annotation}");
}

#[tokio::test]
async fn a_custom_resource_gets_its_kind_again() {
    let rules = json!([{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]);
    let hooks = mutating(
        Origin::Api,
        &[(
            "m",
            vec![
                hook("a", json!({"rules": rules, "reinvocationPolicy": "IfNeeded"})),
                hook("b", json!({"rules": rules})),
            ],
        )],
    );
    let patch = |operation: &[u8]| json!({"allowed": true, "patchType": "JSONPatch", "patch": base64::encode(operation)});
    let player = Player::default()
        .plays("a", patch(br#"[{"op": "add", "path": "/a", "value": 1}]"#))
        .plays(
            "b",
            patch(br#"[{"op": "add", "path": "/kind", "value": "Other"}]"#),
        );
    let turns = request_mutated_twice(&widget(), &[&hooks], &player, None).await;
    let kind = |turn: &MutatedRequest| {
        turn.object
            .as_ref()
            .and_then(|object| object.get("kind").cloned())
    };
    assert_eq!(kind(&turns[0]), Some("Other".into()));
    assert_eq!(kind(&turns[1]), Some("Widget".into()));
}

#[tokio::test]
async fn a_change_of_others_between_the_turns_counts() {
    let hooks = mutating(
        Origin::Api,
        &[("m", vec![hook("a", json!({"reinvocationPolicy": "IfNeeded"}))])],
    );
    let player = Player::default().plays("a", allows());
    let other = parse(br#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"b":"x"}}}"#).unwrap();
    mutated_twice(&[&hooks], &player, Some(other.into_owned())).await;
    assert_eq!(player.paths(), ["a", "a"]);
}

#[tokio::test]
async fn two_of_one_name_are_two() {
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    let hooks = mutating(
        Origin::Api,
        &[(
            "m",
            vec![hook("a", again.clone()), hook("b", json!({})), hook("a", again)],
        )],
    );
    let player = Player::default().plays("a", allows()).plays("b", labels("b"));
    mutated_twice(&[&hooks], &player, None).await;
    assert_eq!(player.paths(), ["a", "b", "a", "a"]);
}

/// A request to create a custom resource.
fn widget() -> AdmissionRequest<'static> {
    let object = parse(br#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}"#);
    AdmissionRequest {
        kind: GroupVersionKind::new("example.com", "v1", "Widget"),
        resource: GroupVersionResource::new("example.com", "v1", "widgets"),
        object: object.unwrap().into_owned(),
        ..request()
    }
}
