//! Checkpoints: how far a run over many inputs has come, and what it has counted so far.
//!
//! A run that is interrupted goes on from its last checkpoint, and counts the same as one that was not. What decisions depend on has
//! to be the same, and so have the files; where they are not, the run ends, and says what has changed.

mod mark;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pratique_manifest::path_text;
use pratique_report::ReportRun;
use pratique_state::API_VERSION;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::arguments::CheckpointArguments;
use crate::destination::{self, FileReaders};
use crate::exit::CliError;
use crate::input::permitted_paths::read_kept;
use crate::output;
use crate::output::text::text;
pub(crate) use mark::{CountedPart, FileState, InputMark, MarkPlace};

/// The largest checkpoint, in bytes.
const LARGEST: u64 = 256 << 20;

/// The counts of a run, from which another one can go on.
pub(crate) trait ResumableCounts: Serialize + DeserializeOwned {
    /// The kind of its checkpoints.
    const KIND: &str;
    /// The name of such a run.
    const RUN: &str;

    /// The run that it is of.
    fn run(&self) -> &ReportRun;

    /// Whether it is of the same run as one in which nothing is counted yet.
    fn continues(&self, begun: &Self) -> bool {
        self.run() == begun.run()
    }

    /// How much it has counted: `500 objects`.
    fn counted(&self) -> String;
}

/// Writes how far a run has come, now and then.
pub(crate) struct CheckpointWriter {
    path: PathBuf,
    files: Vec<FileState>,
    interval: Duration,
    last: Instant,
}

/// A checkpoint: what is counted of all that comes before a place.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunCheckpoint<C> {
    api_version: String,
    kind: String,
    files: Vec<FileState>,
    /// The file or collection where the rest begins, from 0.
    source: usize,
    /// Where in it.
    at: MarkPlace,
    /// How much of all inputs comes before it.
    done: u64,
    counts: C,
}

/// The fields that identify a checkpoint.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckpointHeader {
    api_version: String,
    kind: String,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointError {
    /// It is not one.
    #[error("it is no checkpoint of a {run}: {why}")]
    Form { run: &'static str, why: String },
    /// It is one of another run.
    #[error("it is of another {run}, with other policies, arguments or inputs; remove it to begin anew")]
    Other { run: &'static str },
    /// A file is not as it was.
    #[error("{0} has changed since; remove the checkpoint to begin anew")]
    Changed(String),
    /// It names a place that the inputs do not have.
    #[error("it goes on at a place that the inputs do not have; remove it to begin anew")]
    Place,
    /// A file was not among the inputs.
    #[error("{0} was not there then; remove the checkpoint to begin anew")]
    Added(String),
    /// A file is not among the inputs any more.
    #[error("{0} is not there any more; remove the checkpoint to begin anew")]
    Removed(String),
}

impl CheckpointWriter {
    /// The checkpoints of a run, of which nothing is counted in `begun`. Where there is one already, what it has counted takes the
    /// place of that, and the place is given where the rest begins. `files` are the inputs as they are now.
    ///
    /// # Errors
    /// The checkpoint is of another run, or the inputs have changed since.
    pub(crate) fn open<C: ResumableCounts>(
        arguments: &CheckpointArguments,
        files: impl FnOnce() -> Result<Vec<FileState>, CliError>,
        begun: &mut C,
    ) -> Result<(Option<Self>, Option<InputMark>), CliError> {
        let Some(path) = &arguments.checkpoint else {
            return Ok((None, None));
        };
        let checkpoints = CheckpointWriter {
            path: path.clone(),
            files: files()?,
            interval: Duration::from_secs(u64::from(arguments.checkpoint_interval)),
            last: Instant::now(),
        };
        let Some(checkpoint) = read::<C>(path)? else {
            return Ok((Some(checkpoints), None));
        };
        let refused = |error| CliError::Checkpoint {
            path: path_text(path),
            error,
        };
        let other = || CheckpointError::Other { run: C::RUN };
        if !checkpoint.counts.continues(begun) {
            return Err(refused(other()));
        }
        if checkpoint.files != checkpoints.files {
            let change = changed(&checkpoint.files, &checkpoints.files);
            return Err(refused(change.unwrap_or_else(other)));
        }
        if !checkpoint.has_place(begun) {
            return Err(refused(CheckpointError::Place));
        }
        // The run that it is of had begun, and read no input.
        if checkpoint.is_at_beginning() {
            return Ok((Some(checkpoints), None));
        }
        let counted = checkpoint.counts.counted();
        output::eprint(&text!("continued from the checkpoint, after {}\n", counted));
        *begun = checkpoint.counts;
        let mark = InputMark {
            source: checkpoint.source,
            at: checkpoint.at,
            done: checkpoint.done,
        };
        Ok((Some(checkpoints), Some(mark)))
    }

    /// Writes a checkpoint, if it is time: what `counts` counts comes before `mark`.
    pub(crate) fn keep<C: ResumableCounts>(&mut self, counts: &C, mark: InputMark) -> Result<(), CliError> {
        if self.last.elapsed() < self.interval {
            return Ok(());
        }
        let checkpoint = RunCheckpoint {
            api_version: API_VERSION.to_owned(),
            kind: C::KIND.to_owned(),
            files: self.files.clone(),
            source: mark.source,
            at: mark.at,
            done: mark.done,
            counts,
        };
        // Nothing in it can fail: it has texts and numbers.
        let text = serde_json::to_string(&checkpoint).unwrap_or_default();
        destination::write(&self.path, &text, FileReaders::Owner)?;
        self.last = Instant::now();
        Ok(())
    }

    /// Removes the checkpoint of a run that is complete.
    pub(crate) fn remove(&self) -> Result<(), CliError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(CliError::unread(&self.path, error)),
            _ => Ok(()),
        }
    }
}

