//! Which files `git` ignores: the patterns of `.gitignore` files.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest `.gitignore` that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The patterns of the `.gitignore` files of a directory and of those around it.
#[derive(Clone, Debug)]
pub(super) struct Ignored {
    /// Where the directory is, without links.
    directory: PathBuf,
    /// The names that lead there.
    names: Vec<String>,
    /// From the outermost to the innermost.
    files: Vec<Arc<IgnoreFile>>,
}

/// A `.gitignore`.
#[derive(Debug)]
struct IgnoreFile {
    /// How many names lead to its directory.
    depth: usize,
    patterns: Vec<Pattern>,
}

/// A pattern.
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    /// The parts between slashes. A pattern without a slash matches at any depth: it begins with `**`.
    parts: Vec<String>,
    is_negated: bool,
    only_directories: bool,
}

impl Ignored {
    /// What is ignored in a directory, by its own file and by those above it, up to the root of its repository.
    pub(super) fn of(directory: &Path) -> Self {
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let root = directory
            .ancestors()
            .position(|ancestor| ancestor.join(".git").exists());
        let around = root.map_or(1, |above| above + 1);
        let around: Vec<PathBuf> = directory.ancestors().take(around).map(Path::to_owned).collect();
        let mut ignored = Ignored {
            names: names(&directory),
            directory,
            files: Vec::new(),
        };
        around
            .iter()
            .rev()
            .for_each(|directory| ignored.add(directory, names(directory).len()));
        ignored
    }

    /// What is ignored in a directory within that is no link.
    pub(super) fn within(&self, name: &OsStr) -> Self {
        let mut ignored = self.clone();
        ignored.directory.push(name);
        ignored.names.push(name.to_string_lossy().into_owned());
        let directory = ignored.directory.clone();
        ignored.add(&directory, ignored.names.len());
        ignored
    }

    fn add(&mut self, directory: &Path, depth: usize) {
        let path = directory.join(".gitignore");
        let is_small = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
        if let (true, Ok(text)) = (is_small, fs::read_to_string(&path)) {
            let patterns: Vec<Pattern> = text.lines().filter_map(Pattern::of).collect();
            self.files.push(Arc::new(IgnoreFile { depth, patterns }));
        }
    }

    /// Whether an entry of the directory is ignored. The last pattern that matches counts, and inner files count before
    /// outer ones.
    pub(super) fn ignores(&self, name: &OsStr, is_directory: bool) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let name = name.to_string_lossy();
        let names = self.names.iter().map(String::as_str);
        let path: Vec<&str> = names.chain([&*name]).collect();
        for file in self.files.iter().rev() {
            let below = path.get(file.depth..).unwrap_or_default();
            let found = file.patterns.iter().rev().find(|pattern| {
                (is_directory || !pattern.only_directories) && matches(&pattern.parts, below)
            });
            if let Some(pattern) = found {
                return !pattern.is_negated;
            }
        }
        false
    }
}

/// The names that lead to a directory.
fn names(directory: &Path) -> Vec<String> {
    directory
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect()
}

impl Pattern {
    /// The pattern of a line; `None` for blank lines and comments.
    fn of(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut text = line.trim_end_matches(' ');
        // A blank that is escaped counts.
        if text.ends_with('\\') && text.len() < line.len() {
            text = line.get(..=text.len())?;
        }
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        let is_negated = text.starts_with('!');
        text = text.strip_prefix('!').unwrap_or(text);
        let only_directories = text.ends_with('/');
        text = text.strip_suffix('/').unwrap_or(text);
        let is_anchored = text.contains('/');
        let mut parts: Vec<String> = text
            .trim_start_matches('/')
            .split('/')
            .map(str::to_owned)
            .collect();
        if !is_anchored {
            parts.insert(0, "**".to_owned());
        }
        Some(Pattern {
            parts,
            is_negated,
            only_directories,
        })
    }
}

