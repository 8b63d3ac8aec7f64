//! Writes log lines to standard error: a bounded queue and a writer thread.
//!
//! Logging never blocks and never fails. If a pipe is full or closed, lines are dropped and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use pratique_metrics::Metrics;

/// The maximum number of queued lines.
const LINES: usize = 4096;
/// The maximum size of queued lines, in bytes.
const BYTES: usize = 4 << 20;
/// The interval between attempts to flush a full queue.
const PAUSE: Duration = Duration::from_millis(5);

/// A handle of the writer; clones share the queue.
#[derive(Clone, Debug)]
pub(crate) struct LogWriter(Arc<LineQueue>);

#[derive(Debug)]
struct LineQueue {
    sender: SyncSender<WriterMessage>,
    counts: Arc<QueueCounts>,
}

#[derive(Debug, Default)]
struct QueueCounts {
    /// The size of queued lines, in bytes.
    bytes: AtomicUsize,
    dropped: AtomicU64,
    metrics: OnceLock<Metrics>,
}

/// A message to the writer thread.
enum WriterMessage {
    Write(Vec<u8>),
    /// Acknowledge that everything before is written.
    Flush(SyncSender<()>),
}

impl LogWriter {
    /// Starts a thread that writes lines to `sink`.
    pub(crate) fn start(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(LINES);
        let counts = Arc::new(QueueCounts::default());
        let counted = counts.clone();
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write(sink, &receiver, &counted))?;
        Ok(LogWriter(Arc::new(LineQueue { sender, counts })))
    }

    /// Queues text without blocking.
    pub(crate) fn push(&self, text: &[u8]) {
        let counts = &self.0.counts;
        let waiting = counts.bytes.fetch_add(text.len(), Ordering::Relaxed);
        let fits = waiting.saturating_add(text.len()) <= BYTES;
        if !fits
            || self
                .0
                .sender
                .try_send(WriterMessage::Write(text.to_vec()))
                .is_err()
        {
            counts.bytes.fetch_sub(text.len(), Ordering::Relaxed);
            counts.drop_lines(1);
        }
    }

    /// Counts lines that are dropped from now on in these metrics as well.
    pub(crate) fn count_in(&self, metrics: &Metrics) {
        metrics.log_lines_dropped(self.0.counts.dropped.load(Ordering::Relaxed));
        // There is one server, which has one set of metrics.
        let _ = self.0.counts.metrics.set(metrics.clone());
    }

    /// Waits until all queued lines are written, with a timeout.
    pub(crate) fn flush(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let (done, written) = sync_channel(1);
        let mut message = WriterMessage::Flush(done);
        loop {
            message = match self.0.sender.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(message)) => message,
            };
            if Instant::now() >= until {
                return;
            }
            thread::sleep(PAUSE);
        }
        // Either it is written or it takes too long; the process ends in both cases.
        let _ = written.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

impl QueueCounts {
    fn drop_lines(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
        if let Some(metrics) = self.metrics.get() {
            metrics.log_lines_dropped(count);
        }
    }
}

/// Writes until all handles are dropped. A line that cannot be written is dropped: a later one may succeed.
fn write(mut sink: impl Write, receiver: &Receiver<WriterMessage>, counts: &QueueCounts) {
    let mut reported = 0;
    for message in receiver {
        match message {
            WriterMessage::Write(line) => {
                let written = sink.write_all(&line).and_then(|()| sink.flush());
                counts.bytes.fetch_sub(line.len(), Ordering::Relaxed);
                if written.is_err() {
                    counts.drop_lines(1);
                    continue;
                }
                let dropped = counts.dropped.load(Ordering::Relaxed);
                if dropped > reported {
                    tracing::warn!(
                        lines = dropped - reported,
                        "Log lines were dropped: standard error was not read"
                    );
                    reported = dropped;
                }
            }
            WriterMessage::Flush(done) => {
                // The receiver may have timed out.
                let _ = done.try_send(());
            }
        }
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::Sender;

    use super::*;

    /// Writes only when it is allowed to.
    struct Gated {
        gate: Arc<Mutex<()>>,
        written: Sender<String>,
    }

    impl Write for Gated {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            drop(self.gate.lock());
            let _ = self.written.send(String::from_utf8_lossy(text).into_owned());
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn a_writer_that_blocks_costs_lines_and_no_time() {
        let gate = Arc::new(Mutex::new(()));
        let (written, lines) = std::sync::mpsc::channel();
        let closed = gate.lock().unwrap();
        let log = LogWriter::start(Gated {
            gate: gate.clone(),
            written,
        })
        .unwrap();
        let metrics = Metrics::new("");
        log.count_in(&metrics);
        let start = Instant::now();
        for number in 0..LINES + 100 {
            log.push(format!("{number}\n").as_bytes());
        }
        log.flush(Duration::from_millis(20));
        assert!(start.elapsed() < Duration::from_secs(60), "a line waits");
        let dropped = log.0.counts.dropped.load(Ordering::Relaxed);
        // The thread may have taken one out of the queue.
        assert!((99..=100).contains(&dropped), "{dropped}");
        let counted = format!("pratique_log_lines_dropped_total {dropped}\n");
        assert!(metrics.to_text().contains(&counted), "{}", metrics.to_text());

        drop(closed);
        log.flush(Duration::from_secs(60));
        let all: Vec<String> = lines.try_iter().collect();
        assert_eq!(all.len() as u64 + dropped, LINES as u64 + 100);
        assert_eq!(log.0.counts.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn large_lines_are_bounded_by_their_bytes() {
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        let (written, _lines) = std::sync::mpsc::channel();
        let log = LogWriter::start(Gated {
            gate: gate.clone(),
            written,
        })
        .unwrap();
        let line = vec![b'x'; BYTES / 4];
        (0..6).for_each(|_| log.push(&line));
        assert_eq!(log.0.counts.dropped.load(Ordering::Relaxed), 2);
        drop(closed);
    }

    #[test]
    fn a_broken_pipe_ends_no_thread() {
        let log = LogWriter::start(Broken).unwrap();
        for expected in 1..=3 {
            log.push(b"x\n");
            log.flush(Duration::from_secs(60));
            assert_eq!(log.0.counts.dropped.load(Ordering::Relaxed), expected);
        }
    }
}
