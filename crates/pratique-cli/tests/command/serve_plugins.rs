//! `pratique serve --plugins`: reviews over HTTPS, answered as kube-apiserver's own plugins answered the same requests.

use std::collections::BTreeMap;

use pratique_json::{Progress, base64};
use pratique_merge::json_patch::{apply, decode};
use pratique_webhook_backend::{Backend, Listener, Script};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::serve::{Client, Serving, eventually};
use crate::support::Directory;

/// The recorded cases.
fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/serve/plugins.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The cases by what a server for them is started with.
fn by_server(kept: impl Fn(&Value) -> bool) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for case in cases().into_iter().filter(kept) {
        let parts = ["plugins", "config", "objects", "authorizer", "backend"];
        let key = parts.map(|part| case[part].to_string()).join(" ");
        all.entry(key).or_default().push(case);
    }
    assert!(!all.is_empty());
    all
}

/// A client that trusts every certificate.
struct Secure {
    runtime: Runtime,
    client: reqwest::Client,
    address: String,
}

impl Secure {
    fn to(serving: &Serving) -> Self {
        pratique_crypto::install().unwrap();
        Secure {
            runtime: Runtime::new().unwrap(),
            client: reqwest::Client::builder()
                .danger_accept_invalid_certs(true)
                .build()
                .unwrap(),
            address: serving.address.clone(),
        }
    }

    fn review(&self, path: &str, request: &Value) -> Value {
        let review =
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        let url = format!("https://{}{path}?timeout=30s", self.address);
        let sent = self.client.post(url).header("Content-Type", "application/json");
        let text = self.runtime.block_on(async {
            let answer = sent.body(review.to_string()).send().await.unwrap();
            answer.text().await.unwrap()
        });
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        answer["response"].clone()
    }
}

/// A request as an API server sends it: decoded and defaulted.
fn sent(request: &Value, expected: &Value) -> Value {
    let mut request = request.clone();
    let members = request.as_object_mut().unwrap();
    members.remove("at");
    members.insert("uid".to_owned(), json!("u"));
    if let Some(defaulted) = expected.get("defaulted") {
        members.insert("object".to_owned(), defaulted.clone());
    }
    request
}

/// What an API server makes of the answers to both of its calls, in the form of what is recorded.
fn outcome(review: &dyn Fn(&str, &Value) -> Value, request: &Value) -> Value {
    let mut request = request.clone();
    let mut outcome = json!({});
    let (mut warnings, mut annotations) = (Vec::new(), serde_json::Map::new());
    for path in ["/mutate", "/validate"] {
        let response = review(path, &request);
        warnings.extend(response["warnings"].as_array().cloned().unwrap_or_default());
        annotations.extend(
            response["auditAnnotations"]
                .as_object()
                .cloned()
                .unwrap_or_default(),
        );
        outcome["allowed"] = response["allowed"].clone();
        if response["allowed"] == false {
            let mut status = response["status"].clone();
            for member in ["status", "metadata"] {
                status.as_object_mut().unwrap().remove(member);
            }
            outcome["status"] = status;
            break;
        }
        if let Some(patch) = response["patch"].as_str() {
            assert_eq!(path, "/mutate", "nothing is changed later");
            let object = patched(&request["object"], patch);
            outcome["object"] = object.clone();
            request["object"] = object;
        }
    }
    if !warnings.is_empty() {
        outcome["warnings"] = Value::Array(warnings);
    }
    if !annotations.is_empty() {
        outcome["auditAnnotations"] = Value::Object(annotations);
    }
    outcome
}

/// An object with a patch in base64.
fn patched(object: &Value, patch: &str) -> Value {
    let patch = base64::decode(patch).unwrap();
    let patch = pratique_json::parse(&patch).unwrap();
    let operations = decode(&patch).unwrap();
    let object = object.to_string();
    let object = pratique_json::parse(object.as_bytes()).unwrap();
    let object = apply(object, &operations, &Progress::unwatched()).unwrap();
    serde_json::from_str(&object.to_string()).unwrap()
}

