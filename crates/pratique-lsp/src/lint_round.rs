//! Lints of what has changed. They try policies over hundreds of objects, which takes longer than all else that is said of an edit: what
//! loading finds is published before them, and the next message of the client ends them.

use std::collections::BTreeMap;

use crate::diagnostics::FileFindings;
use crate::server::{LspError, LspServer};

/// The directories whose lints are due, with the files of which something is published after them, and whether they were published
/// already with what loading has found.
#[derive(Debug, Default)]
pub(crate) struct DueLints {
    directories: BTreeMap<String, BTreeMap<String, bool>>,
}

impl DueLints {
    /// Adds a file of a directory whose lints are due.
    pub(crate) fn add(&mut self, directory: &str, file: String, was_published: bool) {
        let files = self.directories.entry(directory.to_owned()).or_default();
        files.insert(file, was_published);
    }
}

impl LspServer<'_> {
    /// Publishes what lints find in what has changed. What comes from the client in between may end this, to be done again later.
    pub(crate) fn lint_changed(&mut self, may_be_interrupted: bool) -> Result<(), LspError> {
        while let Some(directory) = self.due_lints.directories.keys().next().cloned() {
            if !self.lint_directory(&directory, may_be_interrupted)? {
                break;
            }
        }
        Ok(())
    }

    /// The same in one directory; gives whether the lints ran to their end.
    pub(crate) fn lint_directory(
        &mut self,
        directory: &str,
        may_be_interrupted: bool,
    ) -> Result<bool, LspError> {
        if let Some(analysis) = self.analyses.get_mut(directory)
            && self.due_lints.directories.contains_key(directory)
            && !self.analyzer.lint(analysis, may_be_interrupted)
        {
            return Ok(false);
        }
        let files = self.due_lints.directories.remove(directory);
        for (file, was_published) in files.into_iter().flatten() {
            let is_known = was_published && !self.findings_in(&file).is_some_and(FileFindings::has_warnings);
            if !is_known {
                self.publish(&file)?;
            }
        }
        Ok(true)
    }
}
