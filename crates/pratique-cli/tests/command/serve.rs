//! `pratique serve`: start, requests over its socket, and shutdown by signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Directory;

pub(crate) const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: \"object.metadata.name != 'NAME'\", message: not this one}]
  auditAnnotations: [{key: seen, valueExpression: string(object.metadata.name)}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: names.static.k8s.io}
spec: {policyName: names.static.k8s.io, validationActions: [Deny]}
";

/// A server process.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: String,
    /// Its output up to the start of serving.
    pub(crate) greeting: String,
    rest: Option<thread::JoinHandle<String>>,
}

impl Serving {
    pub(crate) fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", directory, arguments)
    }

    pub(crate) fn start_at(listen: &str, directory: &Path, arguments: &[&str]) -> Self {
        Self::start_in(&["env"], listen, directory, arguments)
    }

    /// Starts it with another command, which gets its name and arguments.
    pub(crate) fn start_in(starter: &[&str], listen: &str, directory: &Path, arguments: &[&str]) -> Self {
        let (program, first) = starter.split_first().unwrap();
        let mut child = Command::new(program)
            .args(first)
            .arg(env!("CARGO_BIN_EXE_pratique"))
            .args(["serve", "--listen", listen])
            .args(arguments)
            .current_dir(directory)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut greeting = String::new();
        while !greeting.contains("  curl ") {
            let read = lines.read_line(&mut greeting).unwrap();
            assert!(read > 0, "it does not serve: {greeting}");
        }
        let rest = thread::spawn(move || {
            let mut rest = String::new();
            lines.read_to_string(&mut rest).unwrap();
            rest
        });
        let address = greeting.rsplit("Serving at ").next().unwrap();
        let address = address.split("://").nth(1).unwrap();
        let address = address.split(". ").next().unwrap().to_owned();
        Serving {
            child,
            address,
            greeting,
            rest: Some(rest),
        }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it ends; gives the exit code and its last output.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        (code, self.rest.take().unwrap().join().unwrap())
    }

    pub(crate) fn client(&self) -> Client {
        Client::to(&self.address).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended already if the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn to(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Client(BufReader::new(stream)))
    }

    /// Sends a request; gives the head and the body of the response.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> std::io::Result<(String, String)> {
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}");
        self.0.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        self.0.read_exact(&mut body)?;
        Ok((head, String::from_utf8_lossy(&body).into_owned()))
    }

    pub(crate) fn get(&mut self, path: &str) -> String {
        self.ask("GET", path, "").unwrap().1
    }

    pub(crate) fn allows(&mut self, name: &str) -> bool {
        self.review(name)["allowed"].as_bool().unwrap()
    }

    pub(crate) fn review(&mut self, name: &str) -> serde_json::Value {
        let (head, body) = self.ask("POST", "/validate?timeout=30s", &review(name)).unwrap();
        assert!(head.starts_with("http/1.1 200"), "{head}{body}");
        let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
        answer["response"].clone()
    }
}

pub(crate) fn review(name: &str) -> String {
    serde_json::json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "CREATE", "namespace": "default", "name": name,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "userInfo": {"username": "dev"},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}
        }
    })
    .to_string()
}

/// An address that nothing else has: one of this process, which is not taken from those that systems give out.
pub(crate) fn unused_address() -> String {
    use std::sync::atomic::AtomicU16;

    static PORT: AtomicU16 = AtomicU16::new(20_000);
    let port = PORT.fetch_add(1, Ordering::Relaxed);
    // Elsewhere, the first is the only address of the loopback interface.
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    if cfg!(target_os = "linux") {
        format!("127.{}.{middle}.{low}:{port}", 100 + high)
    } else {
        format!("127.0.0.1:{port}")
    }
}

pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn it_serves_without_arguments() {
    let directory = Directory::new();
    let serving = Serving::start(directory.path(), &[]);
    let line = serving
        .greeting
        .lines()
        .find(|line| line.trim().starts_with("curl "))
        .unwrap();
    if Command::new("curl").arg("--version").output().is_ok() {
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["response"]["allowed"], false, "{answer}");
        let message = answer["response"]["status"]["message"].as_str().unwrap();
        assert!(
            message.contains("pod-security-baseline-host-namespaces.static.k8s.io"),
            "{message}"
        );
    }
    serving.signal("INT");
    let (code, rest) = serving.wait();
    assert_eq!(code, Some(0), "{rest}");
}

