//! What the system knows of a process: its memory, and how long processors worked for it.

use std::time::Duration;

use pratique_harness::Error;

/// A number that the system keeps of a process: the one of an id, or this one, which is `self`.
pub fn kib(process: &str, name: &str) -> Result<u64, Error> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value
        .and_then(|value| value.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| Error::from(format!("no {name} in {path}")))
}

/// How long processors have worked so far for a process: the one of an id, or this one, which is `self`.
pub fn work(process: &str) -> Result<Duration, Error> {
    let path = format!("/proc/{process}/stat");
    let stat = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    // The program's name, in parentheses, can have blanks. After it, the 12th and 13th are hundredths of seconds.
    let fields = stat
        .rsplit_once(") ")
        .map(|(_, rest)| rest.split(' ').skip(11).take(2));
    let ticks: Option<Vec<u64>> = fields.and_then(|fields| fields.map(|field| field.parse().ok()).collect());
    match ticks.as_deref() {
        Some([user, system]) => Ok(Duration::from_millis((user + system) * 10)),
        _ => Err(format!("no times in {path}").into()),
    }
}
