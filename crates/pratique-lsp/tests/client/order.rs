//! In which order things are published: what loading finds before what lints find, and of several edits only the last.

use std::thread;

use lsp_server::{Message, Notification, Request};
use pratique_lsp::Connection;
use serde_json::{Value, json};

use crate::session::Client;
use crate::{BINDING, POLICY};

#[test]
fn problems_come_before_what_lints_find() {
    let broken = BINDING.replace("validationActions: [Deny]", "validationActions: [Refuse]");
    let client = Client::new("order", &[("z.yaml", &broken)]);
    client.open("a.yaml", POLICY);
    let (first, diagnostics) = client.next_diagnostics();
    assert!(first.ends_with("/z.yaml"), "{first}");
    assert!(diagnostics[0].1.contains("Refuse"), "{diagnostics:?}");
    let (second, diagnostics) = client.next_diagnostics();
    assert!(second.ends_with("/a.yaml"), "{second}");
    assert_eq!(diagnostics[0].0, "unbound-policy");
    client.end();
}

/// All waits in a channel before the session begins: then nothing is analyzed but the last text.
#[test]
fn edits_that_wait_are_one() {
    let (to_server, of_server) = crossbeam_channel::unbounded();
    let (sender, receiver) = crossbeam_channel::unbounded();
    let request = |id: i32, method: &str, params: Value| -> Message {
        Request::new(id.into(), method.to_owned(), params).into()
    };
    let notify =
        |method: &str, params: Value| -> Message { Notification::new(method.to_owned(), params).into() };
    let uri = "file:///nowhere/policy.yaml";
    let wrong = POLICY.replacen("object.spec.replicas", "object.spec.replicaz", 1);
    let document = json!({"uri": uri, "languageId": "yaml", "version": 0, "text": POLICY});
    let mut messages = vec![
        request(1, "initialize", json!({"capabilities": {}})),
        notify("initialized", json!({})),
        notify("textDocument/didOpen", json!({"textDocument": document})),
    ];
    for version in 1..=20 {
        let text = if version % 2 == 0 { &wrong } else { POLICY };
        let params = json!({
            "textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}],
        });
        messages.push(notify("textDocument/didChange", params));
    }
    for message in messages {
        to_server.send(message).unwrap();
    }
    let connection = Connection {
        sender,
        receiver: of_server,
    };
    let session = thread::spawn(move || pratique_lsp::run(&connection));
    let mut notifications = Vec::new();
    let collect_until = |id: i32, notifications: &mut Vec<Value>| {
        loop {
            match receiver.recv().unwrap() {
                Message::Response(response) if response.id == id.into() => return,
                Message::Notification(notification) => notifications.push(notification.params),
                _ => {}
            }
        }
    };
    collect_until(1, &mut notifications);
    assert!(notifications.is_empty());
    // The next one comes after the last was looked at.
    let first = receiver.recv().unwrap();
    let Message::Notification(first) = first else {
        panic!("{first:?}")
    };
    assert!(first.params.to_string().contains("type-check"), "{first:?}");
    to_server.send(request(2, "shutdown", Value::Null)).unwrap();
    collect_until(2, &mut notifications);
    to_server.send(notify("exit", Value::Null)).unwrap();
    session.join().unwrap().unwrap();
    assert!(notifications.is_empty(), "{notifications:?}");
}
