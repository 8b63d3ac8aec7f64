//! The writer thread, which retries until it succeeds.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::file::OpenTarget;
use crate::losses::LossCounts;
use crate::queue::{LineQueue, WriterBatch};
use crate::target::Target;

/// The approximate maximum size of a write, in bytes.
const BATCH: usize = 256 * 1024;
/// The pause after a failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Counts of written and lost events.
#[derive(Debug, Default)]
pub(crate) struct EventCounters {
    pub(crate) written: AtomicU64,
    pub(crate) losses: LossCounts,
}

/// Opens the target, sends the result, and writes until the queue is closed and empty.
pub(crate) fn run(
    (target, file_size): (Target, Option<u64>),
    queue: &LineQueue,
    counters: &EventCounters,
    opened: &SyncSender<io::Result<()>>,
) {
    let _finish = FinishOnDrop(queue, counters);
    let sink = match OpenTarget::open(target) {
        Ok(sink) => sink,
        Err(error) => {
            // The receiver may have timed out.
            let _ = opened.send(Err(error));
            return;
        }
    };
    let _ = opened.send(Ok(()));
    let mut writer = QueueWriter {
        sink,
        queue,
        counters,
        failing: false,
        file_size,
    };
    // A batch fits into a file.
    let size = file_size.map_or(BATCH, |size| usize::try_from(size).unwrap_or(BATCH).min(BATCH));
    loop {
        let batch = queue.next_batch(size);
        if !writer.write(&batch) || batch.closed && batch.text.is_empty() {
            break;
        }
    }
    counters.losses.lose(queue.abandon() as u64);
}

/// Marks the writer as finished, also when it panics.
struct FinishOnDrop<'q>(&'q LineQueue, &'q EventCounters);

impl Drop for FinishOnDrop<'_> {
    fn drop(&mut self) {
        self.1.losses.lose(self.0.finish());
    }
}

struct QueueWriter<'a> {
    sink: OpenTarget,
    queue: &'a LineQueue,
    counters: &'a EventCounters,
    /// Whether the last write failed.
    failing: bool,
    /// The size at which a file is rotated.
    file_size: Option<u64>,
}

impl QueueWriter<'_> {
    /// Writes a batch, and retries until it succeeds. Once the queue is closed, returns false at the first failure.
    fn write(&mut self, batch: &WriterBatch) -> bool {
        let (mut done, mut reopen, mut pause) = (0, batch.reopen, FIRST_PAUSE);
        while reopen || done < batch.text.len() {
            match self.advance(&batch.text, &mut done, reopen) {
                Ok(()) => (reopen, pause) = (false, FIRST_PAUSE),
                Err(error) => {
                    self.failed(&error, lines(batch.text.get(done..)));
                    if self.queue.pause(pause) {
                        self.count(&batch.text, done);
                        return false;
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
        self.count(&batch.text, done);
        true
    }

    /// Writes a part of the text from the offset `done`, and advances it.
    fn advance(&mut self, text: &[u8], done: &mut usize, reopen: bool) -> io::Result<()> {
        let start = line_start(text, *done);
        if self.sink.refresh(reopen)? || *done > start && !self.sink.can_continue_line()? {
            // A line that was written in part to another file is written again as a whole.
            *done = start;
        }
        let rest = text.get(*done..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        if let (Some(size), true) = (self.file_size, *done == 0) {
            self.sink.make_room(rest.len(), size)?;
        }
        *done += self.sink.write(rest)?;
        if std::mem::take(&mut self.failing) {
            let lost = self.counters.losses.take_unlogged();
            tracing::warn!(
                plugin = self.counters.losses.plugin(),
                lost,
                "Audit events are written again"
            );
        }
        Ok(())
    }

    fn failed(&mut self, error: &io::Error, events: u64) {
        self.counters.losses.fail();
        if !std::mem::replace(&mut self.failing, true) {
            let plugin = self.counters.losses.plugin();
            tracing::error!(plugin, events, err = %error, "Error in audit plugin; trying again");
        } else {
            self.counters.losses.log();
        }
    }

    fn count(&self, text: &[u8], done: usize) {
        let written = lines(text.get(..done));
        self.counters.written.fetch_add(written, Ordering::Relaxed);
        self.queue.release(text.len());
        self.counters.losses.lose(lines(Some(text)) - written);
        self.counters.losses.log();
    }
}

fn lines(text: Option<&[u8]>) -> u64 {
    text.unwrap_or_default()
        .iter()
        .filter(|byte| **byte == b'\n')
        .count() as u64
}

fn line_start(text: &[u8], offset: usize) -> usize {
    let preceding_bytes = text.get(..offset).unwrap_or_default();
    preceding_bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::{EventCounters, FinishOnDrop, line_start, lines};
    use crate::queue::{LineQueue, QueueLimits};

    #[test]
    fn a_panic_of_the_writer_is_noticed() {
        let queue = LineQueue::new(QueueLimits {
            lines: 3,
            bytes: 10_000,
        });
        let counters = EventCounters::default();
        assert!(!queue.is_abandoned());
        let push = || {
            let mut line = queue.line();
            line.write_all(b"one").is_ok() && line.push()
        };
        assert!((0..3).all(|_| push()));
        assert_eq!(queue.next_batch(1).text, b"one\n");
        let died = std::thread::scope(|scope| {
            let panics = || {
                let _finish = FinishOnDrop(&queue, &counters);
                panic!("on purpose");
            };
            scope.spawn(panics).join()
        });
        assert!(died.is_err() && queue.is_abandoned());
        assert_eq!(counters.losses.events(), 3, "what it had taken, and what waited");
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
