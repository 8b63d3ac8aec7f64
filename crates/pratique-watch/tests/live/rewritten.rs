//! Files that are rewritten in place: what is in use stays until they are whole, as far as that can be told; files that
//! are replaced at once are taken at once.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pratique_manifest::RewriteDelays;

use crate::world::{Kept, World, policy};

/// Delays that are waited for here, and no shorter than it may take until a change is looked at.
const DELAYS: RewriteDelays = RewriteDelays {
    rewritten: Duration::from_millis(500),
    shrunk: Duration::from_secs(2),
    max: Duration::from_secs(30),
};
/// Shorter than [`DELAYS`] for what is gone.
const SOON: Duration = Duration::from_secs(1);

/// Two policies in one file, with a number in the first that changes.
fn pair(round: usize) -> String {
    let first = policy("first").replace("'true'", &format!("'{round:03} >= 0'"));
    [first, policy("second")].join("---\n")
}

/// Writes a file in place as slow programs do: cut after each line, with a pause at the end of each document.
fn write_slowly(world: &World, text: &str, reopen: bool) {
    let mut file = File::create(world.path("first.yaml")).unwrap();
    sleep(Duration::from_millis(30));
    for line in text.split_inclusive('\n') {
        if reopen {
            file = OpenOptions::new()
                .append(true)
                .open(world.path("first.yaml"))
                .unwrap();
        }
        file.write_all(line.as_bytes()).unwrap();
        if line.starts_with("---") || line.contains("validations") {
            sleep(Duration::from_millis(30));
        }
    }
}

/// A directory whose first file has two policies, watched with the delays of a server: no machine pauses so long while it writes.
fn watched_pair() -> World {
    let world = World::new();
    world.put("first.yaml", &pair(0));
    let world = world.watch_settling(RewriteDelays::default());
    world.expect(&["first", "second"]);
    world
}

fn check_slow_writer(reopen: bool) {
    let world = watched_pair();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=30 {
                write_slowly(&world, &pair(round), reopen);
            }
            over.store(true, Ordering::Release);
        });
        while !over.load(Ordering::Acquire) && !writer.is_finished() {
            assert_eq!(world.names(), ["first", "second"]);
            sleep(Duration::from_millis(1));
        }
    });
    // What was written last comes into effect.
    let text = fs::read(world.path("first.yaml")).unwrap();
    assert_eq!(text, pair(30).as_bytes());
    world.expect_hash(&world.hash_on_disk());
    assert_eq!(world.names(), ["first", "second"]);
}

#[test]
fn slow_writers_take_no_policy_away() {
    check_slow_writer(false);
}

#[test]
fn slow_writers_that_open_it_again_take_no_policy_away() {
    check_slow_writer(true);
}

#[test]
fn removed_objects_are_dropped_after_a_delay() {
    let world = World::new();
    world.put("first.yaml", &pair(0));
    let world = world.watch_settling(DELAYS);
    let start = Instant::now();
    fs::write(world.path("first.yaml"), policy("second")).unwrap();
    let reason = format!(
        "{} was rewritten in place a moment ago and 1 object of it is gone",
        world.path("first.yaml").display()
    );
    world
        .heard
        .wait_for(|attempts| attempts.contains(&Kept::Unsettled(reason.clone())));
    world.expect(&["second"]);
    assert!(start.elapsed() > SOON, "{:?}", start.elapsed());

    // A file that is emptied.
    let count = world.heard.attempts().len();
    let start = Instant::now();
    fs::write(world.path("first.yaml"), "").unwrap();
    world.expect(&[]);
    assert!(start.elapsed() > SOON, "{:?}", start.elapsed());
    let heard = world.heard.attempts();
    let is_unsettled = |kept: &Kept| matches!(kept, Kept::Unsettled(_));
    assert!(heard[count..].iter().any(is_unsettled), "{heard:?}");
}

/// However long a file is written, it is not waited for without end.
#[test]
fn a_file_that_is_written_all_the_time_is_taken() {
    let world = World::new();
    world.put("first.yaml", &policy("first"));
    let settling = RewriteDelays {
        rewritten: Duration::from_secs(3600),
        shrunk: Duration::from_secs(3600),
        max: Duration::from_secs(1),
    };
    let world = world.watch_settling(settling);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if over.load(Ordering::Acquire) {
                    return;
                }
                let text = format!("{}# {round}\n", policy("other"));
                let mut file = OpenOptions::new()
                    .write(true)
                    .open(world.path("first.yaml"))
                    .unwrap();
                file.write_all(text.as_bytes()).unwrap();
                drop(file);
                sleep(Duration::from_millis(50));
            }
        });
        world.expect(&["other"]);
        over.store(true, Ordering::Release);
    });
}

