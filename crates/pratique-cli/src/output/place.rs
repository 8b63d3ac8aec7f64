//! Places of inputs, as messages name them.

use std::borrow::Cow;
use std::path::{self, Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;
use std::{env, fs};

use pratique_manifest::{Location, path_text};

use crate::input::permitted_paths::read_regular;

/// How much is read of the configuration of a repository, in bytes.
const MAX_CONFIG: u64 = 64 << 10;

/// Where a file is, whichever path leads to it from the working directory; links are not resolved.
pub(crate) fn absolute_path(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The directory of a job of GitHub, if the command runs in it or below.
static WORKSPACE: LazyLock<Option<JobWorkspace>> = LazyLock::new(|| {
    let root = fs::canonicalize(env::var_os("GITHUB_WORKSPACE")?).ok()?;
    let working = env::current_dir().and_then(fs::canonicalize).ok()?;
    Some(JobWorkspace {
        working: working.strip_prefix(&root).ok()?.to_owned(),
        root,
        repository: env::var("GITHUB_REPOSITORY").ok(),
    })
});

/// The directory that a job checks repositories out in.
#[derive(Debug)]
struct JobWorkspace {
    root: PathBuf,
    /// Where the command runs, below it.
    working: PathBuf,
    /// The repository whose change is looked at, `OWNER/NAME`.
    repository: Option<String>,
}

/// A file as GitHub names it, for which relative paths begin at the top of the repository, wherever a command runs and wherever in
/// its directory a job has checked the repository out.
pub(crate) fn repository_path(file: &str) -> Cow<'_, str> {
    let path = file.trim_start_matches("./");
    // What is in angle brackets, such as standard input, is no file.
    let is_elsewhere = path.is_empty() || path.starts_with(['/', '<']);
    match WORKSPACE.as_ref().filter(|_| !is_elsewhere) {
        Some(workspace) => workspace.name(path),
        None => path.into(),
    }
}

impl JobWorkspace {
    /// The name of a file by its path from the working directory.
    fn name<'f>(&self, path: &'f str) -> Cow<'f, str> {
        let mut parts = PathBuf::new();
        for part in self.working.join(path).components() {
            match part {
                Component::ParentDir if parts.pop() => {}
                Component::CurDir => {}
                // What is above the top has no name there.
                Component::ParentDir => return path.into(),
                part => parts.push(part),
            }
        }
        path_text(self.below_checkout(&parts).unwrap_or(&parts)).into()
    }

    /// The part of a path in the workspace that is below a checkout of the repository: a job that does not trust a change has two.
    fn below_checkout<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let repository = self.repository.as_deref()?;
        let mut directories: Vec<&Path> = path.ancestors().skip(1).collect();
        directories.pop();
        let mut outer = directories.into_iter().rev();
        let checkout = outer.find(|directory| is_clone(&self.root.join(directory), repository))?;
        path.strip_prefix(checkout).ok()
    }
}

/// Whether a directory is the top of a clone of a repository of a server. Its `.git` is no part of a change.
fn is_clone(directory: &Path, repository: &str) -> bool {
    let config = read_regular(directory.join(".git/config"), MAX_CONFIG).unwrap_or_default();
    let text = String::from_utf8_lossy(&config);
    let mut urls = text.lines().filter_map(|line| {
        let (name, url) = line.split_once('=')?;
        (name.trim() == "url").then(|| url.trim().trim_end_matches('/'))
    });
    urls.any(|url| {
        let url = url.strip_suffix(".git").unwrap_or(url);
        let server = url.strip_suffix(repository);
        server.is_some_and(|server| server.ends_with(['/', ':']))
    })
}

/// A file, and a line and a column in it; these are 0 where they are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InputPlace {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl InputPlace {
    /// The place that a text names, which [`place`](super::problems::place) wrote: `FILE:LINE:COLUMN`, or a file alone.
    pub(crate) fn parse(text: &str) -> Self {
        let number = |text: &str| u32::from_str(text).ok().filter(|number| *number > 0);
        let whole = text.rsplit_once(':').and_then(|(rest, column)| {
            let (file, line) = rest.rsplit_once(':')?;
            Some((file, number(line)?, number(column)?))
        });
        match whole {
            Some((file, line, column)) if !file.is_empty() => InputPlace {
                file: file.to_owned(),
                line,
                column,
            },
            _ => InputPlace {
                file: text.to_owned(),
                ..InputPlace::default()
            },
        }
    }

    /// The file, whichever path leads to it from the working directory; links are not resolved.
    pub(crate) fn absolute_file(&self) -> PathBuf {
        absolute_path(Path::new(&self.file))
    }

    /// Whether another one is the same, by whichever path.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_same_file = || self.file == other.file || self.absolute_file() == other.absolute_file();
        (self.line, self.column) == (other.line, other.column) && is_same_file()
    }

    /// The line, if it is known.
    pub(crate) fn known_line(&self) -> Option<u32> {
        Some(self.line).filter(|line| *line > 0)
    }
}

