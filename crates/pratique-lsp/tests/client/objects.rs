//! Plain manifests: objects of built-in kinds, as a server decodes and validates them.

use serde_json::json;

use super::session::{Client, edited, position};

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: registry/web
          ports:
            - containerPort: 8080
          volumeMounts:
            - {name: data, mountPath: /data}
      volumes:
        - name: data
          emptyDir: {}
";

#[test]
fn objects_are_validated_while_one_types() {
    let mut client = Client::new("objects", &[]);
    let wrong = DEPLOYMENT.replacen("replicas: 2", "replicas: -2", 1);
    client.open("web.yaml", &wrong);
    let found = client.diagnostics("web.yaml");
    let message = "spec.replicas: Invalid value: -2: must be greater than or equal to 0";
    let place = position(&wrong, "-2", 0);
    assert_eq!(found, [("invalid-field".to_owned(), message.to_owned(), place)]);
    client.replace("web.yaml", &wrong, "-2", "2");
    assert_eq!(client.diagnostics("web.yaml"), []);
    client.replace("web.yaml", DEPLOYMENT, "8080", "99999");
    let found = client.diagnostics("web.yaml");
    let message = "spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and \
                   65535, inclusive";
    assert_eq!(found[0].1, message);
    client.end();
}

#[test]
fn fields_that_a_server_drops_are_told() {
    let client = Client::new("object-drops", &[]);
    let gated = DEPLOYMENT.replacen("emptyDir: {}", "emptyDir: {mode: 448}", 1);
    client.open("web.yaml", &gated);
    let found = client.diagnostics("web.yaml");
    let [(code, message, place)] = found.as_slice() else {
        panic!("{found:?}");
    };
    // As other commands call it.
    assert_eq!(code, "dropped-field");
    let start = "spec.template.spec.volumes[0].emptyDir.mode is dropped without a word: the feature gate EmptyDirVolumeMode";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(*place, position(&gated, "448", 0));
    client.end();
}

#[test]
fn what_is_meant_is_offered() {
    let mut client = Client::new("object-fixes", &[]);
    let uri = client.uri("web.yaml");
    let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}});
    for (from, to) in [
        ("name: data, mount", "name: date, mount"),
        ("replicas: 2", "replcas: 2"),
        ("emptyDir", "emtyDir"),
        (
            "containerPort: 8080",
            "containerPort: 8080\n              protocol: TPC",
        ),
    ] {
        let wrong = DEPLOYMENT.replacen(from, to, 1);
        client.open("web.yaml", &wrong);
        let params =
            json!({"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": []}});
        let actions = client.ask("textDocument/codeAction", params);
        let action = actions.get(0).unwrap_or_else(|| panic!("{to}: {actions}"));
        let fixed = edited(&wrong, &action["edit"]["changes"][&uri]);
        let expected = wrong.replacen("TPC", "TCP", 1);
        let expected = if expected == wrong { DEPLOYMENT } else { &expected };
        assert_eq!(fixed, expected, "{actions}");
    }
    client.end();
}

#[test]
fn what_cannot_be_decoded_is_told_at_its_place() {
    let client = Client::new("object-types", &[]);
    let wrong =
        DEPLOYMENT
            .replacen("replicas: 2", "replicas: two", 1)
            .replacen("/data}", "/data, sub: a}", 1);
    client.open("web.yaml", &wrong);
    let found = client.diagnostics("web.yaml");
    let codes: Vec<_> = found
        .iter()
        .map(|(code, _, place)| (code.as_str(), place))
        .collect();
    assert_eq!(
        codes,
        [
            ("wrong-type", &position(&wrong, "two", 0)),
            ("unknown-field", &position(&wrong, "sub: a", 0))
        ]
    );
    assert!(
        found[0].1.starts_with("json: cannot unmarshal string into"),
        "{found:?}"
    );
    client.end();
}

#[test]
fn kinds_that_are_not_served_and_warnings_are_told() {
    let client = Client::new("object-kinds", &[]);
    let objects = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n---\n\
                   apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\n---\n\
                   apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: A_B}\n";
    client.open("objects.yaml", objects);
    let found = client.diagnostics("objects.yaml");
    let places: Vec<_> = found.iter().map(|(_, _, place)| place.clone()).collect();
    assert_eq!(
        places,
        [position(objects, "PodDis", 0), position(objects, "Endpoints", 0)],
        "{found:?}"
    );
    assert!(found[0].1.contains("policy/v1"), "{found:?}");
    assert_eq!(
        found[1].1,
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    );
    client.end();
}

#[test]
fn sources_of_objects_are_none() {
    let kustomization = "resources: [web.yaml]\npatches: [{path: patch.yaml}]\n";
    let client = Client::new(
        "object-sources",
        &[("kustomization.yaml", kustomization), ("web.yaml", DEPLOYMENT)],
    );
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: -3}\n";
    client.open("patch.yaml", patch);
    client.open("other.yaml", patch);
    let found = client.diagnostics("other.yaml");
    assert!(
        found
            .iter()
            .any(|(_, message, _)| message.contains("spec.selector")),
        "{found:?}"
    );
    client.end();
}

#[test]
fn large_files_are_left_to_the_command() {
    let client = Client::new("object-sizes", &[]);
    let large = format!("# {}\n{DEPLOYMENT}", "x".repeat(128 << 10));
    client.open("web.yaml", &large.replacen("replicas: 2", "replicas: -2", 1));
    let found = client.diagnostics("web.yaml");
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains("`pratique review` does"), "{found:?}");
    client.end();
}
