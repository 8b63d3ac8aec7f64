//! Places of inputs, as messages name them.

use std::borrow::Cow;
use std::path::{self, Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;
use std::{env, fs};

use pratique_manifest::{Location, path_text};

/// Where a file is, whichever path leads to it from the working directory; links are not resolved.
pub(crate) fn absolute_path(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The working directory below the one of a job of GitHub, if it is another.
static BELOW_WORKSPACE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let workspace = fs::canonicalize(env::var_os("GITHUB_WORKSPACE")?).ok()?;
    let working = env::current_dir().and_then(fs::canonicalize).ok()?;
    let below = working.strip_prefix(workspace).ok()?;
    (!below.as_os_str().is_empty()).then(|| below.to_owned())
});

/// A file as GitHub names it, for which relative paths begin at the top of the repository, wherever a command runs.
pub(crate) fn repository_path(file: &str) -> Cow<'_, str> {
    below(BELOW_WORKSPACE.as_deref(), file)
}

fn below<'f>(working: Option<&Path>, file: &'f str) -> Cow<'f, str> {
    let path = file.trim_start_matches("./");
    // What is in angle brackets, such as standard input, is no file.
    let is_elsewhere = path.is_empty() || path.starts_with(['/', '<']);
    let Some(working) = working.filter(|_| !is_elsewhere) else {
        return path.into();
    };
    let mut parts = PathBuf::new();
    for part in working.join(path).components() {
        match part {
            Component::ParentDir if parts.pop() => {}
            Component::CurDir => {}
            // What is above the top has no name there.
            Component::ParentDir => return path.into(),
            part => parts.push(part),
        }
    }
    path_text(&parts).into()
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

    #[test]
    fn files_are_named_from_the_top() {
        for (working, file, expected) in [
            (None, "./a/b.yaml", "a/b.yaml"),
            (None, "../b.yaml", "../b.yaml"),
            (Some("deploy/shop"), "./a/b.yaml", "deploy/shop/a/b.yaml"),
            (Some("deploy/shop"), "../b.yaml", "deploy/b.yaml"),
            (Some("deploy"), "../../b.yaml", "../../b.yaml"),
            (Some("deploy"), "/etc/b.yaml", "/etc/b.yaml"),
            (Some("deploy"), "<stdin>", "<stdin>"),
            (Some("deploy"), "", ""),
        ] {
            assert_eq!(
                below(working.map(Path::new), file),
                expected,
                "{working:?} {file}"
            );
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
