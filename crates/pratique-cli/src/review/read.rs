//! Reads the inputs, piece by piece.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem::Finder;
use pratique_manifest::path_text;
use pratique_stream::{Limits, Piece, Splitter, StreamError};

use super::ordered::{Closed, Intake};
use super::state::{ClusterState, WORDS, of_cluster};
use crate::exit::CliError;
use crate::input::open::open;
use crate::input::{self, InputError, STDIN, piece};

/// The inputs.
pub(super) struct Inputs(Vec<Input>);

/// A path of the user.
pub(super) struct Input {
    pub(super) path: PathBuf,
    /// Its files.
    pub(super) files: Vec<PathBuf>,
    /// Whether it does not exist any more.
    pub(super) is_gone: bool,
}

impl Input {
    /// The error of a path that does not exist.
    pub(super) fn missing(&self) -> CliError {
        CliError::Read {
            path: path_text(&self.path),
            error: ErrorKind::NotFound.into(),
        }
    }
}

/// A part of the inputs.
pub(super) enum Unit {
    /// A piece of a file, and what is known of the cluster.
    Piece {
        path: Arc<str>,
        piece: Piece,
        state: Arc<ClusterState>,
    },
    /// The rest of a file cannot be read.
    Fault(InputError),
    /// A file ends.
    EndOfFile,
    /// A path of the user ends.
    EndOfPath(String),
}

impl Inputs {
    /// The files of some paths, which exist, or existed at the revision `since`.
    pub(super) fn of(paths: &[PathBuf], since: Option<&str>) -> Result<Self, CliError> {
        let input = |path: &PathBuf| {
            let found = match path == Path::new(STDIN) {
                true => Ok(()),
                false => fs::metadata(path).map(drop),
            };
            let is_gone = match found {
                Ok(()) => false,
                Err(error) if error.kind() == ErrorKind::NotFound && since.is_some() => true,
                Err(error) => {
                    let path = path_text(path);
                    return Err(CliError::Read { path, error });
                }
            };
            Ok(Input {
                files: match is_gone {
                    true => Vec::new(),
                    false => input::files(path)?,
                },
                path: path.clone(),
                is_gone,
            })
        };
        paths.iter().map(input).collect::<Result<_, _>>().map(Inputs)
    }

    /// All paths.
    pub(super) fn all(&self) -> &[Input] {
        &self.0
    }

    /// Adds the namespaces and definitions of all files to what is known. Those of standard input and other pipes count
    /// from where they are.
    pub(super) fn survey(&self, limits: Limits, state: &mut ClusterState) {
        for file in self.0.iter().flat_map(|input| &input.files) {
            // What cannot be read is told when it is reviewed.
            if file != Path::new(STDIN) && mentions_cluster(file).unwrap_or_default() {
                let path: Arc<str> = path_text(file).into();
                let Ok(stream) = open(file) else { continue };
                let pieces = Splitter::new(stream.input, limits).map_while(Result::ok);
                for piece in pieces.filter(is_of_cluster) {
                    state.add(of_cluster(piece::read(&path, &piece).given));
                }
            }
        }
    }

    /// Gives all units in order.
    pub(super) fn give<R>(self, limits: Limits, mut state: Arc<ClusterState>, intake: &Intake<Unit, R>) {
        for input in self.0.iter().filter(|input| !input.is_gone) {
            for file in &input.files {
                if give_file(file, limits, &mut state, intake).is_err() {
                    return;
                }
            }
            if intake.add(Unit::EndOfPath(path_text(&input.path))).is_err() {
                return;
            }
        }
    }
}

fn give_file<R>(
    file: &Path,
    limits: Limits,
    state: &mut Arc<ClusterState>,
    intake: &Intake<Unit, R>,
) -> Result<(), Closed> {
    let shown = input::shown(file);
    let stream = match open(file) {
        Ok(stream) => stream,
        Err(error) => {
            intake.add(Unit::Fault(InputError::Unread { path: shown, error }))?;
            return intake.add(Unit::EndOfFile);
        }
    };
    let path: Arc<str> = shown.as_str().into();
    // A file was surveyed before; of a pipe, what changes the state is read on its own, as it counts for what follows.
    let words: &[&str] = if stream.is_file { &[] } else { &WORDS };
    let mut pending = Vec::new();
    for piece in Splitter::new(stream.input, limits).apart(words) {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                let fault = match error {
                    StreamError::TooLarge(_) => InputError::TooLarge {
                        path: shown.clone(),
                        mebibytes: u32::try_from(limits.document >> 20).unwrap_or(u32::MAX),
                    },
                    StreamError::Read(error) => InputError::Unread {
                        path: shown.clone(),
                        error,
                    },
                };
                intake.add(Unit::Fault(fault))?;
                break;
            }
        };
        let found = match !stream.is_file && is_of_cluster(&piece) {
            true => of_cluster(piece::read(&path, &piece).given),
            false => Vec::new(),
        };
        if found.is_empty() && !pending.is_empty() {
            Arc::make_mut(state).add(std::mem::take(&mut pending));
        }
        pending.extend(found);
        intake.add(Unit::Piece {
            path: Arc::clone(&path),
            piece,
            state: Arc::clone(state),
        })?;
    }
    if !pending.is_empty() {
        Arc::make_mut(state).add(pending);
    }
    intake.add(Unit::EndOfFile)
}

fn is_of_cluster(piece: &Piece) -> bool {
    WORDS
        .iter()
        .any(|word| memchr::memmem::find(&piece.text, word.as_bytes()).is_some())
}

/// Whether a file may have namespaces or definitions.
fn mentions_cluster(file: &Path) -> std::io::Result<bool> {
    // What is read of a pipe is gone.
    match fs::metadata(file)?.is_file() {
        true => mentions(file, &WORDS),
        false => Ok(false),
    }
}

/// Whether a file has one of some words.
pub(super) fn mentions(file: &Path, words: &[&str]) -> std::io::Result<bool> {
    const BLOCK: usize = 1 << 20;
    let finders: Vec<_> = words.iter().map(Finder::new).collect();
    let overlap = words.iter().map(|word| word.len()).max().unwrap_or_default();
    let mut input = open(file)?.input;
    let mut block = Vec::with_capacity(BLOCK + overlap);
    loop {
        let kept = block.len();
        input.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        if finders.iter().any(|finder| finder.find(&block).is_some()) {
            return Ok(true);
        }
        if block.len() == kept {
            return Ok(false);
        }
        let done = block.len().saturating_sub(overlap);
        block.drain(..done);
    }
}
