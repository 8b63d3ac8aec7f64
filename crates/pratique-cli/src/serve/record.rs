//! The record of requests that a server keeps when asked.

use std::sync::Arc;

use pratique_audit::{Error, RecordOptions, RequestRecorder};
use pratique_server::Limits;

use crate::arguments::RecordArguments;
use crate::exit::CliError;

/// Starts the record that the arguments name, if they do. An eighth of the memory at most is for requests to be written.
pub(super) fn start(
    arguments: &RecordArguments,
    limits: &Limits,
) -> Result<Option<Arc<RequestRecorder>>, CliError> {
    let Some(path) = &arguments.record else {
        return Ok(None);
    };
    let usual = RecordOptions::new(path.clone());
    let started = RequestRecorder::start(RecordOptions {
        share: arguments.record_sample,
        max_size: u64::from(arguments.record_max_size) << 20,
        queued_bytes: usual.queued_bytes.min(limits.memory / 8),
        ..usual
    });
    match started {
        Ok(recorder) => Ok(Some(Arc::new(recorder))),
        Err(Error::Open { source: error, .. }) => Err(CliError::unread(path, error)),
        Err(Error::Thread(error)) => Err(CliError::Thread(error)),
    }
}
