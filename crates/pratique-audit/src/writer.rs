//! The thread that writes lines out, and tries again until it succeeds.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::file::Sink;
use crate::log::Target;
use crate::losses::Losses;
use crate::queue::{Queue, Work};

/// How much is written at once, about.
const BATCH: usize = 256 * 1024;
/// How long to wait after a failure; twice as long after each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What the writer counts.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) written: AtomicU64,
    pub(crate) losses: Losses,
}

/// Opens the target, says how that went, and writes until the queue is closed and empty.
pub(crate) fn run(target: Target, queue: &Queue, tally: &Tally, opened: &SyncSender<io::Result<()>>) {
    let _finish = Finish(queue, tally);
    let sink = match Sink::open(target) {
        Ok(sink) => sink,
        Err(error) => {
            // The one who waits for this may have gone.
            let _ = opened.send(Err(error));
            return;
        }
    };
    let _ = opened.send(Ok(()));
    let mut writer = Writer {
        sink,
        queue,
        tally,
        failing: false,
    };
    loop {
        let work = queue.work(BATCH);
        if !writer.execute(&work) || work.closed && work.text.is_empty() {
            break;
        }
    }
    tally.losses.lose(queue.abandon() as u64);
}

/// Says that the writer is done, also when it panics.
struct Finish<'q>(&'q Queue, &'q Tally);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.1.losses.lose(self.0.finish());
    }
}

struct Writer<'a> {
    sink: Sink,
    queue: &'a Queue,
    tally: &'a Tally,
    /// Whether the last try failed.
    failing: bool,
}

impl Writer<'_> {
    /// Writes lines out, however long that takes. After closing it gives up at the first failure, and tells so.
    fn execute(&mut self, work: &Work) -> bool {
        let (mut done, mut reopen, mut pause) = (0, work.reopen, FIRST_PAUSE);
        while reopen || done < work.text.len() {
            match self.advance(&work.text, &mut done, reopen) {
                Ok(()) => (reopen, pause) = (false, FIRST_PAUSE),
                Err(error) => {
                    self.failed(&error, lines(work.text.get(done..)));
                    if self.queue.pause(pause) {
                        self.count(&work.text, done);
                        return false;
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
        self.count(&work.text, done);
        true
    }

    /// Writes some more of the text, from the given place on, which it moves.
    fn advance(&mut self, text: &[u8], done: &mut usize, reopen: bool) -> io::Result<()> {
        let start = line_start(text, *done);
        if self.sink.refresh(reopen)? || *done > start && !self.sink.continues()? {
            // A line that is in the old file in part, or was, is written as a whole.
            *done = start;
        }
        let rest = text.get(*done..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        *done += self.sink.write(rest)?;
        if std::mem::take(&mut self.failing) {
            let lost = self.tally.losses.take_untold();
            tracing::warn!(plugin = "log", lost, "Audit events are written again");
        }
        Ok(())
    }

    fn failed(&mut self, error: &io::Error, events: u64) {
        self.tally.losses.fail();
        if !std::mem::replace(&mut self.failing, true) {
            tracing::error!(plugin = "log", events, err = %error, "Error in audit plugin; trying again");
        } else {
            self.tally.losses.tell();
        }
    }

    fn count(&self, text: &[u8], done: usize) {
        let written = lines(text.get(..done));
        self.tally.written.fetch_add(written, Ordering::Relaxed);
        self.queue.release(text.len());
        self.tally.losses.lose(lines(Some(text)) - written);
        self.tally.losses.tell();
    }
}

fn lines(text: Option<&[u8]>) -> u64 {
    text.unwrap_or_default()
        .iter()
        .filter(|byte| **byte == b'\n')
        .count() as u64
}

fn line_start(text: &[u8], place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{Finish, Tally, line_start, lines};
    use crate::queue::{Limits, Queue};

    #[test]
    fn a_writer_that_panics_is_noticed() {
        let queue = Queue::new(Limits {
            lines: 3,
            bytes: 10_000,
        });
        let tally = Tally::default();
        assert!(!queue.is_abandoned());
        let push = || {
            let mut line = queue.line();
            line.write_all(b"one").is_ok() && line.push()
        };
        assert!((0..3).all(|_| push()));
        assert_eq!(queue.work(1).text, b"one\n");
        let died = std::thread::scope(|scope| {
            let panics = || {
                let _finish = Finish(&queue, &tally);
                panic!("told to");
            };
            scope.spawn(panics).join()
        });
        assert!(died.is_err() && queue.is_abandoned());
        assert_eq!(tally.losses.events(), 3, "what it had taken, and what waited");
        assert!(!push(), "it would never be written");
        queue.close();
        assert!(!queue.is_abandoned());
    }

    #[test]
    fn lines_are_found() {
        let check = |place, expected| assert_eq!(line_start(b"one\ntwo\n", place), expected);
        check(0, 0);
        check(3, 0);
        check(4, 4);
        check(6, 4);
        check(8, 8);
        assert_eq!(lines(Some(b"one\ntwo\nthr")), 2);
    }
}
