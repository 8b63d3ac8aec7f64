//! Work in the background, after that of others.

/// How much less than other threads: as `nice` counts.
#[cfg(target_os = "linux")]
const LESS: i32 = 10;

/// Lets all other threads go before the calling one, for work that nobody waits for: a reload, while requests are judged.
///
/// Where threads have no priority of their own, nothing changes.
pub fn give_way() {
    // Linux counts for each thread. Where the system refuses, the thread works on as it did.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, LESS);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_calling_thread_gives_way() {
        let own = || rustix::process::getpriority_process(None).unwrap();
        let before = own();
        let other = std::thread::spawn(move || {
            give_way();
            own()
        });
        assert_eq!(other.join().unwrap(), before.max(LESS));
        assert_eq!(own(), before);
    }
}
