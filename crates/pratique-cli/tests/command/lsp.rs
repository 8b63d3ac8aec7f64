//! `pratique lsp`: the language server as an editor starts it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::Directory;

struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Editor {
    fn start() -> Editor {
        Editor::start_with(&[])
    }

    fn start_with(arguments: &[&str]) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .arg("lsp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let to = server.stdin.take().unwrap();
        let from = BufReader::new(server.stdout.take().unwrap());
        Editor { server, to, from }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line).unwrap();
            match line.trim().strip_prefix("Content-Length: ") {
                Some(given) => length = given.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut content = vec![0; length];
        self.from.read_exact(&mut content).unwrap();
        serde_json::from_slice(&content).unwrap()
    }
}

#[test]
fn lengths_of_messages_are_not_believed() {
    for (header, why) in [
        (
            "Content-Length: 999999999999\r\n\r\n",
            "more than 64 MiB are not read",
        ),
        ("Content-Length: 60000000\r\n\r\n{}", "unexpected end of file"),
        ("Content-Length: x\r\n\r\n", "a Content-Length of \"x\""),
    ] {
        let run = Directory::new().run_with(&["lsp"], header, &[]);
        run.exits(2).stderr_has(why);
    }
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[test]
fn an_editor_sees_what_is_wrong() {
    let directory = Directory::new();
    let uri = format!("file://{}", directory.path().join("policy.yaml").display());
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n  \
                  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: \
                  [CREATE]}]\n  validations: [{expression: object.spec.hostNetwrk == true}]\n";
    let mut editor = Editor::start();
    editor.send(&request(1, "initialize", &json!({"capabilities": {}})));
    assert_eq!(
        editor.receive()["result"]["capabilities"]["definitionProvider"],
        true
    );
    editor.send(&notification("initialized", &json!({})));
    let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": policy});
    editor.send(&notification(
        "textDocument/didOpen",
        &json!({"textDocument": document}),
    ));
    let published = editor.receive();
    assert_eq!(published["params"]["uri"], uri);
    let diagnostics = published["params"]["diagnostics"].as_array().unwrap();
    let codes: Vec<_> = diagnostics
        .iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["unbound-policy", "type-check"]);
    editor.send(&request(2, "shutdown", &Value::Null));
    assert_eq!(editor.receive()["result"], Value::Null);
    editor.send(&notification("exit", &Value::Null));
    assert!(editor.server.wait().unwrap().success());
}

/// The codes of a document's diagnostics, with the lines that they are on, once it is opened.
fn codes(editor: &mut Editor, uri: &str, text: &str) -> Vec<(String, u64)> {
    let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
    let opened = json!({"textDocument": document});
    editor.send(&notification("textDocument/didOpen", &opened));
    // What is wrong in the files beside it is published again.
    let published = loop {
        let published = editor.receive();
        if published["params"]["uri"] == uri {
            break published;
        }
    };
    let diagnostics = published["params"]["diagnostics"].as_array().unwrap().iter();
    diagnostics
        .map(|found| {
            let line = found["range"]["start"]["line"].as_u64().unwrap();
            (found["code"].as_str().unwrap().to_owned(), line)
        })
        .collect()
}

#[test]
fn project_files_and_admission_configurations_have_problems_too() {
    let directory = Directory::new().with("manifests/policy.yaml", "apiVersion: v1\nkind: Pod\n");
    let uri = |name: &str| format!("file://{}", directory.path().join(name).display());
    let mut editor = Editor::start();
    editor.send(&request(1, "initialize", &json!({"capabilities": {}})));
    editor.receive();
    editor.send(&notification("initialized", &json!({})));
    let project = "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicys: [policies]\n";
    let found = codes(&mut editor, &uri("pratique.yaml"), project);
    assert_eq!(found, [("unknown-field".to_owned(), 2)]);
    let configuration = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: \
                         PodSecurty\n  path: nowhere.yaml\n";
    let found = codes(&mut editor, &uri("admission.yaml"), configuration);
    assert_eq!(found, [("unknown-plugin".to_owned(), 3)]);
    let manifests = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: \
         ValidatingAdmissionPolicy\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    kind: \
         ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: {}\n",
        directory.path().join("manifests").display()
    );
    // Problems of the files that it names are reported where it begins.
    let found = codes(&mut editor, &uri("named.yaml"), &manifests);
    assert_eq!(found, [("unsupported-kind".to_owned(), 0)]);
    editor.send(&request(2, "shutdown", &Value::Null));
    assert_eq!(editor.receive()["result"], Value::Null);
    editor.send(&notification("exit", &Value::Null));
    assert!(editor.server.wait().unwrap().success());
}

/// 1.36 reads static manifests only where their gate is on.
#[test]
fn the_server_of_a_release_is_meant() {
    let directory = Directory::new().with("manifests/pod.yaml", "apiVersion: v1\nkind: Pod\n");
    let uri = format!("file://{}", directory.path().join("admission.yaml").display());
    let configuration = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: \
         ValidatingAdmissionPolicy\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    kind: \
         ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: {}\n",
        directory.path().join("manifests").display()
    );
    let found = |arguments: &[&str]| {
        let mut editor = Editor::start_with(arguments);
        editor.send(&request(1, "initialize", &json!({"capabilities": {}})));
        editor.receive();
        editor.send(&notification("initialized", &json!({})));
        let found = codes(&mut editor, &uri, &configuration);
        editor.server.kill().unwrap();
        let codes = found.into_iter().map(|(code, _)| code);
        codes.collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), ["unsupported-kind"]);
    assert_eq!(found(&["--kubernetes-version", "1.36"]), ["configuration"]);
    let gate = "ManifestBasedAdmissionControlConfig=true";
    let on = found(&["--kubernetes-version", "1.36", "--feature-gates", gate]);
    assert_eq!(on, ["unsupported-kind"]);
}

#[test]
fn an_editor_that_goes_away_is_an_error() {
    let mut editor = Editor::start();
    editor.send(&request(1, "initialize", &json!({"capabilities": {}})));
    editor.receive();
    editor.send(&notification("initialized", &json!({})));
    drop(editor.to);
    let ended = editor.server.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let output = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(output, "error: the connection to the client is closed\n");
}
