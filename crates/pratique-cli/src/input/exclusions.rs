//! Files that the user excludes, by patterns as in a `.gitignore`.

use pratique_manifest::without_dots;
use std::collections::BTreeSet;
use std::env;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::exit::CliError;

/// A pattern of paths: a name at any depth, or with a `/` a path from the working directory; one that ends with `/` matches
/// directories only, and one that begins with `!` includes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathPattern(String);

/// Why a text is no pattern.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatternError {
    /// It is empty.
    #[error("expected a pattern of paths, such as `kustomization.yaml`, `charts/*/templates` or `vendor/`")]
    Empty,
    /// It is not valid.
    #[error("{0}")]
    Glob(ignore::Error),
}

impl FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (_, pattern) = parts(text);
        if pattern.trim().trim_matches('/').is_empty() {
            return Err(PatternError::Empty);
        }
        let mut builder = GitignoreBuilder::new("/");
        builder.add_line(None, text).map_err(PatternError::Glob)?;
        builder.build().map_err(PatternError::Glob)?;
        Ok(PathPattern(text.to_owned()))
    }
}

/// The text of a pattern whose paths are from a directory, for a reader to whom they are from the working directory.
pub(crate) fn pattern_from(directory: &Path, text: &str) -> String {
    let (sign, pattern) = parts(text);
    if !is_anchored(pattern) || directory.as_os_str().is_empty() {
        return text.to_owned();
    }
    let directory = escaped(&directory.to_string_lossy());
    format!("{sign}{directory}/{}", pattern.trim_start_matches('/'))
}

/// The sign of a pattern, and the rest.
fn parts(text: &str) -> (&str, &str) {
    match text.strip_prefix('!') {
        Some(pattern) => ("!", pattern),
        None => ("", text),
    }
}

/// Whether a pattern is a path rather than a name.
fn is_anchored(pattern: &str) -> bool {
    pattern.trim_end_matches('/').contains('/') && !pattern.starts_with("**/")
}

/// A path in which no character has a meaning in patterns.
fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | '#') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// The paths that patterns exclude: the last pattern that matches a path counts.
#[derive(Debug)]
pub(crate) struct ExcludedPaths {
    patterns: Gitignore,
    /// What the user wrote, with the lines that it is.
    written: Vec<(String, Vec<String>)>,
    /// The lines that decided about a path.
    used: Mutex<BTreeSet<String>>,
    /// Whether they were asked about a path: standard input has none.
    is_asked: AtomicBool,
    working: PathBuf,
}

impl Default for ExcludedPaths {
    fn default() -> Self {
        ExcludedPaths {
            patterns: Gitignore::empty(),
            written: Vec::new(),
            used: Mutex::default(),
            is_asked: AtomicBool::default(),
            working: PathBuf::new(),
        }
    }
}

impl ExcludedPaths {
    /// # Errors
    /// There is no working directory, or the patterns are too large together.
    pub(super) fn new(patterns: &[PathPattern]) -> Result<Self, CliError> {
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let working = env::current_dir().map_err(|error| CliError::unread(Path::new("."), error))?;
        Self::from_directory(patterns, &working)
    }

    fn from_directory(patterns: &[PathPattern], working: &Path) -> Result<Self, CliError> {
        let unusable = |error: ignore::Error| CliError::Pattern {
            why: error.to_string(),
        };
        let mut builder = GitignoreBuilder::new("/");
        let mut written = Vec::new();
        for PathPattern(text) in patterns {
            let mut lines = lines(text, working);
            for line in &mut lines {
                // As the patterns are kept, by which those that decided are known.
                if !line.ends_with("\\ ") {
                    line.truncate(line.trim_end().len());
                }
                builder.add_line(None, line).map_err(unusable)?;
            }
            written.push((text.clone(), lines));
        }
        Ok(ExcludedPaths {
            patterns: builder.build().map_err(unusable)?,
            written,
            used: Mutex::default(),
            is_asked: AtomicBool::default(),
            working: working.to_owned(),
        })
    }

    /// Whether there is no pattern.
    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a path itself is excluded.
    pub(super) fn has(&self, path: &Path, is_directory: bool) -> bool {
        if self.is_empty() {
            return false;
        }
        self.is_asked.store(true, Ordering::Relaxed);
        let absolute = without_dots(&self.working.join(path));
        let decision = self.patterns.matched(names(&absolute), is_directory);
        if let Match::Ignore(glob) | Match::Whitelist(glob) = &decision {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            if !used.contains(glob.original()) {
                used.insert(glob.original().to_owned());
            }
        }
        decision.is_ignore()
    }

    /// The patterns that have decided about no path so far; none where they were asked about none.
    pub(super) fn unused(&self) -> Vec<String> {
        if !self.is_asked.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = self
            .written
            .iter()
            .filter(|(_, lines)| !lines.iter().any(|line| used.contains(line)));
        unused.map(|(pattern, _)| pattern.clone()).collect()
    }

