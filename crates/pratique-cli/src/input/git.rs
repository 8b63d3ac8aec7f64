//! Files as a revision of a git repository had them, read with the program `git`.
//!
//! Names in a repository, revisions and what the program prints are untrusted: names are taken literally, lists of files and
//! messages are bounded, and nothing is run that a repository configures: no hooks, filters or external diffs.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use crate::exit::CliError;

/// The maximum size of a list of files, in bytes.
const MAX_LIST: u64 = 64 << 20;
/// How much is shown of an error message, in bytes.
const MAX_MESSAGE: u64 = 2 << 10;
/// The longest line before the content of a file, in bytes.
const MAX_HEADER: u64 = 1 << 10;

/// A directory in a git repository at a revision.
pub(crate) struct Revision {
    /// A directory that exists, and how it was written.
    directory: PathBuf,
    prefix: PathBuf,
    /// The hash of its commit.
    commit: String,
}

/// A file of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RevisionFile {
    /// Its path, relative to the same directory as the path that was asked for.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: FileKind,
}

/// The kind of a file of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Content, with its hash and its size in bytes.
    Content { hash: String, size: u64 },
    /// A symbolic link.
    Link,
}

impl Revision {
    /// The revision with a name, in the repository around a path. The path need not exist any more.
    pub(crate) fn of(name: &str, path: &Path) -> Result<Self, CliError> {
        let prefix = existing(path);
        let directory = match prefix.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => prefix.clone(),
        };
        let object = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &object];
        let found = run(&directory, arguments.map(OsString::from), MAX_HEADER);
        let text = match found {
            Ok(text) => text,
            // Quiet means: no message where there is no such revision.
            Err(CliError::Git { why }) if why.is_empty() => {
                let why = format!("there is no revision {name}");
                return Err(CliError::Git { why });
            }
            Err(error) => return Err(error),
        };
        let commit = String::from_utf8_lossy(&text).trim().to_owned();
        match is_hash(&commit) {
            true => Ok(Revision {
                directory,
                prefix,
                commit,
            }),
            false => Err(unexpected()),
        }
    }

    /// The files at a path: those below it, if it is a directory.
    pub(crate) fn files(&self, path: &Path) -> Result<Vec<RevisionFile>, CliError> {
        let below = path.strip_prefix(&self.prefix).unwrap_or(path);
        let mut arguments: Vec<OsString> = ["ls-tree", "-r", "-z", "-l", &self.commit]
            .map(OsString::from)
            .into();
        if !below.as_os_str().is_empty() && below != Path::new(".") {
            arguments.push("--".into());
            arguments.push(below.into());
        }
        let list = run(&self.directory, arguments, MAX_LIST)?;
        let entries = list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let files = entries.filter_map(|entry| self.file(entry).transpose());
        files.collect()
    }

    /// A file of a line `MODE TYPE HASH SIZE<tab>NAME`; `None` for another repository within this one.
    fn file(&self, entry: &[u8]) -> Result<Option<RevisionFile>, CliError> {
        let tab = entry
            .iter()
            .position(|byte| *byte == b'\t')
            .ok_or_else(unexpected)?;
        let (head, name) = entry.split_at(tab);
        let name = path_of(name.get(1..).unwrap_or_default()).ok_or_else(unexpected)?;
        let head = std::str::from_utf8(head).map_err(|_| unexpected())?;
        let mut fields = head.split_ascii_whitespace();
        let (mode, kind, hash, size) = (fields.next(), fields.next(), fields.next(), fields.next());
        let kind = match (mode, kind) {
            (Some("120000"), _) => FileKind::Link,
            (_, Some("blob")) => FileKind::Content {
                hash: hash
                    .filter(|hash| is_hash(hash))
                    .ok_or_else(unexpected)?
                    .to_owned(),
                size: size.and_then(|size| size.parse().ok()).ok_or_else(unexpected)?,
            },
            _ => return Ok(None),
        };
        let path = self.prefix.join(name);
        Ok(Some(RevisionFile { path, kind }))
    }

    /// Starts to read contents.
    pub(crate) fn contents(&self) -> Result<Contents, CliError> {
        let mut child = git(&self.directory)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(unexpected)?;
        Ok(Contents {
            child,
            input,
            output: BufReader::new(output),
        })
    }
}

/// Reads contents of files one after the other.
pub(crate) struct Contents {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Contents {
    /// The content with a hash and a size.
    pub(crate) fn read(&mut self, hash: &str, size: u64) -> Result<Vec<u8>, CliError> {
        writeln!(self.input, "{hash}").map_err(failed)?;
        let mut header = String::new();
        self.output
            .by_ref()
            .take(MAX_HEADER)
            .read_line(&mut header)
            .map_err(failed)?;
        if header.trim_end() != format!("{hash} blob {size}") {
            return Err(unexpected());
        }
        let mut content = Vec::new();
        let output = self.output.by_ref();
        output.take(size).read_to_end(&mut content).map_err(failed)?;
        let mut end = [0];
        self.output.read_exact(&mut end).map_err(failed)?;
        match u64::try_from(content.len()) {
            Ok(length) if length == size => Ok(content),
            _ => Err(unexpected()),
        }
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The directory of a path, or the nearest one around it that exists; empty for the current one.
fn existing(path: &Path) -> PathBuf {
    let mut around = path.ancestors();
    around
        .find(|ancestor| ancestor.is_dir())
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// The program, such that it asks nothing, fetches nothing and takes names literally.
fn git(directory: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("--no-pager")
        .arg("--literal-pathspecs")
        .arg("-C")
        .arg(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("LC_ALL", "C");
    git
}

/// Runs the program; gives up to `limit` bytes of output.
fn run(
    directory: &Path,
    arguments: impl IntoIterator<Item = OsString>,
    limit: u64,
) -> Result<Vec<u8>, CliError> {
    let mut child = git(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let messages = child
        .stderr
        .take()
        .map(|stderr| thread::spawn(move || message(stderr)));
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout
            .take(limit.saturating_add(1))
            .read_to_end(&mut output)
            .map_err(failed)?;
    }
    let is_too_long = u64::try_from(output.len()).map_or(true, |length| length > limit);
    if is_too_long {
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let why = messages
        .and_then(|messages| messages.join().ok())
        .unwrap_or_default();
    match status.success() {
        _ if is_too_long => Err(CliError::Git {
            why: format!("more than {} MiB of file names", MAX_LIST >> 20),
        }),
        true => Ok(output),
        false => Err(CliError::Git { why }),
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

fn failed(error: io::Error) -> CliError {
    CliError::unread("git", error)
}

fn unexpected() -> CliError {
    CliError::Git {
        why: "it answers in a form that is not known".to_owned(),
    }
}

/// Whether a text is a hash, of SHA-1 or SHA-256.
fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere not all names are paths")]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    Some(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(name).ok().map(PathBuf::from)
}