/// What cannot be half seen is not waited for, whatever is gone by it.
#[test]
fn what_is_replaced_at_once_is_taken_at_once() {
    #[track_caller]
    fn check(change: impl FnOnce(&World)) {
        let world = World::new();
        world.put("first.yaml", &pair(0));
        let world = world.watch();
        change(&world);
        let is_loaded = |attempts: &[Kept]| attempts.iter().filter(|kept| **kept == Kept::Loaded).count() > 1;
        let heard = world.heard.wait_for(is_loaded);
        assert!(
            !heard.iter().any(|kept| matches!(kept, Kept::Unsettled(_))),
            "{heard:?}"
        );
        assert!(!world.names().contains(&"first".to_owned()));
    }
    check(|world| world.put("first.yaml", &policy("second")));
    check(|world| world.put("first.yaml", ""));
    check(|world| {
        fs::create_dir(world.path("..1")).unwrap();
        fs::write(world.path("..1").join("a"), policy("second")).unwrap();
        symlink("..1/a", world.path("new")).unwrap();
        fs::rename(world.path("new"), world.path("first.yaml")).unwrap();
    });
}

/// The identity of a file that is in use is that of the one that was renamed there last, even with the same content.
#[test]
fn what_was_renamed_may_be_rewritten() {
    let world = watched_pair();
    let count = world.heard.attempts().len();
    // A file beside it would be an attempt as well, perhaps before it is renamed.
    world.put_from_beside("first.yaml", &pair(0));
    world.heard.expect_unchanged_beyond(count);
    fs::write(world.path("first.yaml"), policy("second")).unwrap();
    world
        .heard
        .wait_for(|attempts| attempts.iter().any(|kept| matches!(kept, Kept::Unsettled(_))));
    assert_eq!(world.names(), ["first", "second"]);
}

/// Programs that do not rename, such as `git checkout`, remove a file and create it again.
#[test]
fn removed_files_may_come_again() {
    let world = watched_pair();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 1..=10 {
                fs::remove_file(world.path("first.yaml")).unwrap();
                sleep(Duration::from_millis(100));
                write_slowly(&world, &pair(round), false);
            }
            over.store(true, Ordering::Release);
        });
        while !over.load(Ordering::Acquire) && !writer.is_finished() {
            assert_eq!(world.names(), ["first", "second"]);
            sleep(Duration::from_millis(1));
        }
    });
    world.expect_hash(&world.hash_on_disk());
    assert_eq!(world.names(), ["first", "second"]);
}

#[test]
fn removed_files_that_stay_away_are_gone_after_a_while() {
    for change in [
        |world: &World| fs::remove_file(world.path("first.yaml")).unwrap(),
        |world: &World| fs::rename(world.path("first.yaml"), world.path("first.off")).unwrap(),
    ] {
        let world = World::new().watch_settling(DELAYS);
        change(&world);
        let reason = format!(
            "{} was removed a moment ago and 1 object of it is gone",
            world.path("first.yaml").display()
        );
        world
            .heard
            .wait_for(|attempts| attempts.contains(&Kept::Unsettled(reason.clone())));
        world.expect(&[]);
    }
}

/// A binding and its policy in different files, of which each is replaced at once.
#[test]
fn bindings_and_policies_change_together() {
    let binding = |name: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
             metadata: {{name: {name}.static.k8s.io}}\n\
             spec: {{policyName: {name}.static.k8s.io, validationActions: [Deny]}}\n"
        )
    };
    let world = World::new();
    world.put("first.yaml", &policy("first"));
    world.put("binding.yaml", &binding("first"));
    let world = world.watch_settling(RewriteDelays::default());

    // The new policy first: the old one has no binding any more.
    world.put(
        "binding.yaml",
        &[policy("second"), binding("second")].join("---\n"),
    );
    let reason = format!(
        "{} has the ValidatingAdmissionPolicy \"first.static.k8s.io\" without a binding, while a policy is not in effect any more",
        world.path("first.yaml").display()
    );
    world
        .heard
        .wait_for(|attempts| attempts.contains(&Kept::Unsettled(reason.clone())));
    assert_eq!(world.names(), ["first"]);
    world.put("first.yaml", "");
    let start = Instant::now();
    world.expect(&["second"]);
    let delay = RewriteDelays::default().shrunk;
    assert!(start.elapsed() < delay / 2, "{:?}", start.elapsed());

    // One that stays alone is accepted after a while.
    let world = World::new();
    fs::remove_file(world.path("first.yaml")).unwrap();
    world.put(
        "binding.yaml",
        &[policy("second"), binding("second")].join("---\n"),
    );
    let world = world.watch();
    world.put("binding.yaml", &policy("second"));
    world.put("third.yaml", &policy("third"));
    world.expect(&["second", "third"]);
}