    /// Whether a file is excluded, or a directory that it is in: from a path that the user names downward.
    pub(super) fn has_below(&self, root: &Path, file: &Path) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut around = file.ancestors().take_while(|ancestor| ancestor.starts_with(root));
        around.any(|ancestor| self.has(ancestor, ancestor != file))
    }
}

/// The lines that a pattern is, with paths from the root of the file system. A path that begins with `/` may be meant from
/// there already.
fn lines(text: &str, working: &Path) -> Vec<String> {
    let (sign, pattern) = parts(text);
    // What a `.gitignore` would take for a comment is a name here.
    let pattern = match pattern.strip_prefix('#') {
        Some(rest) => format!("\\#{rest}"),
        None => pattern.to_owned(),
    };
    if !is_anchored(&pattern) {
        return vec![format!("{sign}{pattern}")];
    }
    let is_from_root = pattern.starts_with('/');
    let mut from = names(working);
    let mut rest = pattern.trim_start_matches('/');
    while let Some(after) = rest.strip_prefix("../").or_else(|| rest.strip_prefix("./")) {
        if rest.starts_with("..") {
            from.pop();
        }
        rest = after;
    }
    let from = escaped(&from.to_string_lossy().replace('\\', "/"));
    let from_working = format!("{sign}/{from}/{rest}");
    if is_from_root {
        vec![format!("{sign}{pattern}"), from_working]
    } else {
        vec![from_working]
    }
}

/// The names of an absolute path, without its root.
fn names(absolute: &Path) -> PathBuf {
    let components = absolute.components();
    components
        .filter(|component| matches!(component, Component::Normal(_)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], file: &str, expected: bool) {
        let patterns: Vec<PathPattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
        let excluded = ExcludedPaths::from_directory(&patterns, Path::new("/srv/a[b]")).unwrap();
        let root = if file.starts_with('/') { "/srv/a[b]" } else { "" };
        let is_excluded = excluded.has_below(Path::new(root), Path::new(file));
        assert_eq!(is_excluded, expected, "{patterns:?} {file}");
    }

    #[test]
    fn patterns_are_those_of_git_from_the_working_directory() {
        check(&["kustomization.yaml"], "a/b/kustomization.yaml", true);
        check(&["kustomization.yaml"], "a/b/kustomization.yml", false);
        check(&["*.gen.yaml"], "a/b.gen.yaml", true);
        check(&["vendor/"], "a/vendor/b.yaml", true);
        check(&["vendor/"], "vendor", false);
        check(&["a/*.yaml"], "a/b.yaml", true);
        check(&["a/*.yaml"], "x/a/b.yaml", false);
        check(&["a/*.yaml"], "a/b/c.yaml", false);
        check(&["/a/b.yaml"], "a/b.yaml", true);
        check(&["/srv/a\\[b\\]/a/b.yaml"], "a/b.yaml", true);
        check(&["./a/b.yaml"], "a/b.yaml", true);
        check(&["../x/b.yaml"], "../x/b.yaml", true);
        check(&["a/b.yaml"], "/srv/a[b]/a/b.yaml", true);
        check(&["a/b.yaml"], "./a/c/../b.yaml", true);
        check(&["**/test/**"], "a/test/b/c.yaml", true);
        check(&["*.yaml", "!keep.yaml"], "a/keep.yaml", false);
        check(&["*.yaml", "!keep.yaml"], "a/b.yaml", true);
        check(&["#a.yaml"], "#a.yaml", true);
        check(&["{a,b}.yaml"], "b.yaml", true);
    }

    #[test]
    fn patterns_that_decide_nothing_are_known() {
        let patterns = [
            "a.yaml",
            "*.yaml",
            "x/y.yaml",
            "!keep.yaml",
            "# b.yaml",
            "b.json ",
        ];
        let patterns: Vec<PathPattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
        let excluded = ExcludedPaths::from_directory(&patterns, Path::new("/srv")).unwrap();
        assert!(excluded.unused().is_empty(), "nothing was asked");
        for file in ["b.yaml", "keep.yaml", "a.yml", "b.json"] {
            excluded.has(Path::new(file), false);
        }
        assert_eq!(excluded.unused(), ["a.yaml", "x/y.yaml", "# b.yaml"]);
    }

    #[test]
    fn patterns_of_a_file_are_from_its_directory() {
        for (directory, text, expected) in [
            ("", "a/b", "a/b"),
            ("..", "a/b", "../a/b"),
            ("..", "/a", "../a"),
            ("..", "!a/b", "!../a/b"),
            ("..", "a.yaml", "a.yaml"),
            ("..", "**/a", "**/a"),
            ("x*", "a/b", "x\\*/a/b"),
        ] {
            assert_eq!(
                pattern_from(Path::new(directory), text),
                expected,
                "{directory} {text}"
            );
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["", "!", "/", " ", "{a"] {
            assert!(text.parse::<PathPattern>().is_err(), "{text}");
        }
    }
}
