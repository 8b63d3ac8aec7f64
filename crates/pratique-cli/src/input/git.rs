//! Files as a revision of a git repository had them, read with the program `git`.
//!
//! Names in a repository, revisions and what the program prints are untrusted: names are taken literally, lists of files and
//! messages are bounded, and nothing is run that a repository configures ([`repository`]).

pub(crate) mod repository;
pub(crate) mod tracked_files;

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::exit::CliError;
use repository::GitRepository;

/// The maximum size of a list of files, in bytes.
const MAX_LIST: u64 = 64 << 20;
/// The longest line before the content of a file, in bytes.
const MAX_HEADER: u64 = 1 << 10;

/// A path in a git repository at a revision.
pub(crate) struct PathRevision {
    repository: GitRepository,
    /// The path as the user writes it, and from the top of the repository.
    path: PathBuf,
    below: PathBuf,
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
    /// Another repository within this one, which has files of its own.
    Repository,
}

impl PathRevision {
    /// The revision with a name, of a path. The path need not exist any more.
    pub(crate) fn resolve(name: &str, path: &Path) -> Result<Self, CliError> {
        let (repository, below) = GitRepository::around(path)?;
        let object = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &object];
        let output = match repository.run(arguments.map(OsString::from), MAX_HEADER) {
            Ok(output) => output,
            // Quiet means: no message where there is no such revision.
            Err(CliError::Git { why }) if why.is_empty() => {
                let why = format!("there is no revision {name}");
                return Err(CliError::Git { why });
            }
            Err(error) => return Err(error),
        };
        let commit = String::from_utf8_lossy(&output).trim().to_owned();
        if !is_hash(&commit) {
            return Err(unexpected());
        }
        Ok(PathRevision {
            repository,
            path: path.to_owned(),
            below,
            commit,
        })
    }

    /// The files at the path: those below it, if it is a directory.
    pub(crate) fn files(&self) -> Result<Vec<RevisionFile>, CliError> {
        let arguments = ["ls-tree", "-r", "-z", "-l", "--full-tree", &self.commit];
        let mut arguments: Vec<OsString> = arguments.map(OsString::from).into();
        if !self.below.as_os_str().is_empty() {
            arguments.push("--".into());
            arguments.push(self.below.clone().into());
        }
        let list = self.repository.run(arguments, MAX_LIST)?;
        let entries = list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        entries.map(|entry| self.file(entry)).collect()
    }

    /// A file of a line `MODE TYPE HASH SIZE<tab>NAME`.
    fn file(&self, entry: &[u8]) -> Result<RevisionFile, CliError> {
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
            (_, Some("commit")) => FileKind::Repository,
            _ => return Err(unexpected()),
        };
        let path = match name.strip_prefix(&self.below) {
            Ok(rest) if rest.as_os_str().is_empty() => self.path.clone(),
            Ok(rest) => self.path.join(rest),
            // A path within another repository is answered with the place of that.
            Err(_) => self.path.clone(),
        };
        Ok(RevisionFile { path, kind })
    }

    /// Starts to read contents.
    pub(crate) fn contents(&self) -> Result<ContentReader, CliError> {
        let mut child = self
            .repository
            .command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(unexpected)?;
        Ok(ContentReader {
            child,
            input,
            output: BufReader::new(output),
        })
    }
}

/// Reads contents of files one after the other.
pub(crate) struct ContentReader {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl ContentReader {
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

impl Drop for ContentReader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