impl<C: ResumableCounts> RunCheckpoint<C> {
    /// Whether the inputs have the place where the rest begins. A place beyond them would leave the rest out; one of another kind,
    /// or the very beginning although something was counted, would count it twice.
    fn has_place(&self, begun: &C) -> bool {
        let has_counted_nothing = self.done == 0 && self.counts.counted() == begun.counted();
        let file = self.files.get(self.source);
        file.is_some_and(|file| file.has_place(&self.at)) && (!self.is_at_beginning() || has_counted_nothing)
    }

    /// Whether all inputs come after it.
    fn is_at_beginning(&self) -> bool {
        self.source == 0 && self.at.is_beginning()
    }
}

/// Reports how far a run came before the cluster was lost. There is no report of a part of the inputs.
#[cfg(feature = "kube")]
pub(crate) fn report_lost<C: ResumableCounts>(counted: &str, checkpoints: Option<&CheckpointWriter>) {
    let more = match checkpoints {
        Some(_) => "run again, it goes on from its checkpoint",
        None => "with --checkpoint, it could go on from there",
    };
    output::eprint(&text!(
        "the {} has ended early, after {}; it has no report; {}\n",
        C::RUN,
        counted,
        more
    ));
}

/// The first change of the inputs, apart from their order.
fn changed(then: &[FileState], now: &[FileState]) -> Option<CheckpointError> {
    let of = |states: &[FileState], path: &str| states.iter().position(|state| state.path == path);
    let removed = then.iter().find(|state| of(now, &state.path).is_none());
    if let Some(removed) = removed {
        return Some(CheckpointError::Removed(removed.path.clone()));
    }
    now.iter().find_map(|state| match of(then, &state.path) {
        None => Some(CheckpointError::Added(state.path.clone())),
        Some(index) if then.get(index) != Some(state) => Some(CheckpointError::Changed(state.path.clone())),
        Some(_) => None,
    })
}

/// Reads a checkpoint, if there is one.
fn read<C: ResumableCounts>(path: &Path) -> Result<Option<RunCheckpoint<C>>, CliError> {
    let content = match read_kept(path, LARGEST) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        content => content.map_err(|error| CliError::unread(path, error))?,
    };
    let refused = |why: String| CliError::Checkpoint {
        path: path_text(path),
        error: CheckpointError::Form { run: C::RUN, why },
    };
    let header: CheckpointHeader =
        serde_json::from_slice(&content).map_err(|error| refused(error.to_string()))?;
    match (header.api_version.as_str(), header.kind.as_str()) {
        (API_VERSION, kind) if kind == C::KIND => {}
        (version, kind) => return Err(refused(format!("it is a {kind} of {version}"))),
    }
    let checkpoint = serde_json::from_slice(&content).map_err(|error| refused(error.to_string()))?;
    Ok(Some(checkpoint))
}