#[test]
fn names_and_all_addresses_are_listened_at() {
    let directory = Directory::new();
    for (listen, plain, hosts) in [
        ("localhost:0", true, &["localhost"][..]),
        (":0", false, &["127.0.0.1", "localhost"]),
    ] {
        let arguments: &[&str] = if plain { &["--plain-http"] } else { &[] };
        let serving = Serving::start_at(listen, directory.path(), arguments);
        let (name, port) = serving.address.rsplit_once(':').unwrap();
        assert_eq!(name, "localhost", "{}", serving.greeting);
        for host in hosts {
            assert!(
                TcpStream::connect(format!("{host}:{port}")).is_ok(),
                "{listen} {host}"
            );
        }
        if plain {
            assert!(serving.client().get("/").contains("<h1>Pratique"));
        }
    }
}

#[test]
fn health_has_an_address_of_its_own() {
    let directory = Directory::new();
    let arguments = ["--health-listen", "127.0.0.1:0", "--max-memory", "64"];
    let serving = Serving::start(directory.path(), &arguments);
    let line = serving
        .greeting
        .lines()
        .find(|line| line.contains("Serving health and metrics"));
    let (_, address) = line.unwrap().split_once("127.0.0.1:").unwrap();
    let port: String = address.chars().take_while(char::is_ascii_digit).collect();
    let get = |path: &str| Client::to(&format!("127.0.0.1:{port}")).unwrap().get(path);
    assert_eq!(get("/readyz"), "ok\n");
    assert!(get("/metrics").contains("pratique_reviews_refused_total"));
    assert!(get("/configz").contains("NotFound"));
}

#[test]
fn the_line_to_try_is_about_what_is_loaded() {
    let mutating = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: stamp.static.k8s.io}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{labels: {'stamped': 'yes'}}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: stamp.static.k8s.io}
spec: {policyName: stamp.static.k8s.io}
";
    let services = POLICY.replace("pods", "services").replace("NAME", "demo");
    let directory = Directory::new()
        .with("mutating/a.yaml", mutating)
        .with("services/a.yaml", services);
    for (manifests, path, resource) in [
        ("mutating", "/mutate", "\"resource\":\"deployments\""),
        ("services", "/validate", "\"resource\":\"services\""),
    ] {
        let serving = Serving::start(directory.path(), &["--plain-http", "--manifests", manifests]);
        let line = serving
            .greeting
            .lines()
            .find(|line| line.trim().starts_with("curl "));
        let line = line.unwrap();
        assert!(line.contains(path) && line.contains(resource), "{line}");
        let body = line.split("-d '").nth(1).unwrap().trim_end_matches('\'');
        let (head, answer) = serving.client().ask("POST", path, body).unwrap();
        assert!(head.starts_with("http/1.1 200"), "{head}{answer}");
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let matched = match path {
            "/mutate" => answer["response"]["patch"].is_string(),
            _ => answer["response"]["allowed"] == false,
        };
        assert!(matched, "{answer}");
    }
}