/// Whether the parts of a pattern match those of a path. `**` stands for any number of parts.
fn matches(pattern: &[String], path: &[&str]) -> bool {
    // The states of the pattern that fit so far, which bounds the work.
    let mut fits = vec![false; pattern.len() + 1];
    let skip = |fits: &mut Vec<bool>| {
        for (at, part) in pattern.iter().enumerate() {
            // At the end of a pattern, `**` stands for at least one part.
            if part == "**"
                && at + 1 < pattern.len()
                && fits.get(at) == Some(&true)
                && let Some(next) = fits.get_mut(at + 1)
            {
                *next = true;
            }
        }
    };
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    skip(&mut fits);
    for name in path {
        let mut next = vec![false; fits.len()];
        for (at, part) in pattern
            .iter()
            .enumerate()
            .filter(|(at, _)| fits.get(*at) == Some(&true))
        {
            let is_any = part == "**";
            let to = if is_any && at + 1 < pattern.len() {
                at
            } else {
                at + 1
            };
            if (is_any || glob(part, name))
                && let Some(state) = next.get_mut(to)
            {
                *state = true;
            }
            if is_any
                && at + 1 == pattern.len()
                && let Some(state) = next.get_mut(at)
            {
                *state = true;
            }
        }
        skip(&mut next);
        fits = next;
    }
    fits.last() == Some(&true)
}

/// Whether a pattern with `*`, `?`, `[…]` and `\` matches a name.
fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut of_name) = (0, 0);
    // Where the last star is, and how much of the name it stands for.
    let mut star: Option<(usize, usize)> = None;
    while let Some(character) = name.get(of_name) {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, of_name));
            at += 1;
            continue;
        }
        match one(pattern.get(at..).unwrap_or_default(), *character) {
            Some(length) => (at, of_name) = (at + length, of_name + 1),
            None => match star {
                Some((starred, taken)) => {
                    star = Some((starred, taken + 1));
                    (at, of_name) = (starred + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .unwrap_or_default()
        .iter()
        .all(|character| *character == '*')
}

/// The length of the pattern's first element, if it matches a character.
fn one(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == character).then_some(2),
        ['[', rest @ ..] => {
            let is_negated = matches!(rest.first(), Some('!' | '^'));
            let set = rest.get(usize::from(is_negated)..)?;
            // A bracket that comes first is a member.
            let end = 1 + set.iter().skip(1).position(|member| *member == ']')?;
            let members = set.get(..end)?;
            let mut is_member = false;
            let mut at = 0;
            while let Some(first) = members.get(at) {
                match (members.get(at + 1), members.get(at + 2)) {
                    (Some('-'), Some(last)) => {
                        is_member |= (*first..=*last).contains(&character);
                        at += 3;
                    }
                    _ => {
                        is_member |= *first == character;
                        at += 1;
                    }
                }
            }
            (is_member != is_negated).then_some(1 + usize::from(is_negated) + end + 1)
        }
        [literal, ..] => (*literal == character).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, path: &str, expected: bool) {
        let pattern = Pattern::of(line).unwrap();
        let parts: Vec<&str> = path.split('/').collect();
        assert_eq!(matches(&pattern.parts, &parts), expected, "{line} {path}");
    }

    #[test]
    fn patterns_match_as_for_git() {
        check("a.yaml", "a.yaml", true);
        check("a.yaml", "x/a.yaml", true);
        check("/a.yaml", "x/a.yaml", false);
        check("x/a.yaml", "x/a.yaml", true);
        check("x/a.yaml", "y/x/a.yaml", false);
        check("*.yaml", "x/a.yaml", true);
        check("*.yaml", "x/a.json", false);
        check("a*b*c", "aXbYbZc", true);
        check("**/x/*", "a/b/x/c", true);
        check("x/**", "x/a/b", true);
        check("x/**", "x", false);
        check("x/**/y", "x/y", true);
        check("x/**/y", "x/a/b/y", true);
        check("[a-c]?", "b1", true);
        check("[!a-c]?", "b1", false);
        check("[]]", "]", true);
        check("\\*", "*", true);
        check("\\*", "a", false);
        check("build/", "build", true);
    }

    #[test]
    fn lines_are_patterns() {
        assert_eq!(Pattern::of("# no"), None);
        assert_eq!(Pattern::of("  "), None);
        let pattern = Pattern::of("!a/ ").unwrap();
        assert!(pattern.is_negated && pattern.only_directories);
        assert_eq!(pattern.parts, ["**", "a"]);
        assert_eq!(Pattern::of("a\\ ").unwrap().parts, ["**", "a\\ "]);
    }
}
