//! How far a long review has come, on a line of standard error that is written over.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::output::counted_nouns::counted;

/// Reviews that take less show nothing.
const FIRST: Duration = Duration::from_secs(1);
/// How often the line changes.
const INTERVAL: Duration = Duration::from_millis(200);
/// Returns to the start of the line, and clears it.
const CLEAR: &str = "\r\u{1b}[K";

/// Lets a line end at the edge of a narrow terminal: what wraps is not written over.
const NO_WRAP: &str = "\u{1b}[?7l";
/// Lets lines wrap again.
const WRAP: &str = "\u{1b}[?7h";

/// A line about progress.
pub(crate) struct ProgressLine {
    is_shown: bool,
    start: Instant,
    last: Option<Instant>,
    /// Whether the line stands on the terminal now.
    is_written: bool,
}

impl ProgressLine {
    /// Shows progress if a person looks at standard error while nothing else moves there: not where answers are printed on
    /// the terminal as they come.
    pub(crate) fn new(prints_answers: bool) -> Self {
        ProgressLine {
            is_shown: is_shown(prints_answers),
            start: Instant::now(),
            last: None,
            is_written: false,
        }
    }

    /// Removes the line, so that something else can be written.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_written) {
            write(CLEAR);
        }
    }

    /// Shows how many objects were reviewed, of which some are denied.
    pub(crate) fn show(&mut self, reviewed: usize, denied: usize) {
        self.show_line(|duration| line(reviewed, denied, duration));
    }

    /// Shows a line that depends on the time taken.
    pub(crate) fn show_line(&mut self, line: impl FnOnce(Duration) -> String) {
        let now = Instant::now();
        let was_cleared = self.last.is_some() && !self.is_written;
        if !self.is_shown || !(was_cleared || is_due(self.start, self.last, now)) {
            return;
        }
        (self.last, self.is_written) = (Some(now), true);
        write(&in_place(&line(now.duration_since(self.start))));
    }
}

/// Whether progress is shown.
pub(crate) fn is_shown(prints_answers: bool) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    let is_quiet = !prints_answers || !io::stdout().is_terminal();
    io::stderr().is_terminal() && is_quiet && !is_dumb
}

/// A line in place of the one before.
fn in_place(line: &str) -> String {
    format!("{CLEAR}{NO_WRAP}{line}{WRAP}")
}

impl Drop for ProgressLine {
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

/// The rate of what was counted in a time, the share of all that is done, and the time left:
/// `, 500 a second, 25%, 30 s left`.
pub(crate) fn rate_and_rest(count: u64, done: u64, total: Option<u64>, duration: Duration) -> String {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = count.saturating_mul(1000) / milliseconds;
    let left = match total {
        // What is compressed has more bytes than its file, and objects may be created.
        Some(total) if done > 0 && done <= total => {
            let share = done.saturating_mul(100) / total;
            let left = u128::from(milliseconds) * u128::from(total - done) / u128::from(done) / 1000;
            format!(", {share}%, {left} s left")
        }
        _ => String::new(),
    };
    format!(", {rate} a second{left}")
}

fn line(reviewed: usize, denied: usize, duration: Duration) -> String {
    format!(
        "{} reviewed, {denied} denied, {} s",
        counted(reviewed, "object", "objects"),
        duration.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_share() {
        let taken = Duration::from_secs(10);
        assert_eq!(
            rate_and_rest(5000, 250, Some(1000), taken),
            ", 500 a second, 25%, 30 s left"
        );
        for (done, total) in [(250, None), (0, Some(10)), (11, Some(10))] {
            assert_eq!(rate_and_rest(5000, done, total, taken), ", 500 a second");
        }
    }

    #[test]
    fn the_line_does_not_wrap() {
        assert_eq!(in_place("1 object"), "\r\u{1b}[K\u{1b}[?7l1 object\u{1b}[?7h");
    }

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
