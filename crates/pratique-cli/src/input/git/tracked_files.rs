//! The files that a git repository tracks, as its index has them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::repository::GitRepository;
use super::{MAX_LIST, path_of, unexpected};
use crate::exit::CliError;

/// Files of the index by their paths from the top, and other repositories within this one by theirs.
#[derive(Debug, Default)]
pub(crate) struct TrackedFiles(BTreeSet<PathBuf>);

impl TrackedFiles {
    /// Those at a path from the top of a repository, or below it.
    pub(crate) fn below(repository: &GitRepository, path: &Path) -> Result<Self, CliError> {
        let mut arguments: Vec<OsString> = ["ls-files", "-z", "--full-name"].map(OsString::from).into();
        if !path.as_os_str().is_empty() {
            arguments.push("--".into());
            arguments.push(path.into());
        }
        let list = repository.run(arguments, MAX_LIST)?;
        let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let paths = names.map(|name| path_of(name).ok_or_else(unexpected));
        paths.collect::<Result<_, _>>().map(TrackedFiles)
    }

    /// Whether a path is tracked, or one below it. What lies in another repository within this one counts as tracked: the
    /// `.gitignore` files around it do not concern it.
    pub(crate) fn has(&self, path: &Path) -> bool {
        if path.ancestors().any(|ancestor| self.0.contains(ancestor)) {
            return true;
        }
        let after = (Bound::Excluded(path), Bound::Unbounded);
        let next = self.0.range::<Path, _>(after).next();
        next.is_some_and(|next| next.starts_with(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_tracked_files_count() {
        let tracked = TrackedFiles(["a/b/c.yaml", "a-b.yaml", "module"].map(PathBuf::from).into());
        for (path, expected) in [
            ("a/b/c.yaml", true),
            ("a/b", true),
            ("a", true),
            ("a-b.yaml", true),
            ("a/d.yaml", false),
            ("a/b/c", false),
            ("module/x/y.yaml", true),
            ("modul", false),
        ] {
            assert_eq!(tracked.has(Path::new(path)), expected, "{path}");
        }
    }
}
