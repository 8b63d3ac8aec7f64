//! A repository that is committed into the repository that is reviewed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::hidden::git;
use super::{AttackScale, run, write};
use pratique_harness::ToolError;

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

/// The places of an attack.
struct AttackPlaces {
    root: PathBuf,
    /// The files of a bare repository in it, beside an object.
    rendered: PathBuf,
    /// What the programs of its configuration make.
    ran: PathBuf,
}

/// A repository into which the files of a bare one are committed: it would say that objects were there before, and its
/// configuration would run a program.
fn committed(folder: &Path) -> Result<AttackPlaces, ToolError> {
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
    fs::rename(other.join(".git"), &rendered).map_err(ToolError::file(&rendered))?;
    let configuration = format!(
        "[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = \"touch '{ran}'\"\nsshCommand = \"touch '{ran}'\"\n\
         hooksPath = hooks\n[diff]\nexternal = \"touch '{ran}'\"\n\
         [remote \"origin\"]\nurl = .\nuploadpack = \"touch '{ran}';\"\n",
        ran = ran.display()
    );
    write(&rendered, "config", &configuration)?;
    write(&rendered, "pod.yaml", POD)?;
    git(&root, &["add", "--force", "."])?;
    Ok(AttackPlaces { root, rendered, ran })
}

/// `ci/run` in the directory of such a repository, with a revision that it does not have: it would be fetched by a program of
/// the configuration.
pub(super) fn pipeline(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let places = committed(folder)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/run");
    let mut runs = 0;
    for (place, revision) in [
        (&places.rendered, "missing"),
        (&places.rendered, "HEAD"),
        (&places.root, "missing"),
    ] {
        let output = Command::new("bash")
            .arg(&script)
            .current_dir(place)
            .env("PRATIQUE_BINARY", program)
            .env("PRATIQUE_COMMANDS", "review")
            .env(
                "REVIEW_ARGUMENTS",
                "pod.yaml\n--policies\n../policies\n--since\nHEAD",
            )
            .env("PRATIQUE_PROJECT_FILE_FROM", revision)
            .env("PRATIQUE_REPORTS", folder.join("reports"))
            .output()
            .map_err(|error| format!("bash: {error}"))?;
        let command_line = format!("ci/run in {} with {revision}", place.display());
        if places.ran.exists() {
            return Err(format!("{command_line} ran a program").into());
        }
        if output.status.success() {
            return Err(format!(
                "{command_line}: allowed: {}",
                String::from_utf8_lossy(&output.stdout)
            )
            .into());
        }
        runs += 1;
    }
    Ok(format!("{runs} runs of ci/run ran no program"))
}

/// Reviews that ask git what was there before, in and beside the files of a bare repository.
pub(super) fn bare(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    let AttackPlaces { root, rendered, ran } = committed(folder)?;
    let mut runs = 0;
    for (place, inputs) in [
        (&root, "rendered/pod.yaml"),
        (&root, "rendered"),
        (&rendered, "pod.yaml"),
    ] {
        let policies = root.join("policies").display().to_string();
        let arguments = ["review", inputs, "--policies", &policies, "--since", "HEAD"];
        let result = run(program, place, &arguments)?;
        let command_line = format!("`{}` in {}", arguments.join(" "), place.display());
        if ran.exists() {
            return Err(format!("{command_line} ran a program").into());
        }
        if result.status.success() {
            return Err(format!("{command_line}: allowed: {}{}", result.stdout, result.stderr).into());
        }
        runs += 1;
    }
    Ok(format!(
        "{runs} runs asked the repository around it, and ran no program"
    ))
}
