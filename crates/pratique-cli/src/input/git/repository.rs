//! Finds the git repository of a path, and runs `git` for it.
//!
//! What is reviewed may come from a pull request, and `git` by itself believes much of what it finds: a directory with `HEAD`,
//! `objects` and `refs` is a repository to it wherever it lies, and the `config` in it names programs. So the repository is found
//! by a `.git`, which cannot be committed, and is named to every run, with no setting that runs something.

use pratique_manifest::without_dots;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use super::unexpected;
use crate::exit::CliError;

/// How much is shown of an error message, in bytes.
const MAX_MESSAGE: u64 = 2 << 10;
/// The longest path of a repository, in bytes.
const MAX_PATH: u64 = 16 << 10;

/// Settings that count instead of those of any file, so that nothing is run, fetched or watched.
const SETTINGS: [&str; 16] = [
    "safe.bareRepository=explicit",
    "protocol.allow=never",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "core.alternateRefsCommand=false",
    "core.untrackedCache=false",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "log.showSignature=false",
];

/// Variables of the environment that name files of settings of the user, and settings. All others that begin with `GIT_` are
/// dropped: they could name another repository, another index, or programs.
const KEPT_VARIABLES: [&str; 6] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
];

/// A repository with files.
#[derive(Clone, Debug)]
pub(crate) struct GitRepository {
    /// The directory that has the `.git`, without links.
    top: PathBuf,
    /// What the `.git` is or leads to.
    git_directory: PathBuf,
}

impl GitRepository {
    /// The repository that a path belongs to, and the path from its top: that around the working directory if the path is below
    /// its top, and otherwise that around the path. The path need not exist any more.
    pub(super) fn around(path: &Path) -> Result<(Self, PathBuf), CliError> {
        let unreadable = |error| CliError::unread(path, error);
        let working = env::current_dir()
            .and_then(fs::canonicalize)
            .map_err(unreadable)?;
        let absolute = without_dots(&working.join(path));
        let of_working = top_around(&working).and_then(|top| {
            let below = below(&absolute, top)?;
            Some((top.to_owned(), below))
        });
        let (top, below) = of_working
            .or_else(|| of_existing(&absolute))
            .ok_or_else(|| CliError::Git {
                why: format!("{} is not in a repository", crate::input::format_path(path)),
            })?;
        Ok((GitRepository::at(top)?, below))
    }

    /// The repository whose `.git` is in a directory without links.
    pub(crate) fn at(top: PathBuf) -> Result<Self, CliError> {
        // `git` itself says what the `.git` leads to, and whether the user trusts its owner.
        let mut git = command(&top);
        if let Some(above) = top.parent() {
            git.env("GIT_CEILING_DIRECTORIES", above);
        }
        let output = run(
            git,
            ["rev-parse", "--absolute-git-dir"].map(OsString::from),
            MAX_PATH,
        )?;
        let name = output.strip_suffix(b"\n").unwrap_or(&output);
        let git_directory = super::path_of(name).ok_or_else(unexpected)?;
        Ok(GitRepository { top, git_directory })
    }

    /// Runs `git` at the top; gives up to `limit` bytes of output.
    pub(super) fn run(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
        limit: u64,
    ) -> Result<Vec<u8>, CliError> {
        run(self.command(), arguments, limit)
    }

    /// The program at the top, for this repository.
    pub(super) fn command(&self) -> Command {
        let mut git = command(&self.top);
        let option = |name: &str, path: &Path| {
            let mut option = OsString::from(name);
            option.push(path);
            option
        };
        git.arg(option("--git-dir=", &self.git_directory))
            .arg(option("--work-tree=", &self.top));
        git
    }
}

/// The nearest directory around one, which has no links, that has a `.git`.
pub(crate) fn top_around(directory: &Path) -> Option<&Path> {
    let mut around = directory.ancestors();
    around.find(|ancestor| is_git(&ancestor.join(".git")))
}