/// The recorded outcome without what a webhook cannot answer: keys of annotations have no slash.
fn of_webhook(expected: &Value) -> Value {
    let mut outcome = expected.clone();
    let members = outcome.as_object_mut().unwrap();
    members
        .retain(|name, _| ["allowed", "status", "warnings", "auditAnnotations", "object"].contains(&&**name));
    if let Some(annotations) = members.get_mut("auditAnnotations").and_then(Value::as_object_mut) {
        let renamed = std::mem::take(annotations).into_iter();
        annotations.extend(renamed.map(|(key, value)| (key.replace('/', "."), value)));
    }
    outcome
}

/// A directory with the configuration and the objects of a case, and the arguments for them.
fn directory(case: &Value, kubeconfig: &str) -> (Directory, Vec<String>) {
    let mut entries = Vec::new();
    let mut directory = Directory::new().with("objects.json", {
        let items = case["objects"].clone();
        json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
    });
    for (name, text) in case["config"].as_object().into_iter().flatten() {
        let text = text.as_str().unwrap().replace("$KUBECONFIG", kubeconfig);
        directory = directory.with(&format!("{name}.yaml"), text);
        entries.push(json!({"name": name, "path": format!("{name}.yaml")}));
    }
    let configuration = json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": entries});
    let directory = directory.with("config.yaml", configuration.to_string());
    let names = case["plugins"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
    let mut arguments = vec![
        "--plugins".to_owned(),
        names.join(","),
        "--admission-control-config-file".to_owned(),
        "config.yaml".to_owned(),
        "--cluster-objects".to_owned(),
        "objects.json".to_owned(),
    ];
    if names.contains(&"EventRateLimit") {
        arguments.push("--count-anonymous-reviews".to_owned());
    }
    (directory, arguments)
}

fn check(case: &Value, review: &dyn Fn(&str, &Value) -> Value) {
    let name = &case["name"];
    let Some(requests) = case["requests"].as_array() else {
        let request = sent(&case["request"], &case["expect"]);
        assert_eq!(outcome(review, &request), of_webhook(&case["expect"]), "{name}");
        return;
    };
    // Real time passes: of each request comes in the end what is recorded of the one after it.
    let expected = case["expect"].as_array().unwrap();
    for (request, expected) in requests.iter().zip(expected) {
        let request = sent(request, expected);
        let expected = of_webhook(expected);
        eventually(&name.to_string(), || outcome(review, &request) == expected);
    }
}

fn serve_and_check(directory: &Directory, arguments: &[String], cases: &[Value]) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let serving = Serving::start(directory.path(), &arguments);
    let client = Secure::to(&serving);
    for case in cases {
        check(case, &|path, request| client.review(path, request));
    }
}

#[test]
fn plugins_answer_as_recorded() {
    let is_alone = |case: &Value| case["authorizer"].is_null() && case["backend"].is_null();
    for cases in by_server(is_alone).values() {
        let (directory, arguments) = directory(&cases[0], "");
        serve_and_check(&directory, &arguments, cases);
    }
}

#[test]
fn the_image_policy_backend_is_called() {
    let runtime = Runtime::new().unwrap();
    for cases in by_server(|case| !case["backend"].is_null()).values() {
        let backend = runtime.block_on(Backend::start()).unwrap();
        let given = &cases[0]["backend"];
        let body = match &given["body"] {
            Value::Null => given["text"].as_str().unwrap().to_owned(),
            body => body.to_string(),
        };
        let status = given["status"].as_u64().unwrap_or(200);
        let script = json!({"body": body, "status": status}).to_string();
        backend.begin(
            [("/images".to_owned(), Script::from_json(&script).unwrap())],
            true,
        );
        let (directory, arguments) = directory(&cases[0], "backend.yaml");
        let kubeconfig = json!({"apiVersion": "v1", "kind": "Config", "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "images", "user": "me"}}],
            "users": [{"name": "me", "user": {"token": "secret"}}],
            "clusters": [{"name": "images", "cluster": {"server": format!("{}/images", backend.url(Listener::Backend)),
                "certificate-authority-data": base64::encode(backend.ca_pem().as_bytes())}}]});
        let directory = directory.with("backend.yaml", kubeconfig.to_string());
        serve_and_check(&directory, &arguments, cases);
        let calls = runtime.block_on(backend.end());
        assert_eq!(
            calls[0].headers.as_ref().unwrap()["Authorization"],
            "Bearer secret"
        );
    }
}

