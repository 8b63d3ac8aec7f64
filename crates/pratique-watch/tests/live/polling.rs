//! When everything is loaded, and when only what events tell of.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pratique_watch::{Load, LoadResult, Version, WatchOptions, Watched};

use crate::world::{World, policy};

/// How often everything was loaded, and how often what events told of.
#[derive(Clone, Default)]
struct Counts(Arc<[AtomicUsize; 2]>);

impl Counts {
    fn get(&self) -> [usize; 2] {
        self.0.each_ref().map(|count| count.load(Ordering::SeqCst))
    }

    /// Waits until another load has begun, and says which ones have since.
    #[track_caller]
    fn wait_beyond(&self, before: [usize; 2]) -> [usize; 2] {
        let start = Instant::now();
        while self.get() == before {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        let now = self.get();
        [now[0] - before[0], now[1] - before[1]]
    }
}

impl Load<()> for Counts {
    type Error = String;

    fn load(&mut self, _: &Path, _: Option<&Version<()>>) -> Result<LoadResult<()>, String> {
        let count = self.0[0].fetch_add(1, Ordering::SeqCst);
        let hash = count.to_string();
        Ok(LoadResult::New { value: (), hash })
    }

    fn load_changed(&mut self, _: &Path, _: &Version<()>) -> Result<LoadResult<()>, String> {
        self.0[1].fetch_add(1, Ordering::SeqCst);
        Ok(LoadResult::Unchanged)
    }
}

fn watch_counting(directory: &Path, poll_interval: Duration) -> (Watched<()>, Counts) {
    let options = WatchOptions {
        poll_interval,
        ..WatchOptions::default()
    };
    let counts = Counts::default();
    let watched = Watched::start(directory, options, counts.clone(), ()).unwrap();
    assert_eq!(counts.get(), [1, 0]);
    (watched, counts)
}

#[test]
fn events_and_requests_are_told_apart() {
    let world = World::new();
    let (watched, counts) = watch_counting(&world.directory, Duration::from_secs(3600));
    world.put("first.yaml", &policy("other"));
    assert_eq!(counts.wait_beyond([1, 0])[0], 0);
    // The events of one change may be gathered in several loads.
    std::thread::sleep(Duration::from_millis(100));
    let before = counts.get();
    watched.reload();
    assert_eq!(counts.wait_beyond(before), [1, 0]);
}

#[test]
fn events_do_not_put_off_polling() {
    let world = World::new();
    let (_watched, counts) = watch_counting(&world.directory, Duration::from_millis(200));
    let start = Instant::now();
    // Events all the time.
    while counts.get()[0] < 4 || counts.get()[1] < 4 {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", counts.get());
        fs::write(world.path("unread"), "").unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
}