#[test]
fn every_line_of_a_log_in_json_is_json() {
    let directory = Directory::new()
        .with("manifests/a.yaml", POLICY.replace("NAME", "no"))
        .with("faulty/a.yaml", "kind: [");
    let check = |text: &str, expected: &str| {
        assert!(text.contains(expected), "{expected} is not in {text}");
        for line in text.lines() {
            let line: Result<serde_json::Value, _> = serde_json::from_str(line);
            let line = line.unwrap_or_else(|error| panic!("{error}: {text}"));
            assert!(line["message"].is_string() && line["level"].is_string(), "{line}");
        }
    };
    let json = ["serve", "--logging-format", "json"];
    let refused = |arguments: &[&str], code: i32, expected: &str| {
        let run = directory.run(&[&json, arguments].concat());
        assert_eq!(run.code, Some(code), "{run:?}");
        check(&run.stderr, expected);
    };
    let plugin = ["--plugin", "ValidatingAdmissionPolicy"];
    refused(
        &[&["--manifests", "faulty"][..], &plugin].concat(),
        1,
        "faulty/a.yaml",
    );
    refused(&["--manifests", "none"], 2, "No such file or directory");
    refused(&["--listen", "nowhere.invalid:1"], 2, "cannot listen at");
    refused(&["--print-webhook-configuration"], 0, "there is no caBundle");

    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(json)
        .args(["--manifests", "manifests", "--listen", "127.0.0.1:0"])
        .current_dir(directory.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("\"Serving\"") {
        assert!(lines.read_line(&mut text).unwrap() > 0, "{text}");
    }
    std::fs::write(directory.path().join("manifests/a.yaml"), "kind: [").unwrap();
    while !text.contains("reloading manifest config") {
        assert!(lines.read_line(&mut text).unwrap() > 0, "{text}");
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    lines.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{text}");
    check(&text, "curl -sk https://127.0.0.1:");
}

#[test]
fn an_emptied_directory_is_a_warning() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "old"));
    let serving = Serving::start(directory.path(), &["--plain-http", "--manifests", "manifests"]);
    let mut client = serving.client();
    let file = directory.path().join("manifests/a.yaml");
    let good = std::fs::read(&file).unwrap();
    let failures = |client: &mut Client| client.get("/configz").contains("\"error\":");
    std::fs::write(&file, "kind: [").unwrap();
    eventually("the fault is reported", || failures(&mut client));
    std::fs::write(&file, good).unwrap();
    eventually("the fault is mended", || !failures(&mut client));
    std::fs::remove_file(&file).unwrap();
    eventually("nothing is left", || client.allows("old"));
    serving.signal("INT");
    let (_, rest) = serving.wait();
    let line = |text: &str| {
        let found = rest.lines().find(|line| line.contains(text));
        found
            .unwrap_or_else(|| panic!("{text} is not in {rest}"))
            .to_owned()
    };
    assert!(line("manifest config matches the version in use again").contains("INFO"));
    let emptied = line("has no policies any more");
    assert!(
        emptied.contains("WARN") && emptied.contains("removed=1"),
        "{emptied}"
    );
}

#[test]
fn a_directory_is_read_again_when_it_changes() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "old"));
    let serving = Serving::start(
        directory.path(),
        &[
            "--plain-http",
            "--manifests",
            "manifests",
            "--audit-log-path",
            "audit",
        ],
    );
    let mut client = serving.client();
    assert!(!client.allows("old") && client.allows("new"));

    let directory = directory.with("next", POLICY.replace("NAME", "new"));
    std::fs::rename(
        directory.path().join("next"),
        directory.path().join("manifests/a.yaml"),
    )
    .unwrap();
    eventually("the new one counts", || {
        client.allows("old") && !client.allows("new")
    });

    let directory = directory.with("manifests/a.yaml", "kind: [");
    eventually("the fault is reported", || {
        client.get("/configz").contains("\"error\":")
    });
    assert!(!client.allows("new"), "what was good stays");
    let metrics = client.get("/metrics");
    let name = "apiserver_manifest_admission_config_controller_automatic_reloads_total";
    let counted = |status: &str| {
        let status = format!("status=\"{status}\"");
        metrics
            .lines()
            .any(|line| line.starts_with(name) && line.contains(&status))
    };
    assert!(counted("success") && counted("failure"), "{metrics}");
    assert!(
        metrics.contains("apiserver_admission_step_admission_duration_seconds_count"),
        "{metrics}"
    );
    for family in ["compilation", "evaluation"] {
        let name = format!("apiserver_cel_{family}_duration_seconds_count ");
        let count = metrics.lines().find_map(|line| line.strip_prefix(&name));
        assert!(count.is_some_and(|count| count != "0"), "{metrics}");
    }
    assert!(client.get("/").contains("names.static.k8s.io"));

    serving.signal("INT");
    let (code, rest) = serving.wait();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("reloading manifest config"), "{rest}");
    let audit = std::fs::read_to_string(directory.path().join("audit")).unwrap();
    assert!(
        audit
            .lines()
            .all(|line| line.contains("\"names.static.k8s.io/seen\":")),
        "{audit}"
    );
}

#[test]
fn its_end_drops_no_request() {
    end_under_load("TERM");
}

#[test]
#[cfg(target_os = "linux")]
fn its_end_with_its_terminal_drops_no_request() {
    end_under_load("HUP");
}