#[cfg(feature = "kube")]
#[test]
fn the_authorizer_is_asked() {
    use crate::api_server::{DEFINITIONS, NAMESPACES, Script};

    for cases in by_server(|case| !case["authorizer"].is_null()).values() {
        let namespaces = cases[0]["objects"].as_array().unwrap().clone();
        let mut script = Script::new()
            .list(NAMESPACES, namespaces)
            .list(DEFINITIONS, vec![]);
        for rule in cases[0]["authorizer"]["allow"].as_array().unwrap() {
            script = script.allow(rule["verb"].as_str().unwrap());
        }
        let server = script.start();
        let directory = server.directory();
        let plugins = cases[0]["plugins"][0].as_str().unwrap();
        let arguments = ["--plugins", plugins, "--kubeconfig", "kubeconfig"].map(str::to_owned);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let serving = Serving::start(directory.path(), &arguments);
        let client = Secure::to(&serving);
        eventually("the cluster is known", || {
            let url = format!("https://{}/readyz", client.address);
            let answer = client.runtime.block_on(client.client.get(url).send());
            answer.unwrap().status() == 200
        });
        for case in cases {
            check(case, &|path, request| client.review(path, request));
        }
    }
}

#[test]
fn what_cannot_be_a_webhook_is_refused() {
    let directory = Directory::new();
    let check = |arguments: &[&str], code: i32, expected: &str| {
        let run = directory.run(&[&["serve", "--plain-http"], arguments].concat());
        run.exits(code).stderr_has(expected);
    };
    check(
        &["--plugins", "ResourceQuota"],
        2,
        "admission plugin ResourceQuota is not offered as a webhook: what it books must be exact",
    );
    check(
        &["--plugins", "PodSecurityPolicy"],
        2,
        "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25",
    );
    check(&["--plugins", "PodSecurty"], 2, "did you mean \"PodSecurity\"?");
    // The configuration is read as an API server reads it.
    check(
        &["--plugins", "ImagePolicyWebhook"],
        1,
        "couldn't init admission plugin \"ImagePolicyWebhook\": no config specified",
    );
    // Whoever reaches the port could exhaust what others have left.
    check(
        &["--plugins", "AlwaysPullImages,EventRateLimit"],
        2,
        "EventRateLimit counts requests, and without --client-ca-file everyone who reaches the port can send some",
    );
    check(
        &["--plugins", "EventRateLimit", "--count-anonymous-reviews"],
        1,
        "couldn't init admission plugin \"EventRateLimit\"",
    );
    let run = directory.run(&[
        "serve",
        "--plugins=EventRateLimit",
        "--tls-cert-file=a",
        "--tls-private-key-file=a",
        "--client-ca-file=a",
    ]);
    run.exits(1)
        .stderr_has("couldn't init admission plugin \"EventRateLimit\"");
    // Nothing that a plugin depends on is assumed.
    check(
        &["--plugins", "PodSecurity"],
        1,
        "PodSecurity looks up objects of the cluster, and these are not known",
    );
    let objects = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}"#;
    std::fs::write(directory.path().join("objects.json"), objects).unwrap();
    check(
        &[
            "--plugins",
            "OwnerReferencesPermissionEnforcement",
            "--cluster-objects",
            "objects.json",
        ],
        1,
        "OwnerReferencesPermissionEnforcement asks the authorizer, and there is no cluster to answer",
    );
}

