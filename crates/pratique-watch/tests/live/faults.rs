//! Content that cannot be used: the last good one stays in use, the observer hears why, and what comes after is seen.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::world::{World, policy, rename_into};

/// Breaks a directory, which must be heard of for this reason, and mends it.
#[track_caller]
fn check(make: impl FnOnce(&World), reason: &str, mend: impl FnOnce(&World)) {
    let world = World::watched();
    make(&world);
    world.expect_failure(reason, &["first"]);
    mend(&world);
    world.put("second.yaml", &policy("second"));
    world.expect(&["first", "second"]);
}

fn remove(world: &World) {
    fs::remove_file(world.path("a.yaml")).unwrap();
}

#[test]
fn faulty_manifests() {
    check(|world| world.put("a.yaml", "{"), "error loading", remove);
    check(
        |world| world.put("a.yaml", &policy("first")),
        "duplicate name",
        remove,
    );
}

#[test]
fn files_that_are_half_written() {
    let world = World::watched();
    let text = policy("other");
    let (half, rest) = text.split_at(text.len() / 2);
    let mut file = File::create(world.path("a.yaml")).unwrap();
    file.write_all(half.as_bytes()).unwrap();
    // Whoever writes takes longer than anybody waits.
    world.expect_failure("a.yaml", &["first"]);
    file.write_all(rest.as_bytes()).unwrap();
    drop(file);
    world.expect(&["first", "other"]);
}

#[test]
fn pipes_hold_nobody_up() {
    let mkfifo = |world: &World| {
        let made = Command::new("mkfifo").arg(world.path("a.yaml")).status().unwrap();
        assert!(made.success());
    };
    check(mkfifo, "not a regular file", remove);
    let behind_a_link = |world: &World| {
        let pipe = world.root.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink(pipe, world.path("a.yaml")).unwrap();
    };
    check(behind_a_link, "not a regular file", remove);
}

#[test]
fn devices_are_not_read() {
    let link = |world: &World| symlink("/dev/zero", world.path("a.yaml")).unwrap();
    check(link, "not a regular file", remove);
}

#[test]
fn huge_files_are_not_read() {
    let grow = |world: &World| {
        let file = File::create(world.path("a.yaml")).unwrap();
        file.set_len(1 << 40).unwrap();
    };
    check(grow, "larger than 96 MiB", remove);
}

#[test]
fn entries_that_lead_nowhere() {
    let dangling = |world: &World| symlink("gone", world.path("a.yaml")).unwrap();
    check(dangling, "no such file or directory", remove);
    let circular = |world: &World| symlink("a.yaml", world.path("a.yaml")).unwrap();
    check(circular, "too many levels of symbolic links", remove);
    let directory = |world: &World| symlink(".", world.path("a.yaml")).unwrap();
    check(directory, "is a directory", remove);
}

#[test]
fn permission_is_lost() {
    let forbid = |world: &World| {
        world.put("a.yaml", &policy("first"));
        fs::set_permissions(world.path("a.yaml"), Permissions::from_mode(0o000)).unwrap();
    };
    let probe = World::new();
    forbid(&probe);
    if File::open(probe.path("a.yaml")).is_ok() {
        return as_nobody("faults::permission_is_lost");
    }
    check(forbid, "permission denied", remove);
    let world = World::watched();
    fs::set_permissions(&world.directory, Permissions::from_mode(0o000)).unwrap();
    world.expect_failure("permission denied", &["first"]);
    fs::set_permissions(&world.directory, Permissions::from_mode(0o755)).unwrap();
    world.put("second.yaml", &policy("second"));
    world.expect(&["first", "second"]);
}

/// Runs a test once more as a user to whom something can be forbidden, which is not so of root.
fn as_nobody(test: &str) {
    const NOBODY: u32 = 65_534;
    const AGAIN: &str = "PRATIQUE_TEST_AS_NOBODY";
    if std::env::var_os(AGAIN).is_some() {
        eprintln!("skipped: nothing is forbidden to anybody");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let run = Command::new(this)
        .args(["--exact", test])
        .env("TMPDIR", "/tmp")
        .env(AGAIN, "")
        .uid(NOBODY)
        .gid(NOBODY)
        .status();
    match run {
        Ok(status) => assert!(status.success()),
        Err(error) => eprintln!("skipped: nothing is forbidden to this user, and nobody else can: {error}"),
    }
}

#[test]
fn the_directory_becomes_a_file() {
    let world = World::watched();
    let aside = world.root.path().join("aside");
    fs::rename(&world.directory, &aside).unwrap();
    fs::write(&world.directory, "").unwrap();
    world.expect_failure("not a directory", &["first"]);
    fs::remove_file(&world.directory).unwrap();
    fs::write(aside.join("second.yaml"), policy("second")).unwrap();
    fs::rename(&aside, &world.directory).unwrap();
    world.expect(&["first", "second"]);
}

#[test]
fn renames_while_it_is_read() {
    let world = World::watched();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let change = scope.spawn(|| {
            for round in 0..100 {
                let (here, there) = [("first.yaml", "other.yaml"), ("other.yaml", "first.yaml")][round % 2];
                fs::rename(world.path(here), world.path(there)).unwrap();
                rename_into(&world.path("pair.yaml"), &pair(round));
            }
            over.store(true, Ordering::Release);
        });
        while !over.load(Ordering::Acquire) && !change.is_finished() {
            let names = world.names();
            let pair: Vec<_> = names.iter().filter(|name| *name != "first").collect();
            assert!(pair.is_empty() || pair.len() == 2, "{names:?}");
            if let [left, right] = pair[..] {
                assert_eq!(left.trim_start_matches("left"), right.trim_start_matches("right"));
            }
        }
    });
    world.expect(&["first", "left99", "right99"]);
}

/// Two policies that belong together.
fn pair(round: usize) -> String {
    [policy(&format!("left{round}")), policy(&format!("right{round}"))].join("---\n")
}
