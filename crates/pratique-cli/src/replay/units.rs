//! The parts of the inputs, in order: all of them, or those from a checkpoint.

use std::path::Path;
use std::sync::Arc;

use pratique_stream::{Limits, Piece, Splitter};

use super::share::ReadShare;
use crate::input::open::open;
use crate::input::{self, InputError};
use crate::stream::checkpoint::{CountedPart, InputMark, MarkPlace};
use crate::stream::etcd;
use crate::stream::ordered_work::{WorkClosed, WorkSender};
use crate::stream::read::UserInputs;

/// A part of the inputs.
pub(crate) enum LogUnit {
    /// A part of a file.
    Piece {
        path: Arc<str>,
        piece: Piece,
        start: InputMark,
    },
    /// A part that was counted before the checkpoint, and whose objects are to be remembered.
    Counted { path: Arc<str>, piece: Piece },
    /// The rest of a file cannot be read.
    Fault(InputError),
}

/// Divides the inputs.
pub(crate) struct LogPieces {
    pub(crate) limits: Limits,
    pub(crate) share: Arc<ReadShare>,
    /// Where the rest begins that was not counted before.
    pub(crate) from: Option<InputMark>,
    /// Whether what was counted before is read for its objects.
    pub(crate) remembers: bool,
}

impl LogPieces {
    /// Sends all parts in order.
    pub(crate) fn send<U: From<LogUnit>, R>(&self, inputs: &UserInputs, sender: &WorkSender<U, R>) {
        let first = match &self.from {
            Some(from) if !self.remembers => {
                self.share.read(from.done);
                from.source
            }
            _ => 0,
        };
        for (index, file) in inputs.files().enumerate().skip(first) {
            if self.send_file(index, file, sender).is_err() {
                return;
            }
        }
    }

    fn send_file<U: From<LogUnit>, R>(
        &self,
        index: usize,
        file: &Path,
        sender: &WorkSender<U, R>,
    ) -> Result<(), WorkClosed> {
        let path = input::format_path(file);
        let from = self.from.as_ref();
        let is_before = from.is_some_and(|from| index < from.source);
        let fault = |fault| {
            if is_before {
                // It was counted.
                Ok(())
            } else {
                sender.add(LogUnit::Fault(fault).into())
            }
        };
        let input = match open(file).and_then(etcd::items) {
            Ok((input, _)) => input,
            Err(error) => return fault(InputError::Unread { path, error }),
        };
        let display_path: Arc<str> = path.as_str().into();
        let counted = if is_before {
            usize::MAX
        } else {
            InputMark::offset_in(from, index)
        };
        let mut counted = CountedPart::before(counted, &path);
        for piece in Splitter::new(input, self.limits) {
            let piece = match piece {
                Ok(piece) => piece,
                // It is the last one.
                Err(error) => return fault(InputError::of_stream(path.clone(), error, self.limits)),
            };
            let is_counted = match counted.has(&piece) {
                Ok(is_counted) => is_counted,
                Err(error) => return fault(error),
            };
            if is_counted && !self.remembers {
                continue;
            }
            let (path, done) = (Arc::clone(&display_path), self.share.done());
            self.share.read(piece.text.len() as u64);
            let unit = if is_counted {
                LogUnit::Counted { path, piece }
            } else {
                LogUnit::Piece {
                    start: InputMark {
                        source: index,
                        at: MarkPlace::Offset(piece.start.offset),
                        done,
                    },
                    path,
                    piece,
                }
            };
            sender.add(unit.into())?;
        }
        match counted.end() {
            Ok(()) => Ok(()),
            Err(error) => fault(error),
        }
    }
}
