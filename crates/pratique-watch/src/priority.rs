//! The priority of background threads.

/// The nice value of background threads.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Lowers the priority of the calling thread, for background work such as reloads while requests are evaluated.
///
/// Only Linux has a priority for each thread; elsewhere, nothing changes.
pub fn lower_priority() {
    // If the system refuses, the thread keeps its priority.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICE);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_calling_thread_has_a_lower_priority() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let before = priority();
        let other = std::thread::spawn(move || {
            lower_priority();
            priority()
        });
        assert_eq!(other.join().unwrap(), before.max(NICE));
        assert_eq!(priority(), before);
    }
}
