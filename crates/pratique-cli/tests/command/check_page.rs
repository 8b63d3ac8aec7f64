//! The samples of the page on `check` are the command's output. `BLESS=1` updates them.

use std::fs;
use std::path::Path;

use crate::support::Directory;

const BROKEN: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: limit.static.k8s.io
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: >-
      object.metadata.name.startsWith('tmp-') ||
      request.operaton == 'UPDATE'
    mesage: names start with tmp-
";

const PROTECT: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: protect.static.k8s.io
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}
  validations:
  - expression: object.metadata.?labels['protected'].orValue('') != 'true'
    message: \"'protected: ' + object.metadata.name\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: protect.static.k8s.io
spec:
  policyName: protect.static.k8s.io
  validationActions: [Deny]
";

#[test]
fn samples_are_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/check.md");
    let mut page = fs::read_to_string(&path).unwrap();
    let directory = Directory::new()
        .with("broken/limit.yaml", BROKEN)
        .with("policies/protect.yaml", PROTECT);
    for sample in ["broken", "policies"] {
        let marker = format!("<!-- check {sample} -->\n```text\n");
        let (before, rest) = page.split_once(&marker).unwrap();
        let (_, after) = rest.split_once("```\n").unwrap();
        let printed = directory.run(&["check", sample]).stdout;
        page = format!("{before}{marker}{printed}```\n{after}");
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, page).unwrap();
        return;
    }
    assert!(
        page == fs::read_to_string(&path).unwrap(),
        "samples differ: BLESS=1 writes them"
    );
}