#[test]
#[cfg(target_os = "linux")]
fn it_outlives_its_terminal_with_nohup() {
    let directory = Directory::new();
    let starter = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""];
    let serving = Serving::start_in(&starter, "127.0.0.1:0", directory.path(), &["--plain-http"]);
    serving.signal("HUP");
    thread::sleep(Duration::from_millis(500));
    let (head, body) = serving.client().ask("GET", "/readyz", "").unwrap();
    assert!(head.starts_with("http/1.1 200"), "{head}{body}");
}

fn end_under_load(signal: &str) {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "no"));
    let arguments = [
        "--plain-http",
        "--manifests",
        "manifests",
        "--shutdown-delay-duration",
        "1",
    ];
    let serving = Serving::start(directory.path(), &arguments);
    let (answered, ending) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let (address, answered, ending) = (serving.address.clone(), answered.clone(), ending.clone());
            thread::spawn(move || load(&address, &answered, &ending))
        })
        .collect();
    eventually("there is load", || answered.load(Ordering::Relaxed) > 200);
    ending.store(true, Ordering::Relaxed);
    serving.signal(signal);
    for client in clients {
        client.join().unwrap().expect("a request was dropped");
    }
    let (code, rest) = serving.wait();
    assert_eq!(code, Some(0), "{rest}");
}

/// Sends requests until the server is gone; an error is a request that was dropped.
fn load(address: &str, answered: &AtomicUsize, ending: &AtomicBool) -> std::io::Result<()> {
    let body = review("web");
    loop {
        // A request that was not sent cannot be dropped.
        let Ok(mut client) = Client::to(address) else {
            assert!(ending.load(Ordering::Relaxed), "the server is gone");
            return Ok(());
        };
        for count in 0.. {
            let asked = client.ask("POST", "/validate", &body);
            // A connection that the system accepts, but the server does not any more, has no request.
            if count == 0 && ending.load(Ordering::Relaxed) && asked.is_err() {
                return Ok(());
            }
            let (head, _) = asked?;
            assert!(head.starts_with("http/1.1 200"), "{head}");
            answered.fetch_add(1, Ordering::Relaxed);
            if head.contains("connection: close") {
                break;
            }
        }
    }
}

#[test]
fn what_cannot_be_served_is_refused() {
    let select = "  validations:";
    let labels = "    namespaceSelector: {matchLabels: {team: a}}\n  validations:";
    let directory = Directory::new()
        .with("faulty/a.yaml", "kind: [")
        .with("labels/a.yaml", POLICY.replace(select, labels))
        .with("pem", "nothing")
        .with(
            "kubeconfig",
            "apiVersion: v1\nkind: Config\nusers:\n- {name: '*', user: {exec: {apiVersion: \
             client.authentication.k8s.io/v1, command: 'true', interactiveMode: Never}}}\n",
        );
    let plugin = format!(
        "apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: {}
",
        directory.path().join("kubeconfig").display()
    );
    let directory = directory.with("exec.yaml", plugin);
    let check = |arguments: &[&str], code: i32, words: &str| {
        let run = directory.run(&[&["serve"], arguments].concat());
        assert_eq!(run.code, Some(code), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    };
    let plugin = ["--plugin", "ValidatingAdmissionPolicy"];
    check(
        &[&["--manifests", "faulty"][..], &plugin].concat(),
        1,
        "faulty/a.yaml",
    );
    check(
        &["--manifests", "labels"],
        1,
        "names.static.k8s.io selects namespaces by their labels",
    );
    check(&["--manifests", "none"], 2, "none: No such file or directory");
    check(
        &["--tls-cert-file", "pem", "--tls-private-key-file", "pem"],
        2,
        "pem: no certificate in it",
    );
    check(
        &["--plain-http", "--listen", "0.0.0.0:0"],
        2,
        "plain HTTP is served to this machine only",
    );
    check(&["--tls-cert-file", "pem"], 2, "--tls-private-key-file");
    check(&["--listen", "8443"], 2, "expected ADDRESS:PORT");
    check(
        &["--admission-control-config-file", "exec.yaml"],
        2,
        "the kubeconfig of ValidatingAdmissionWebhook has a user \"*\" whose credentials a command gives (exec)",
    );
}
