//! What the system knows of a process's memory.

/// A number that the system keeps of this process.
pub fn kib(name: &str) -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value
        .and_then(|value| value.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| format!("no {name} in /proc/self/status"))
}
