//! Reloads while requests are evaluated: no request sees a mix of two sets, none fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pratique::live::InMemory;
use pratique::manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin};
use pratique::{Admission, Configurations, Live};
use pratique_json::Value;

use crate::directories::put;
use crate::world::{configmap_in_shop, file, mutating_policy, run, validating_policy};

/// `cargo xtask bench reload` makes a thousand; here each set has to be seen.
const RELOADS: usize = 80;
const TASKS: usize = 4;

/// Three mutating policies that all add this mark, and one that wants to see nothing else.
fn set(mark: &str, suffix: &str) -> (String, String) {
    let mutating = ["a", "b", "c"].map(|name| mutating_policy(&format!("{name}{suffix}"), mark, "Never"));
    let wanted = format!("object.data.trail == '{mark}{mark}{mark}'");
    (
        mutating.concat(),
        validating_policy(&format!("v{suffix}"), &wanted),
    )
}

const DEADLINE: Duration = Duration::from_secs(60);

/// Whether one of two states was not seen by anything yet, though there is time left.
fn is_unseen(seen: &[AtomicUsize; 2], began: Instant) -> bool {
    seen.iter().any(|count| count.load(Ordering::Relaxed) == 0) && began.elapsed() < DEADLINE
}

/// Between requests of a task. Without it the tasks have all cores, and the thread that reloads, which has a lower priority, none.
const PACE: Duration = Duration::from_micros(500);

/// Evaluates until told to stop, at least once, and gives how often.
fn evaluate(live: &Live, stop: &AtomicBool, seen: &[AtomicUsize; 2]) -> usize {
    let request = configmap_in_shop("");
    let mut count = 0;
    loop {
        let outcome = run(live.admit(&request)).unwrap();
        assert_eq!(outcome.status, None, "a mix");
        let object = outcome.object.unwrap();
        match object.at(&["data", "trail"]).and_then(Value::as_str) {
            Some("111") => seen[0].fetch_add(1, Ordering::Relaxed),
            Some("222") => seen[1].fetch_add(1, Ordering::Relaxed),
            other => panic!("a mix: {other:?}"),
        };
        count += 1;
        if stop.load(Ordering::Relaxed) {
            return count;
        }
        thread::sleep(PACE);
    }
}

#[test]
fn no_request_sees_a_mix_of_what_a_source_had() {
    let builder = Admission::builder();
    let options = LoadOptions::new(builder.expressions());
    let configurations = |mark: &str| -> Configurations {
        let (mutating, validating) = set(mark, "");
        let files: Vec<ManifestFile> = vec![file("m.yaml", &mutating), file("v.yaml", &validating)];
        Loader::for_api(&options).load_files(&files).unwrap().into()
    };
    let sets = [configurations("1"), configurations("2")];
    let source = InMemory::new(sets[0].clone());
    let live = builder.live().source(source.clone()).start().unwrap();
    reload_under_load(&live, RELOADS, |round| {
        source.replace(sets[round % 2].clone());
        live.settle();
    });
}

/// Makes changes while requests are evaluated, until each set was in effect for some of them.
fn reload_under_load(live: &Live, rounds: usize, change: impl Fn(usize)) {
    let (stop, seen) = (AtomicBool::new(false), [AtomicUsize::new(0), AtomicUsize::new(0)]);
    thread::scope(|scope| {
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| scope.spawn(|| evaluate(live, &stop, &seen)))
            .collect();
        let began = Instant::now();
        let rounds = (0..).take_while(|round| *round < rounds || is_unseen(&seen, began));
        rounds.for_each(change);
        stop.store(true, Ordering::Relaxed);
        tasks
            .into_iter()
            .for_each(|task| assert!(task.join().unwrap() > 0));
    });
    let seen = seen.map(AtomicUsize::into_inner);
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn no_request_sees_a_mix_of_what_a_directory_held() {
    // One file is one set, which changes at once; every third is broken.
    let directory = tempfile::tempdir().unwrap();
    let text = |mark: &str| set(mark, ".static.k8s.io").0;
    let texts = [text("1"), text("2"), "kind: [".to_owned()];
    put(directory.path(), "m.yaml", &texts[0]);
    let loads = Arc::new(AtomicUsize::new(0));
    struct Loads(Arc<AtomicUsize>);
    impl pratique::live::AdmissionObserver for Loads {
        fn reloaded(&self, _: &pratique::live::DirectoryReload<'_>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let live = Admission::builder()
        .directory(
            directory.path().to_str().unwrap(),
            ManifestPlugin::MutatingAdmissionPolicy,
        )
        .live()
        .observer(Loads(loads.clone()))
        .start()
        .unwrap();
    let began = Instant::now();
    reload_under_load(&live, RELOADS / 4, |round| {
        let before = loads.load(Ordering::SeqCst);
        put(directory.path(), "m.yaml", &texts[round % 3]);
        while loads.load(Ordering::SeqCst) == before && began.elapsed() < DEADLINE {
            thread::yield_now();
        }
    });
}
