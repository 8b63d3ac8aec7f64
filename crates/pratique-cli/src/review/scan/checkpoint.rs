//! Checkpoints: how far a scan has come, and what it has counted so far.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pratique_manifest::path_text;
use pratique_report::Report;
use pratique_suite::API_VERSION;
use serde::{Deserialize, Serialize};

use super::source::{At, FileState, Mark, Sources};
use crate::arguments::CheckpointArguments;
use crate::destination;
use crate::exit::CliError;

const KIND: &str = "ScanCheckpoint";

/// The largest checkpoint, in bytes.
const LARGEST: u64 = 256 << 20;

/// Writes how far a scan has come, now and then.
pub(super) struct Checkpoints {
    path: PathBuf,
    files: Vec<FileState>,
    interval: Duration,
    last: Instant,
}

/// A checkpoint: what is counted of all that comes before a place.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Checkpoint {
    api_version: String,
    kind: String,
    files: Vec<FileState>,
    /// The file or collection where the rest begins, from 0.
    source: usize,
    /// Where in it.
    at: At,
    /// How much of all inputs comes before it.
    done: u64,
    report: Report,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointError {
    /// It is not one.
    #[error("it is no checkpoint of a scan: {0}")]
    Form(String),
    /// It is one of another scan.
    #[error("it is of another scan, with other policies, arguments or inputs; remove it to begin anew")]
    Other,
    /// A file is not as it was.
    #[error("{0} has changed since; remove the checkpoint to begin anew")]
    Changed(String),
}

impl Checkpoints {
    /// The checkpoints of a scan, of which nothing is counted in `report`. Where there is one already, what it has counted takes
    /// the place of that, and the place is given where the rest begins.
    pub(super) fn open(
        arguments: &CheckpointArguments,
        sources: &Sources,
        report: &mut Report,
    ) -> Result<Option<(Self, Option<Mark>)>, CliError> {
        let Some(path) = &arguments.checkpoint else {
            return Ok(None);
        };
        let checkpoints = Checkpoints {
            path: path.clone(),
            files: sources.states()?,
            interval: Duration::from_secs(u64::from(arguments.checkpoint_interval)),
            last: Instant::now(),
        };
        let Some(found) = read(path)? else {
            return Ok(Some((checkpoints, None)));
        };
        let refused = |error| CliError::Checkpoint {
            path: path_text(path),
            error,
        };
        let is_same = found.report.run() == report.run() && found.report.missing() == report.missing();
        if !is_same || found.files.len() != checkpoints.files.len() {
            return Err(refused(CheckpointError::Other));
        }
        let mut pairs = found.files.iter().zip(&checkpoints.files);
        if let Some((_, changed)) = pairs.find(|(then, now)| then != now) {
            return Err(refused(CheckpointError::Changed(changed.path.clone())));
        }
        *report = found.report;
        let mark = Mark {
            source: found.source,
            at: found.at,
            done: found.done,
        };
        Ok(Some((checkpoints, Some(mark))))
    }

    /// Writes a checkpoint, if it is time: what `report` counts comes before `mark`.
    pub(super) fn keep(&mut self, report: &Report, mark: Mark) -> Result<(), CliError> {
        if self.last.elapsed() < self.interval {
            return Ok(());
        }
        let checkpoint = Checkpoint {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            files: self.files.clone(),
            source: mark.source,
            at: mark.at,
            done: mark.done,
            report: report.clone(),
        };
        // Nothing in it can fail: it has texts and numbers.
        let text = serde_json::to_string(&checkpoint).unwrap_or_default();
        destination::write(&self.path, &text)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Removes the checkpoint of a scan that is complete.
    pub(super) fn remove(&self) -> Result<(), CliError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(CliError::Read {
                path: path_text(&self.path),
                error,
            }),
            _ => Ok(()),
        }
    }
}

/// Reads a checkpoint, if there is one.
fn read(path: &Path) -> Result<Option<Checkpoint>, CliError> {
    let content = match pratique_manifest::read_regular(path, LARGEST) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        content => content.map_err(|error| CliError::Read {
            path: path_text(path),
            error,
        })?,
    };
    let refused = |why: String| CliError::Checkpoint {
        path: path_text(path),
        error: CheckpointError::Form(why),
    };
    let found: Checkpoint = serde_json::from_slice(&content).map_err(|error| refused(error.to_string()))?;
    match (found.api_version.as_str(), found.kind.as_str()) {
        (API_VERSION, KIND) => Ok(Some(found)),
        (version, kind) => Err(refused(format!("it is a {kind} of {version}"))),
    }
}
