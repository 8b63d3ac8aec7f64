//! A program that runs once: its output, time and memory.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pratique_harness::ToolError;
use serde_json::Value;

/// How often the memory of a program is read.
const LOOK: Duration = Duration::from_millis(10);

/// The output and measurements of a program.
#[derive(Clone, Debug)]
pub(super) struct MeasuredProgram {
    /// The printed JSON document; null where it is none.
    pub(super) answer: Value,
    /// The time of the clock.
    pub(super) elapsed: Duration,
    /// The time on processors, of all threads.
    pub(super) processor: Duration,
    /// The most memory that it held.
    pub(super) peak_kib: u64,
}

/// The status of a process, from `/proc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProcessStatus {
    peak_kib: u64,
    ticks: u64,
    has_ended: bool,
}

/// Runs a program that prints a JSON document into a file, and ends with one of some exit codes.
pub(super) fn run(command: &mut Command, output: &Path, codes: &[i32]) -> Result<MeasuredProgram, ToolError> {
    let command_text = format!("{command:?}");
    let measured = run_text(command, output, codes)?;
    let text = std::fs::read_to_string(output).map_err(|error| format!("{command_text}: {error}"))?;
    let answer = serde_json::from_str(&text).map_err(|error| format!("{command_text}: {error}"))?;
    Ok(MeasuredProgram { answer, ..measured })
}

/// The same of a program that prints anything.
pub(super) fn run_text(
    command: &mut Command,
    output: &Path,
    codes: &[i32],
) -> Result<MeasuredProgram, ToolError> {
    let command_text = format!("{command:?}");
    let failed = |error: std::io::Error| format!("{command_text}: {error}");
    let file = std::fs::File::create(output).map_err(failed)?;
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .spawn()
        .map_err(failed)?;
    let status = watched(&child);
    let elapsed = begun.elapsed();
    let ended = child.wait().map_err(failed)?;
    if !ended.code().is_some_and(|code| codes.contains(&code)) {
        return Err(format!("{command_text}: {ended}").into());
    }
    Ok(MeasuredProgram {
        answer: Value::Null,
        elapsed,
        // Linux counts a hundred ticks a second, whatever the kernel itself does.
        processor: Duration::from_millis(status.ticks * 10),
        peak_kib: status.peak_kib,
    })
}

/// Polls a process until it has ended and can be waited for.
fn watched(child: &Child) -> ProcessStatus {
    let directory = Path::new("/proc").join(child.id().to_string());
    let mut last = ProcessStatus::default();
    loop {
        let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
        let now = status(&read("stat"), &read("status"));
        last = ProcessStatus {
            peak_kib: last.peak_kib.max(now.peak_kib),
            ..now
        };
        if now.has_ended {
            return last;
        }
        std::thread::sleep(LOOK);
    }
}

/// Reads `stat` and `status`. One without a `stat` has ended.
fn status(stat: &str, status: &str) -> ProcessStatus {
    // The name, in parentheses, may have blanks.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
    ProcessStatus {
        peak_kib: peak.unwrap_or(0),
        ticks: number(11) + number(12),
        has_ended: fields.first().is_none_or(|state| matches!(*state, "Z" | "X")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_tells_is_read() {
        let stat = "42 (a (b) c) R 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 1 0 0";
        let found = status(stat, "Name:\ta\nVmHWM:\t   1234 kB\n");
        let expected = ProcessStatus {
            peak_kib: 1234,
            ticks: 175,
            has_ended: false,
        };
        assert_eq!(found, expected);
        assert!(status(&stat.replace(" R ", " Z "), "").has_ended);
        assert!(status("", "").has_ended);
    }
}
