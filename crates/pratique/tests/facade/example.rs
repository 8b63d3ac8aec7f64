//! The example of a server does what it says.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::directories::put;
use crate::world::validating_policy;

#[path = "../../examples/custom-server.rs"]
mod custom_server;

async fn post(address: std::net::SocketAddr, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_server_with_a_step_of_its_own() {
    assert!(include_str!("../../examples/custom-server.rs").lines().count() < 80);
    let directory = tempfile::tempdir().unwrap();
    put(
        directory.path(),
        "p.yaml",
        &[
            validating_policy(
                "p.static.k8s.io",
                "!has(object.data) || namespaceObject.metadata.name != 'shop'",
            ),
            validating_policy(
                "q.static.k8s.io",
                "has(object.data) || namespaceObject.metadata.?labels[?'env'].hasValue()",
            ),
        ]
        .concat(),
    );
    let live = custom_server::live(directory.path().to_str().unwrap()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move { custom_server::serve(listener, live).await.is_ok() });
    let review = |kind: &str, object: &str| {
        let resource = format!("{}s", kind.to_lowercase());
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE","namespace":"shop",
            "kind":{{"group":"","version":"v1","kind":"{kind}"}},"resource":{{"group":"","version":"v1","resource":"{resource}"}},"object":{object}}}}}"#
        )
    };
    for (body, expected) in [
        (
            review("Pod", r#"{"spec":{"containers":[{"name":"c","image":"nginx"}]}}"#),
            "image \\\"nginx\\\" has no digest",
        ),
        (
            review(
                "Pod",
                r#"{"spec":{"containers":[{"name":"c","image":"nginx@sha256:00"}]}}"#,
            ),
            "\"allowed\":true",
        ),
        (
            review(
                "Pod",
                r#"{"spec":{"initContainers":[{"name":"c","image":"setup"}],"containers":[]}}"#,
            ),
            "image \\\"setup\\\" has no digest",
        ),
        (
            review(
                "Pod",
                r#"{"spec":{"ephemeralContainers":[{"name":"c","image":"debug"}]}}"#,
            ),
            "image \\\"debug\\\" has no digest",
        ),
        (review("ConfigMap", r#"{"data":{"a":"b"}}"#), "\"code\":422"),
        // An answer has the version that was asked.
        (
            review("ConfigMap", r#"{"data":{"a":"b"}}"#).replace("k8s.io/v1", "k8s.io/v1beta1"),
            "\"admission.k8s.io/v1beta1\"",
        ),
        // What no API server sends would match no policy, and be allowed.
        (
            review("ConfigMap", r#"{"data":{"a":"b"}}"#).replace("configmaps", "ConfigMap"),
            "",
        ),
        (
            review("ConfigMap", r#"{"data":{"a":"b"}}"#).replace("CREATE", ""),
            "",
        ),
        // Nothing is known of the namespace but its name.
        (
            review("ConfigMap", "{}"),
            "namespaceObject.metadata.labels.env of namespace \\\"shop\\\" is not known",
        ),
        ("{".to_owned(), ""),
        ("{}".to_owned(), ""),
    ] {
        let answer = post(address, &body).await;
        assert!(answer.contains(expected), "{body}\n{answer}");
        assert_eq!(answer.is_empty(), expected.is_empty(), "{body}\n{answer}");
    }
    server.abort();
    assert!(
        tokio::task::spawn_blocking(custom_server::main)
            .await
            .unwrap()
            .is_err()
    );
}
