//! `pratique init`: writes a project file from what there is in a directory.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use pratique_manifest::path_text;
use pratique_state::API_VERSION;

use super::directory_contents::DirectoryContents;
use super::{FILE, KIND};
use crate::arguments::InitArguments;
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::counted::counted;
use crate::output::text::text;

/// Writes the file; an existing one is never overwritten.
pub(crate) fn run(arguments: &InitArguments) -> Result<ExitStatus, CliError> {
    let directory = &arguments.directory;
    let contents = DirectoryContents::read(directory)?;
    let path = directory.join(FILE);
    let failed = |error| CliError::unread(&path, error);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(failed)?;
    file.write_all(contents.text().as_bytes()).map_err(failed)?;
    output::eprint(&text!(
        "{}: written, with {} of policies, {} of suites, {} of objects to review and {} of objects of the cluster\n",
        path_text(&path),
        counted(contents.policies.len(), "path", "paths"),
        contents.suites.len(),
        contents.inputs.len(),
        contents.objects.len()
    ));
    Ok(ExitStatus::Success)
}

impl DirectoryContents {
    /// The file that names what there is.
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
            &self.inputs,
            "rendered",
        );
        list(
            "objects",
            "Objects of the cluster: namespaces, params, roles.",
            &self.objects,
            "cluster",
        );
        list("deny", "Warnings that fail the commands.", &[], "warnings");
        text
    }
}
