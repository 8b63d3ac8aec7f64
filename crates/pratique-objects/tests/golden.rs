//! Objects of `testdata/objects` as kube-apiserver decodes, defaults and writes them, byte for byte.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it fails")]

use std::path::Path;

use pratique_objects::{FieldValidation, MediaType, ObjectCodec, changed_paths};
use pratique_schema::{FeatureGates, Release};
use pratique_types::GroupVersionKind;
use pratique_yaml::json::{self, Document};
use pratique_yaml::tree::TreeValue;
use pratique_yaml::{Budget, NodeId};

/// A file of cases: their texts, and where in them their parts are.
struct File {
    text: String,
    document: Document,
}

impl File {
    fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../testdata/objects")
            .join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let document = json::parse(text.as_bytes(), &Budget::unlimited()).unwrap();
        File { text, document }
    }

    fn cases(&self) -> &[NodeId] {
        match &self.document.tree.get(self.document.root).value {
            TreeValue::List(cases) => cases,
            _ => panic!("no list"),
        }
    }

    fn member(&self, of: NodeId, name: &str) -> Option<NodeId> {
        self.document.tree.entry(of, name).map(|entry| entry.value)
    }

    /// A part of a case as it is written.
    fn written(&self, of: NodeId, name: &str) -> Option<&str> {
        let span = self.document.tree.get(self.member(of, name)?).span;
        self.text.get(span.start as usize..span.end as usize)
    }

    fn string(&self, of: NodeId, name: &str) -> Option<&str> {
        match &self.document.tree.get(self.member(of, name)?).value {
            TreeValue::String(text, _) => Some(text),
            _ => None,
        }
    }

    fn kind(&self, of: NodeId) -> GroupVersionKind {
        let (version, kind) = (
            self.string(of, "apiVersion").unwrap(),
            self.string(of, "kind").unwrap(),
        );
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        GroupVersionKind::new(group, version, kind)
    }

    /// What a case gives: the object as it is written, the warnings, the error.
    fn run(&self, case: NodeId, release: &'static Release) -> [String; 3] {
        let body = self
            .string(case, "body")
            .or_else(|| self.written(case, "object"))
            .unwrap();
        let endpoint = self
            .member(case, "endpoint")
            .or_else(|| self.member(case, "object"));
        let kind = self.kind(endpoint.unwrap());
        let media_type = match self.string(case, "contentType") {
            Some("application/yaml") => MediaType::Yaml,
            _ => MediaType::Json,
        };
        let validation = match self.string(case, "fieldValidation") {
            Some("Strict") => FieldValidation::Strict,
            Some("Ignore") => FieldValidation::Ignore,
            _ => FieldValidation::Warn,
        };
        let objects = ObjectCodec::with_placeholder("<now>").with_gates(FeatureGates::new(release));
        match objects.receive(body.as_bytes(), media_type, &kind, validation) {
            Err(error) => [String::new(), "[]".to_owned(), error.to_string()],
            Ok(received) => {
                let text = objects.encode(&kind, &received.value);
                let text = text.replace("\\u003cnow\\u003e", "<now>");
                [text, format!("{:?}", received.warnings), String::new()]
            }
        }
    }

    fn expected(&self, case: NodeId) -> [String; 3] {
        let expect = self.member(case, "expect").unwrap();
        let warnings = self
            .member(expect, "warnings")
            .map(|id| &self.document.tree.get(id).value);
        let texts: Vec<&str> = match warnings {
            Some(TreeValue::List(ids)) => {
                let text = |id: &NodeId| match &self.document.tree.get(*id).value {
                    TreeValue::String(text, _) => &**text,
                    _ => "",
                };
                ids.iter().map(text).collect()
            }
            _ => Vec::new(),
        };
        let object = self.written(expect, "object").unwrap_or_default().to_owned();
        let error = self.string(expect, "error").unwrap_or_default().to_owned();
        [object, format!("{texts:?}"), error]
    }
}

fn check(name: &str, version: &str, least: usize) {
    let release = Release::by_version(version).unwrap();
    let file = File::read(name);
    assert!(file.cases().len() >= least);
    let mut wrong = Vec::new();
    for case in file.cases() {
        let (found, expected) = (file.run(*case, release), file.expected(*case));
        if found != expected {
            let name = file.string(*case, "name").unwrap_or_default();
            wrong.push(format!("{name}\n expected {expected:?}\n found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n"), wrong.len());
}

/// Once an object was received, nothing is left to default.
#[test]
fn defaulting_twice_changes_nothing() {
    let file = File::read("kinds.json");
    let objects = ObjectCodec::with_placeholder("2024-01-01T00:00:00Z");
    for case in file.cases() {
        let (kind, body) = (
            file.kind(file.member(*case, "object").unwrap()),
            file.written(*case, "object").unwrap(),
        );
        let Ok(received) = objects.receive(body.as_bytes(), MediaType::Json, &kind, FieldValidation::Warn)
        else {
            continue;
        };
        let mut again = received.value.clone();
        objects.default(&kind, &mut again).unwrap();
        assert_eq!(
            changed_paths(&received.value, &again),
            [] as [String; 0],
            "{kind}"
        );
    }
}

#[test]
fn objects_of_every_kind() {
    check("kinds.json", "1.37", 200);
}

#[test]
fn objects_of_every_kind_of_an_older_release() {
    check("kinds-1.36.json", "1.36", 200);
}

/// An object of each kind of each release, made at random.
#[test]
fn generated_objects_of_every_kind_and_release() {
    for release in Release::list() {
        check(&format!("generated-{release}.json"), &release.to_string(), 150);
    }
}

#[test]
fn faults_and_what_is_said_of_them() {
    check("texts.json", "1.37", 50);
}

/// What is no JSON, in the words of Go 1.27.
#[test]
fn faults_of_another_go_and_what_is_said_of_them() {
    check("texts-1.38.json", "1.38", 20);
}