/// Whether a path is a `.git`: a directory of a repository, or a file that names one. `git` passes over others as well.
// Upstream: git's setup.c, is_git_directory
fn is_git(path: &Path) -> bool {
    path.is_file()
        || (path.join("HEAD").symlink_metadata().is_ok()
            && path.join("objects").is_dir()
            && path.join("refs").is_dir())
}

/// A path from a directory that it is below of, by the names in it: a link that was committed leads nowhere else.
fn below(absolute: &Path, top: &Path) -> Option<PathBuf> {
    let ancestors: Vec<&Path> = absolute.ancestors().collect();
    let mut from_root = ancestors.into_iter().rev();
    let is_top =
        |ancestor: &&Path| fs::canonicalize(ancestor).is_ok_and(|canonical_path| canonical_path == top);
    let ancestor = from_root.find(is_top)?;
    absolute.strip_prefix(ancestor).ok().map(Path::to_owned)
}

/// The top around a path, or around the nearest directory around it that exists, and the path from there.
fn of_existing(absolute: &Path) -> Option<(PathBuf, PathBuf)> {
    let existing = absolute.ancestors().find(|ancestor| ancestor.is_dir())?;
    let rest = absolute.strip_prefix(existing).ok()?;
    let existing = fs::canonicalize(existing).ok()?;
    let top = top_around(&existing)?;
    let below = existing.strip_prefix(top).ok()?.join(rest);
    Some((top.to_owned(), below))
}

/// The program in a directory, such that it asks nothing, runs nothing, fetches nothing and takes names literally.
fn command(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(["--no-pager", "--no-replace-objects", "--literal-pathspecs"]);
    for setting in SETTINGS {
        git.args(["-c", setting]);
    }
    for (name, _) in env::vars_os() {
        let name_text = name.to_string_lossy();
        let is_kept = KEPT_VARIABLES.iter().any(|kept| name_text.starts_with(kept));
        if name_text.starts_with("GIT_") && !is_kept {
            git.env_remove(&name);
        }
    }
    git.current_dir(directory)
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    git
}

/// Runs the program; gives up to `limit` bytes of output.
fn run(
    mut git: Command,
    arguments: impl IntoIterator<Item = OsString>,
    limit: u64,
) -> Result<Vec<u8>, CliError> {
    let mut child = git
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(super::failed)?;
    let messages = child
        .stderr
        .take()
        .map(|stderr| thread::spawn(move || message(stderr)));
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout
            .take(limit.saturating_add(1))
            .read_to_end(&mut output)
            .map_err(super::failed)?;
    }
    let is_too_long = u64::try_from(output.len()).map_or(true, |length| length > limit);
    if is_too_long {
        let _ = child.kill();
    }
    let status = child.wait().map_err(super::failed)?;
    let why = messages
        .and_then(|messages| messages.join().ok())
        .unwrap_or_default();
    if is_too_long {
        let why = format!("more than {limit} bytes of names");
        return Err(CliError::Git { why });
    }
    if status.success() {
        Ok(output)
    } else {
        Err(CliError::Git { why })
    }
}

/// The start of an error message; the rest is read and dropped, so that the program does not wait.
fn message(mut said: impl Read) -> String {
    let mut start = Vec::new();
    let _ = said.by_ref().take(MAX_MESSAGE).read_to_end(&mut start);
    let _ = io::copy(&mut said, &mut io::sink());
    let text = String::from_utf8_lossy(&start);
    text.trim().trim_start_matches("fatal: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_real_git_directory_is_one() {
        let top = env::temp_dir().join(format!("pratique-top-{}", std::process::id()));
        let inner = top.join("inner");
        fs::create_dir_all(inner.join(".git")).unwrap();
        for name in ["objects", "refs"] {
            fs::create_dir_all(top.join(".git").join(name)).unwrap();
            // As of a bare repository that was committed.
            fs::create_dir_all(inner.join(name)).unwrap();
        }
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(inner.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(top_around(&inner), Some(&*top));
        fs::remove_dir(inner.join(".git")).unwrap();
        fs::write(inner.join(".git"), "gitdir: ../.git\n").unwrap();
        assert_eq!(top_around(&inner), Some(&*inner));
        fs::remove_dir_all(&top).unwrap();
    }
}
