//! `pratique init`: writes a project file from what there is in a directory.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use pratique_manifest::path_text;
use pratique_state::API_VERSION;
use pratique_suite::{may_be_suite, read_file};

use super::{FILE, KIND, permit};
use crate::arguments::InitArguments;
use crate::exit::{CliError, ExitStatus};
use crate::input::FileSelection;
use crate::output;
use crate::output::counted::counted;
use crate::output::text::text;

/// Writes the file; an existing one is never overwritten.
pub(crate) fn run(arguments: &InitArguments) -> Result<ExitStatus, CliError> {
    let directory = &arguments.directory;
    let found = Found::below(directory)?;
    let path = directory.join(FILE);
    let failed = |error| CliError::unread(&path, error);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(failed)?;
    file.write_all(found.text().as_bytes()).map_err(failed)?;
    output::eprint(&text!(
        "{}: written, with {} of policies and {} of suites\n",
        path_text(&path),
        counted(found.policies.len(), "path", "paths"),
        found.suites.len()
    ));
    Ok(ExitStatus::Success)
}

/// Policies and suites in a directory, by paths relative to it.
struct Found {
    policies: Vec<String>,
    suites: Vec<String>,
}

impl Found {
    fn below(directory: &Path) -> Result<Self, CliError> {
        let (mut policies, mut suites) = (BTreeSet::new(), BTreeSet::new());
        for path in FileSelection::default().files(directory)? {
            // What cannot be read now is no reason not to begin.
            let Ok(file) = permit(&path).and_then(|()| read_file(&path)) else {
                continue;
            };
            let relative = path.strip_prefix(directory).unwrap_or(&path);
            if may_be_suite(&file.content) {
                suites.insert(home(relative));
            } else if has_policy(&file.content) {
                policies.insert(home(relative));
            }
        }
        Ok(Found {
            policies: topmost(policies),
            suites: topmost(suites),
        })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "# What `pratique` checks, reviews and tests in this repository: docs/configuration.md describes all fields.\n\
             apiVersion: {API_VERSION}\nkind: {KIND}\n"
        );
        let mut list = |name: &str, about: &str, paths: &[String], example: &str| {
            let _ = writeln!(text, "# {about}");
            match paths {
                [] => {
                    let _ = writeln!(text, "# {name}: [{example}]");
                }
                paths => {
                    let _ = writeln!(text, "{name}:");
                    for path in paths {
                        let quoted = serde_json::Value::from(path.as_str());
                        let _ = writeln!(text, "- {quoted}");
                    }
                }
            }
        };
        list(
            "policies",
            "Policies, bindings and webhook configurations.",
            &self.policies,
            "policies",
        );
        list("suites", "Suites of tests.", &self.suites, "tests");
        list(
            "inputs",
            "Objects to review, such as rendered charts.",
            &[],
            "rendered",
        );
        list(
            "objects",
            "Objects of the cluster: namespaces, params, roles.",
            &[],
            "cluster",
        );
        list("deny", "Warnings that fail the commands.", &[], "warnings");
        text
    }
}

/// The directory of a file; a file at the top is named itself.
fn home(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => path.to_owned(),
    }
}

/// The paths that are not below others.
fn topmost(paths: BTreeSet<PathBuf>) -> Vec<String> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|above| path.starts_with(above)) {
            kept.push(path);
        }
    }
    kept.iter().map(|path| path_text(path)).collect()
}

/// Whether a file has a policy, a binding or a webhook configuration: a cheap test, for a first proposal.
fn has_policy(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let is_kind = |line: &str| {
        let (_, kind) = line
            .split_once("kind\"")
            .or_else(|| line.split_once("kind:"))
            .unwrap_or_default();
        let kind = kind.trim_matches(|character: char| !character.is_ascii_alphabetic());
        [
            "AdmissionPolicy",
            "AdmissionPolicyBinding",
            "WebhookConfiguration",
        ]
        .iter()
        .any(|suffix| kind.ends_with(suffix))
    };
    text.contains("admissionregistration.k8s.io/") && text.lines().any(is_kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_others_are_dropped() {
        let paths = ["a", "a/b", "ab", "c/d"].map(PathBuf::from);
        assert_eq!(topmost(paths.into()), ["a", "ab", "c/d"]);
    }

    #[test]
    fn policies_are_recognized_by_their_kind() {
        let group = "apiVersion: admissionregistration.k8s.io/v1\n";
        assert!(has_policy(
            format!("{group}kind: ValidatingAdmissionPolicy\n").as_bytes()
        ));
        assert!(has_policy(
            br#"{"apiVersion": "admissionregistration.k8s.io/v1",
                "kind": "MutatingWebhookConfiguration"
                }"#
        ));
        assert!(!has_policy(b"kind: ValidatingAdmissionPolicy\n"));
        assert!(!has_policy(format!("{group}kind: Other\n").as_bytes()));
    }
}
