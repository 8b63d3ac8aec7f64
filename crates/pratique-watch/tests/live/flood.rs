//! More events than anybody can look at.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::world::{World, policy};

/// Between events, for 10,000 in a second.
const PACE: Duration = Duration::from_micros(100);

#[test]
fn a_flood_neither_holds_up_nor_is_followed() {
    let world = World::watched();
    let (over, events) = (AtomicBool::new(false), AtomicUsize::new(0));
    let before = resident();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            let mut done = 0;
            while !over.load(Ordering::Acquire) {
                let due = start.elapsed().as_nanos() / PACE.as_nanos();
                while u128::from(done) < due {
                    // Two events: it goes, it comes.
                    let (here, there) = [("noise", "other"), ("other", "noise")][usize::from(done % 4 == 2)];
                    if done == 0 {
                        fs::write(world.path(here), "").unwrap();
                    }
                    fs::rename(world.path(here), world.path(there)).unwrap();
                    done += 2_u32;
                    events.fetch_add(2, Ordering::Relaxed);
                }
                std::thread::sleep(PACE);
            }
        });
        // Each of these comes while events go on, and has to be seen while they do.
        for round in 0..5 {
            let name = format!("round{round}");
            world.put("first.yaml", &policy(&name));
            world.expect(&[&name]);
            let seen = events.load(Ordering::Relaxed);
            while events.load(Ordering::Relaxed) < seen + 4_000 {
                std::thread::sleep(PACE);
            }
        }
        over.store(true, Ordering::Release);
    });
    let (events, attempts) = (events.into_inner(), world.heard.attempts().len());
    assert!(attempts * 20 < events, "{attempts} attempts at {events} events");
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after < before + 64 * 1024, "{before} KiB became {after}");
    }
}

/// The memory in use, in KiB, where the system tells.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