impl From<&Location> for InputPlace {
    fn from(location: &Location) -> Self {
        InputPlace {
            file: location.file.to_string(),
            line: location.start.line,
            column: location.start.column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_to_one_file_are_one_place() {
        let current = std::env::current_dir().unwrap();
        let absolute = format!("{}:1:2", current.join("a/b.yaml").display());
        let [place, other, whole, next] =
            ["a/b.yaml:1:2", "./a/b.yaml:1:2", &absolute, "a/b.yaml:1:3"].map(InputPlace::parse);
        assert!(place.is_same(&other) && place.is_same(&whole) && !place.is_same(&next));
    }

    fn workspace(root: &Path, working: &str) -> JobWorkspace {
        JobWorkspace {
            root: root.to_owned(),
            working: working.into(),
            repository: Some("shop/deploy".to_owned()),
        }
    }

    #[test]
    fn files_are_named_from_the_top() {
        for (working, file, expected) in [
            ("", "a/b.yaml", "a/b.yaml"),
            ("", "../b.yaml", "../b.yaml"),
            ("deploy/shop", "a/./b.yaml", "deploy/shop/a/b.yaml"),
            ("deploy/shop", "../b.yaml", "deploy/b.yaml"),
            ("deploy", "../../b.yaml", "../../b.yaml"),
        ] {
            let named = workspace(Path::new("/nowhere"), working).name(file).into_owned();
            assert_eq!(named, expected, "{working:?} {file}");
        }
        for (file, expected) in [
            ("./a/b.yaml", "a/b.yaml"),
            ("/etc/b.yaml", "/etc/b.yaml"),
            ("<stdin>", "<stdin>"),
            ("", ""),
        ] {
            assert_eq!(repository_path(file), expected);
        }
    }

    #[test]
    fn files_of_checkouts_are_named_from_their_top() {
        let root = tempfile::tempdir().unwrap();
        for (directory, url) in [
            ("change", "https://github.com/shop/deploy"),
            ("in/target", "git@github.com:shop/deploy.git"),
            ("other", "https://github.com/workshop/deploy"),
            ("policies", "https://github.com/shop/policies"),
        ] {
            let git = root.path().join(directory).join(".git");
            fs::create_dir_all(&git).unwrap();
            fs::write(
                git.join("config"),
                format!("[remote \"origin\"]\n\turl = {url}\n"),
            )
            .unwrap();
        }
        for (working, file, expected) in [
            ("in/target", "../../change/rendered/a.yaml", "rendered/a.yaml"),
            ("in/target", "policies/a.yaml", "policies/a.yaml"),
            ("in", "target/a.yaml", "a.yaml"),
            ("", "other/a.yaml", "other/a.yaml"),
            ("", "policies/a.yaml", "policies/a.yaml"),
            ("", "a.yaml", "a.yaml"),
        ] {
            let named = workspace(root.path(), working).name(file).into_owned();
            assert_eq!(named, expected, "{working:?} {file}");
        }
    }

    #[test]
    fn texts_name_places() {
        for (text, file, line, column) in [
            ("a/b.yaml:3:7", "a/b.yaml", 3, 7),
            ("c:d.yaml:3:7", "c:d.yaml", 3, 7),
            ("a.yaml", "a.yaml", 0, 0),
            ("a.yaml:3", "a.yaml:3", 0, 0),
            ("/apis/apps/v1/deployments", "/apis/apps/v1/deployments", 0, 0),
            ("a.yaml:0:0", "a.yaml:0:0", 0, 0),
            (":3:7", ":3:7", 0, 0),
        ] {
            let place = InputPlace::parse(text);
            assert_eq!(
                (place.file.as_str(), place.line, place.column),
                (file, line, column)
            );
        }
    }
}
