//! Memory and processor time of a process, from `/proc`.

use std::io;
use std::time::Duration;

/// A number of kibibytes in `/proc/PROCESS/status`; `process` is an id, or `self`.
pub fn kib(process: &str, name: &str) -> io::Result<u64> {
    let path = format!("/proc/{process}/status");
    let status =
        std::fs::read_to_string(&path).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value
        .and_then(|value| value.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| io::Error::other(format!("no {name} in {path}")))
}

/// The processor time that a process has used; `process` is an id, or `self`.
pub fn processor_time(process: &str) -> io::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let stat =
        std::fs::read_to_string(&path).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
    // The program's name, in parentheses, can have blanks. After it, the 12th and 13th are hundredths of seconds.
    let fields = stat
        .rsplit_once(") ")
        .map(|(_, rest)| rest.split(' ').skip(11).take(2));
    let ticks: Option<Vec<u64>> = fields.and_then(|fields| fields.map(|field| field.parse().ok()).collect());
    match ticks.as_deref() {
        Some([user, system]) => Ok(Duration::from_millis((user + system) * 10)),
        _ => Err(io::Error::other(format!("no times in {path}"))),
    }
}