/// A request for an event.
fn event(number: usize) -> Value {
    let name = format!("e{number}");
    json!({"uid": "u", "operation": "CREATE", "namespace": "team", "name": name,
        "kind": {"group": "", "version": "v1", "kind": "Event"},
        "resource": {"group": "", "version": "v1", "resource": "events"},
        "userInfo": {"username": "dev"},
        "object": {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "team"},
            "involvedObject": {}}})
}

/// How many events pass until one is refused.
fn passed(client: &mut Client) -> usize {
    let review = |number| {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": event(number)})
            .to_string()
    };
    let is_allowed = |number: &usize| {
        let (_, answer) = client.ask("POST", "/validate", &review(*number)).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        answer["response"]["allowed"] == true
    };
    (0..).take_while(is_allowed).count()
}

#[test]
fn a_reload_keeps_what_plugins_have_counted() {
    const BURST: usize = 500;

    let limits = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: EventRateLimit\n  \
         configuration:\n    apiVersion: eventratelimit.admission.k8s.io/v1alpha1\n    kind: Configuration\n    \
         limits: [{{type: Server, qps: 1, burst: {BURST}}}]\n"
    );
    let policy = |name: &str| {
        crate::serve::POLICY
            .replace(".static.k8s.io", "")
            .replace("NAME", name)
    };
    let directory = Directory::new()
        .with("config.yaml", limits)
        .with("policies/a.yaml", policy("old"));
    let arguments = [
        "--plain-http",
        "--count-anonymous-reviews",
        "--plugins",
        "EventRateLimit",
        "--admission-control-config-file",
        "config.yaml",
        "--policies",
        "policies",
    ];
    let serving = Serving::start(directory.path(), &arguments);
    let mut client = serving.client();
    assert!(!client.allows("old"), "policies are evaluated as well");
    assert!(passed(&mut client) >= BURST);
    std::fs::write(directory.path().join("policies/a.yaml"), policy("new")).unwrap();
    eventually("the new policy counts", || {
        client.allows("old") && !client.allows("new")
    });
    // A new bucket would let as many pass as the first; the time since lets one pass a second.
    let passed = passed(&mut client);
    assert!(passed < BURST, "{passed} of {BURST}");
    let metrics = client.get("/metrics");
    let name = "apiserver_admission_controller_admission_duration_seconds_count{name=\"EventRateLimit\"";
    assert!(metrics.contains(name), "{metrics}");
    let configuration = client.get("/configz");
    assert!(configuration.contains("EventRateLimit"), "{configuration}");
}

#[test]
fn webhook_configurations_cover_what_plugins_look_at() {
    let directory = Directory::new();
    let arguments = [
        "serve",
        "--print-webhook-configuration",
        "--plugins",
        "PodSecurity,AlwaysPullImages",
        "--webhook-ca-from",
        "a/b",
    ];
    let run = directory.run(&arguments);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""), "{run}");
    let documents: Vec<&str> = run.stdout.split("---\n").skip(1).collect();
    assert_eq!(documents.len(), 2, "{run}");
    assert!(documents[0].contains("MutatingWebhookConfiguration") && !documents[0].contains("namespaces\n"));
    for resource in [
        "pods",
        "pods/ephemeralcontainers",
        "namespaces",
        "deployments",
        "cronjobs",
    ] {
        assert!(
            documents[1].contains(&format!("    - {resource}\n")),
            "{resource} in {run}"
        );
    }
    // An API server takes them, with the match conditions that some plugins have.
    let printed = directory.run(&[
        "serve",
        "--print-webhook-configuration",
        "--plugins",
        "OwnerReferencesPermissionEnforcement,PodNodeSelector",
        "--webhook-url",
        "https://localhost",
    ]);
    printed.stdout_has("name: owners-change");
    std::fs::write(directory.path().join("printed.yaml"), &printed.stdout).unwrap();
    let checked = directory.run(&["check", "printed.yaml"]);
    checked.exits(0);
}
