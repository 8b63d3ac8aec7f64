//! A repository that is committed into the repository that is reviewed.

use std::fs;
use std::path::Path;

use super::hidden::git;
use super::{Scale, run, write};
use pratique_harness::Error;

/// A policy that denies new Pods, and leaves those alone that were there.
const POLICIES: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\n\
     spec:\n  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}\n  \
     validations: [{expression: 'false', message: no new ones}]\n---\n\
     apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\n\
     spec: {policyName: a, validationActions: [Deny]}\n";
const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n";

const COMMIT: [&str; 8] = [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.com",
    "commit",
    "--quiet",
    "--message",
    "a",
];

/// The files of a bare repository beside the objects: it would say that they were there before, and its configuration would
/// run a program.
pub(super) fn bare(program: &Path, folder: &Path, _: Scale) -> Result<String, Error> {
    let (root, other, ran) = (
        folder.join("repository"),
        folder.join("other"),
        folder.join("ran"),
    );
    write(&root, "policies/policies.yaml", POLICIES)?;
    git(&root, &["init", "--quiet"])?;
    git(&root, &["add", "."])?;
    git(&root, &COMMIT)?;

    write(&other, "pod.yaml", POD)?;
    write(&other, "rendered/pod.yaml", POD)?;
    git(&other, &["init", "--quiet"])?;
    git(&other, &["add", "."])?;
    git(&other, &COMMIT)?;
    let rendered = root.join("rendered");
    fs::rename(other.join(".git"), &rendered).map_err(Error::file(&rendered))?;
    let configuration = format!(
        "[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = \"touch '{ran}'\"\nsshCommand = \"touch '{ran}'\"\n\
         hooksPath = hooks\n[diff]\nexternal = \"touch '{ran}'\"\n",
        ran = ran.display()
    );
    write(&rendered, "config", &configuration)?;
    write(&rendered, "pod.yaml", POD)?;
    git(&root, &["add", "--force", "."])?;

    let mut runs = 0;
    for (place, inputs) in [
        (&root, "rendered/pod.yaml"),
        (&root, "rendered"),
        (&rendered, "pod.yaml"),
    ] {
        let policies = root.join("policies").display().to_string();
        let arguments = ["review", inputs, "--policies", &policies, "--since", "HEAD"];
        let result = run(program, place, &arguments)?;
        let shown = format!("`{}` in {}", arguments.join(" "), place.display());
        if ran.exists() {
            return Err(format!("{shown} ran a program").into());
        }
        if result.status.success() {
            return Err(format!("{shown}: allowed: {}{}", result.stdout, result.stderr).into());
        }
        runs += 1;
    }
    Ok(format!(
        "{runs} runs asked the repository around it, and ran no program"
    ))
}
