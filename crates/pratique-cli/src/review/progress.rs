//! How far a long review has come, on a line of standard error that is written over.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Reviews that take less show nothing.
const FIRST: Duration = Duration::from_secs(1);
/// How often the line changes.
const INTERVAL: Duration = Duration::from_millis(200);
/// Returns to the start of the line, and clears it.
const CLEAR: &str = "\r\u{1b}[K";

/// A line about progress.
pub(super) struct Progress {
    is_shown: bool,
    start: Instant,
    last: Option<Instant>,
    /// Whether the line stands on the terminal now.
    is_written: bool,
}

impl Progress {
    /// Shows progress if a person looks at standard error while nothing else moves there: not where answers are printed on
    /// the terminal as they come.
    pub(super) fn new(prints_answers: bool) -> Self {
        Progress {
            is_shown: is_shown(prints_answers),
            start: Instant::now(),
            last: None,
            is_written: false,
        }
    }

    /// Removes the line, so that something else can be written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_written) {
            write(CLEAR);
        }
    }

    /// Shows how many objects were reviewed, of which some are denied.
    pub(super) fn show(&mut self, reviewed: usize, denied: usize) {
        self.show_line(|taken| line(reviewed, denied, taken));
    }

    /// Shows a line that depends on the time taken.
    pub(super) fn show_line(&mut self, line: impl FnOnce(Duration) -> String) {
        let now = Instant::now();
        let was_cleared = self.last.is_some() && !self.is_written;
        if !self.is_shown || !(was_cleared || is_due(self.start, self.last, now)) {
            return;
        }
        (self.last, self.is_written) = (Some(now), true);
        write(&format!("{CLEAR}{}", line(now.duration_since(self.start))));
    }
}

/// Whether progress is shown.
pub(super) fn is_shown(prints_answers: bool) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    let is_quiet = !prints_answers || !io::stdout().is_terminal();
    io::stderr().is_terminal() && is_quiet && !is_dumb
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn write(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn is_due(start: Instant, last: Option<Instant>, now: Instant) -> bool {
    let (from, wait) = match last {
        None => (start, FIRST),
        Some(last) => (last, INTERVAL),
    };
    now.duration_since(from) >= wait
}

fn line(reviewed: usize, denied: usize, taken: Duration) -> String {
    format!(
        "{reviewed} objects reviewed, {denied} denied, {} s",
        taken.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_changes_now_and_then() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        assert!(!is_due(start, None, after(999)));
        assert!(is_due(start, None, after(1000)));
        assert!(!is_due(start, Some(after(1000)), after(1199)));
        assert!(is_due(start, Some(after(1000)), after(1200)));
        assert_eq!(
            line(1200, 3, Duration::from_millis(2500)),
            "1200 objects reviewed, 3 denied, 2 s"
        );
    }
}
