//! Which files of the paths that a user names are read, in every command: one walk with its rules, what the user excludes, and
//! what was passed over.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::STDIN;
use super::exclusions::{ExcludedPaths, PathPattern};
use super::passed_over::{PassReason, PassedOver};
use super::walk::{self, WalkRules};
use crate::exit::CliError;
use crate::output::notice::{InputNotice, InputNotices};

/// Selects files, and keeps count of those that are passed over. Clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileSelection {
    excluded: Arc<ExcludedPaths>,
    passed_over: Arc<Mutex<PassedOver>>,
    notices: Arc<Mutex<InputNotices>>,
}

impl FileSelection {
    /// A selection without what patterns exclude.
    ///
    /// # Errors
    /// The patterns cannot be used.
    pub(crate) fn new(patterns: &[PathPattern]) -> Result<Self, CliError> {
        Ok(FileSelection {
            excluded: Arc::new(ExcludedPaths::new(patterns)?),
            passed_over: Arc::default(),
            notices: Arc::default(),
        })
    }

    /// The files with objects of a path: those of a directory and of the directories in it, in the order of their names, or
    /// the path itself. What a `.gitignore` names and git does not track is passed over; so are hidden files without an object, and
    /// hidden directories. Links to directories are not followed.
    pub(crate) fn files(&self, path: &Path) -> Result<Vec<PathBuf>, CliError> {
        self.walk(path, &walk::OBJECTS)
    }

    /// The files of a path that has audit logs. Nothing is passed over because of a `.gitignore`, which logs often stand in.
    pub(crate) fn log_files(&self, path: &Path) -> Result<Vec<PathBuf>, CliError> {
        self.walk(path, &walk::LOGS)
    }

    /// The files with policies of a path. As for a server, files whose name begins with a dot count.
    pub(crate) fn policy_files(&self, path: &Path) -> Result<Vec<PathBuf>, CliError> {
        self.walk(path, &walk::POLICIES)
    }

    /// The files of a path that may have suites, also in hidden directories: other programs find theirs there.
    pub(crate) fn suite_files(&self, path: &Path) -> Result<Vec<PathBuf>, CliError> {
        self.walk(path, &walk::SUITES)
    }

    fn walk(&self, path: &Path, rules: &WalkRules) -> Result<Vec<PathBuf>, CliError> {
        if path == Path::new(STDIN) {
            return Ok(vec![path.to_owned()]);
        }
        let is_directory = path.is_dir();
        if self.excluded.has(path, is_directory) {
            self.pass(path, PassReason::Excluded, is_directory);
            return Ok(Vec::new());
        }
        if is_directory {
            walk::files(path, rules, self)
        } else {
            Ok(vec![path.to_owned()])
        }
    }

    /// Whether a path below one that the user names is one that the walk for objects finds, by its name.
    pub(crate) fn selects_object_file(&self, root: &Path, file: &Path) -> bool {
        self.selects(root, file, &walk::OBJECTS)
    }

    /// The same for policies.
    pub(crate) fn selects_policy_file(&self, root: &Path, file: &Path) -> bool {
        self.selects(root, file, &walk::POLICIES)
    }

    fn selects(&self, root: &Path, file: &Path, rules: &WalkRules) -> bool {
        let reason = if self.excluded.has_below(root, file) {
            Some(PassReason::Excluded)
        } else if file == root {
            None
        } else {
            rules.reason_of_name(file.strip_prefix(root).unwrap_or(file))
        };
        if let Some(reason) = reason {
            self.pass(file, reason, false);
        }
        reason.is_none()
    }

    /// Whether the user excludes a file below a directory, which is counted.
    pub(crate) fn leaves_out(&self, directory: &Path, file: &Path) -> bool {
        let is_excluded = self.excluded.has_below(directory, file);
        if is_excluded {
            self.pass(file, PassReason::Excluded, false);
        }
        is_excluded
    }

    /// Whether the user excludes a path, which is not counted.
    pub(super) fn excludes(&self, path: &Path, is_directory: bool) -> bool {
        self.excluded.has(path, is_directory)
    }

    /// Whether the user excludes anything.
    pub(crate) fn excludes_something(&self) -> bool {
        !self.excluded.is_empty()
    }

    /// Counts what is passed over.
    pub(crate) fn pass(&self, path: &Path, reason: PassReason, is_directory: bool) {
        let mut passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        passed_over.add(path, reason, is_directory);
    }

    /// Tells a warning about a file on standard error, once however often the file is come by.
    pub(crate) fn tell(&self, notice: InputNotice) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.has(&notice) {
            notices.tell(notice);
        }
    }

    /// Adds a warning about a file that is told on standard error together with others.
    pub(crate) fn add(&self, notice: InputNotice) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !notices.has(&notice) {
            notices.add(notice);
        }
    }

    /// The warnings about files so far, which were told.
    pub(crate) fn notices(&self) -> Vec<InputNotice> {
        let notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        notices.list()
    }

    /// What was passed over so far.
    pub(crate) fn passed_over(&self) -> PassedOver {
        let passed_over = self.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        let mut passed_over = passed_over.clone();
        passed_over.unused_patterns = self.excluded.unused();
        passed_over
    }
}
