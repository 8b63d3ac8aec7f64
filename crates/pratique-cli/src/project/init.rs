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
use crate::input::sources::report_sources;
use crate::output;
use crate::output::counted_nouns::{counted, first_names};
use crate::output::text::text;

/// How many files are named that are not taken.
const NAMED: usize = 5;

/// Writes the file; an existing one is never overwritten. Where there is nothing to name, nothing is written.
pub(crate) fn run(arguments: &InitArguments) -> Result<ExitStatus, CliError> {
    let directory = &arguments.directory;
    let contents = DirectoryContents::read(directory)?;
    let path = directory.join(FILE);
    let failed = |error| CliError::unread(&path, error);
    if contents.is_empty() {
        output::eprint(&text!(
            "{}: there are no policies, suites, objects, charts or kustomizations: nothing is written\n",
            path_text(directory)
        ));
        contents.tell_omissions();
        return Ok(ExitStatus::Undecided);
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(failed)?;
    file.write_all(contents.to_text().as_bytes()).map_err(failed)?;
    output::eprint(&text!(
        "{}: written, with {} of policies, {} of suites, {} of objects to review, {} of charts and kustomizations to render and {} of \
         objects of the cluster\n",
        path_text(&path),
        counted(contents.policies.len(), "path", "paths"),
        contents.suites.len(),
        contents.inputs.len(),
        contents.rendered.len(),
        contents.objects.len()
    ));
    contents.tell_omissions();
    if !contents.rendered.is_empty() {
        output::eprint(&text!(
            "  = help: `review --render PATH` renders them; the file has a section for it, in comments, as rendering runs Helm and \
             Kustomize, for which it has to be trusted: --trust-project-file\n"
        ));
    }
    Ok(ExitStatus::Success)
}

impl DirectoryContents {
    /// The file that names what there is.
    fn to_text(&self) -> String {
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
        if !self.rendered.is_empty() {
            // In a file that is not trusted, it would be refused, and every command with it.
            text.push_str(
                "# To render charts and kustomizations, remove the signs before these lines, and give `--trust-project-file`.\n\
                 # review:\n#   render: true\n#   inputs:\n",
            );
            for path in self.inputs.iter().chain(&self.rendered) {
                let _ = writeln!(text, "#   - {}", serde_json::Value::from(path.as_str()));
            }
        }
        text
    }

    /// Tells what is there and not named.
    fn tell_omissions(&self) {
        if self.parts > 0 {
            output::eprint(&text!(
                "not named: {} below charts and kustomizations, which are seen as these render them\n",
                counted(self.parts, "file with objects", "files with objects")
            ));
        }
        if !self.unknown.is_empty() {
            output::eprint(&text!(
                "not named: {}: {}\n",
                counted(
                    self.unknown.len(),
                    "file without an object of the API",
                    "files without an object of the API"
                ),
                first_names(&self.unknown, NAMED)
            ));
        }
        report_sources(&self.sources);
    }
}
