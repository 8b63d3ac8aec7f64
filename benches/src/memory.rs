//! What the system knows of a process's memory.

/// A number that the system keeps of a process: the one of an id, or this one, which is `self`.
pub fn kib(process: &str, name: &str) -> Result<u64, String> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value
        .and_then(|value| value.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| format!("no {name} in {path}"))
}
