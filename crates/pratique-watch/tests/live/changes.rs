//! Changes as people and programs make them. Nothing polls here, so each is told by the file system.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pratique_watch::{LoadResult, Version, WatchOptions, Watched};

use crate::world::{Kept, World, policy, rename_into};

/// Changes a directory and waits for what is to be in use then.
#[track_caller]
fn check(change: impl FnOnce(&World), expected: &[&str]) {
    let world = World::watched();
    change(&world);
    world.expect(expected);
}

#[test]
fn files_come_and_go() {
    check(
        |world| world.put("second.yaml", &policy("second")),
        &["first", "second"],
    );
    check(|world| world.put("first.yaml", &policy("other")), &["other"]);
    check(|world| fs::remove_file(world.path("first.yaml")).unwrap(), &[]);
    check(
        |world| fs::rename(world.path("first.yaml"), world.path("first.yaml.off")).unwrap(),
        &[],
    );
    check(
        |world| fs::write(world.path("first.yaml"), policy("other")).unwrap(),
        &["other"],
    );
}

#[test]
fn editors_write_in_their_ways() {
    // Aside and over it, with the old one kept.
    check(
        |world| {
            fs::write(world.path(".first.yaml.swp"), "").unwrap();
            fs::rename(world.path("first.yaml"), world.path("first.yaml~")).unwrap();
            fs::write(world.path("first.yaml"), policy("other")).unwrap();
            fs::remove_file(world.path(".first.yaml.swp")).unwrap();
        },
        &["other"],
    );
    // Bit by bit.
    check(
        |world| {
            let mut file = fs::File::create(world.path("first.yaml")).unwrap();
            for part in policy("other").as_bytes().chunks(50) {
                file.write_all(part).unwrap();
                file.sync_all().unwrap();
            }
        },
        &["other"],
    );
    // With a link to it from elsewhere.
    check(
        |world| {
            let elsewhere = world.root.path().join("elsewhere");
            fs::write(&elsewhere, policy("other")).unwrap();
            fs::hard_link(&elsewhere, world.path("second.yaml")).unwrap();
        },
        &["first", "other"],
    );
}

#[test]
fn mounted_volumes_swap_their_data() {
    let world = World::new();
    fs::remove_file(world.path("first.yaml")).unwrap();
    let write = |version: &str, name: &str| {
        fs::create_dir(world.path(version)).unwrap();
        fs::write(world.path(version).join("a.yaml"), policy(name)).unwrap();
    };
    write("..1", "one");
    symlink("..1", world.path("..data")).unwrap();
    symlink("..data/a.yaml", world.path("a.yaml")).unwrap();
    let world = world.watch();
    world.expect(&["one"]);
    for number in 2..6 {
        let (version, name) = (format!("..{number}"), format!("v{number}"));
        fs::create_dir(world.path(&version)).unwrap();
        fs::write(world.path(&version).join("a.yaml"), policy(&name)).unwrap();
        symlink(&version, world.path("..data_tmp")).unwrap();
        fs::rename(world.path("..data_tmp"), world.path("..data")).unwrap();
        fs::remove_dir_all(world.path(&format!("..{}", number - 1))).unwrap();
        world.expect(&[&name]);
    }
}

#[test]
fn a_swap_while_it_is_read_is_not_half_seen() {
    let world = World::new();
    let root = world.directory.clone();
    for (version, text) in [("..1", "one"), ("..2", "two"), ("..3", "three")] {
        fs::create_dir(root.join(version)).unwrap();
        fs::write(root.join(version).join("a"), text).unwrap();
        fs::write(root.join(version).join("b"), text).unwrap();
    }
    let swap = |to: &str, root: &Path| {
        symlink(to, root.join("..data_tmp")).unwrap();
        fs::rename(root.join("..data_tmp"), root.join("..data")).unwrap();
    };
    swap("..1", &root);
    symlink("..data/a", root.join("a")).unwrap();
    symlink("..data/b", root.join("b")).unwrap();
    let mut torn = 0;
    let loader = move |directory: &Path, _: Option<&Version<[String; 2]>>| {
        let read = |name| fs::read_to_string(directory.join(name)).map_err(|error| error.to_string());
        let a = read("a")?;
        match torn {
            0 => swap("..2", directory),
            // Once the other one is seen whole, the next is to come by itself.
            2 if a == "two" => swap("..3", directory),
            _ => {}
        }
        torn += 1;
        let b = read("b")?;
        let hash = format!("{a} {b}");
        Ok::<_, String>(LoadResult::New { value: [a, b], hash })
    };
    let heard = Arc::clone(&world.heard);
    let watched = Watched::start(&root, WatchOptions::default(), loader, heard).unwrap();
    assert_eq!(watched.current().value, ["two", "two"]);
    watched.reload();
    world.heard.wait_for(|attempts| {
        attempts
            .iter()
            .filter(|attempt| **attempt == Kept::Loaded)
            .count()
            == 2
    });
    let last = watched.snapshot();
    assert_eq!(
        (last.number, &last.value),
        (1, &["three", "three"].map(str::to_owned))
    );
}

/// A world whose directory has `a.yaml`, which links to `link`, which links to `files/target`, all in different places.
fn linked() -> World {
    let world = World::new();
    let root = world.root.path();
    fs::create_dir(root.join("files")).unwrap();
    fs::write(root.join("files/target"), policy("target")).unwrap();
    symlink("files/target", root.join("link")).unwrap();
    symlink("../../link", world.path("a.yaml")).unwrap();
    let world = world.watch();
    world.expect(&["first", "target"]);
    world
}

#[test]
fn what_is_behind_a_link_changes() {
    for _ in 0..2 {
        let world = linked();
        let root = world.root.path();
        rename_into(&root.join("files/target"), &policy("other"));
        world.expect(&["first", "other"]);
        fs::write(root.join("files/target"), policy("third")).unwrap();
        world.expect(&["first", "third"]);
        // The middle of the way.
        fs::write(root.join("elsewhere"), policy("fourth")).unwrap();
        symlink("elsewhere", root.join("link.new")).unwrap();
        fs::rename(root.join("link.new"), root.join("link")).unwrap();
        world.expect(&["first", "fourth"]);
        fs::write(root.join("elsewhere"), policy("moved")).unwrap();
        world.expect(&["first", "moved"]);
    }
}

#[test]
fn a_link_leads_nowhere_for_a_while() {
    let world = linked();
    fs::rename(world.root.path().join("files"), world.root.path().join("gone")).unwrap();
    world.expect_failure("no such file or directory", &["first", "target"]);
    fs::write(world.root.path().join("gone/target"), policy("other")).unwrap();
    fs::rename(world.root.path().join("gone"), world.root.path().join("files")).unwrap();
    world.expect(&["first", "other"]);
}

#[test]
fn the_directory_is_a_link() {
    let mut world = World::new();
    let target = |name: &str| world.root.path().join(name);
    let make = |path: &Path, name: &str| {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("a.yaml"), policy(name)).unwrap();
    };
    make(&target("one"), "one");
    make(&target("two"), "two");
    let link = target("link");
    symlink("one", &link).unwrap();
    let (one, two) = (target("one"), target("two"));
    world.directory = link.clone();
    let world = world.watch();
    world.expect(&["one"]);
    symlink("two", link.with_extension("new")).unwrap();
    fs::rename(link.with_extension("new"), &link).unwrap();
    world.expect(&["two"]);
    rename_into(&two.join("a.yaml"), &policy("three"));
    world.expect(&["three"]);
    // What is not on the way any more changes nothing.
    let count = world.heard.attempts().len();
    rename_into(&one.join("a.yaml"), &policy("four"));
    world.watched.as_ref().unwrap().reload();
    world.heard.expect_unchanged_beyond(count);
    assert_eq!(world.names(), ["three"]);
}

#[test]
fn the_directory_is_removed_and_made_again() {
    let world = World::watched();
    for round in 0..5 {
        fs::remove_dir_all(&world.directory).unwrap();
        let name = format!("round{round}");
        fs::create_dir(&world.directory).unwrap();
        world.put("a.yaml", &policy(&name));
        world.expect(&[&name]);
    }
    let last = world.names();
    fs::remove_dir_all(&world.directory).unwrap();
    world.expect_failure("failed to read manifest directory", &[&last[0]]);
    fs::create_dir(&world.directory).unwrap();
    world.expect(&[]);
}

#[test]
fn what_is_above_the_directory_is_replaced() {
    let world = World::watched();
    let above = world.directory.parent().unwrap();
    let other = world.root.path().join("other");
    for round in 0..5 {
        let name = format!("round{round}");
        fs::create_dir_all(other.join("policies")).unwrap();
        fs::write(other.join("policies/a.yaml"), policy(&name)).unwrap();
        fs::rename(above, world.root.path().join("old")).unwrap();
        fs::rename(&other, above).unwrap();
        world.expect(&[&name]);
        fs::remove_dir_all(world.root.path().join("old")).unwrap();
    }
    fs::remove_dir_all(above).unwrap();
    world.expect_failure("failed to read manifest directory", &["round4"]);
    fs::create_dir_all(&world.directory).unwrap();
    world.put("a.yaml", &policy("back"));
    world.expect(&["back"]);
}

#[test]
fn changes_without_events_are_found_by_polling() {
    let world = World::new();
    // A write through another name of the file is no event of the directory.
    let elsewhere = world.root.path().join("elsewhere");
    fs::hard_link(world.path("first.yaml"), &elsewhere).unwrap();
    let world = world.watch_polling(Duration::from_millis(20));
    fs::write(&elsewhere, policy("other")).unwrap();
    world.expect(&["other"]);
}

#[test]
fn the_same_content_is_no_change() {
    let world = World::watched();
    let count = world.heard.attempts().len();
    world.put("first.yaml", &policy("first"));
    world.heard.expect_unchanged_beyond(count);
    assert_eq!(world.watched.as_ref().unwrap().current().number, 0);
}

#[test]
fn changes_are_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("number");
    fs::write(&file, "1").unwrap();
    let read = |directory: &Path, _: Option<&Version<String>>| {
        let text = fs::read_to_string(directory.join("number"))?;
        Ok::<_, std::io::Error>(LoadResult::New {
            value: text.clone(),
            hash: text,
        })
    };
    let mut watched = Watched::start(directory.path(), WatchOptions::default(), read, ()).unwrap();
    let mut versions = watched.versions();
    assert!(
        versions.wait(Duration::from_millis(1)).is_none(),
        "nothing changed"
    );
    rename_into(&file, "2");
    let seen = versions.wait(Duration::from_secs(60)).unwrap();
    assert_eq!(seen.value, "2");
    watched.stop();
    assert!(versions.wait(Duration::MAX).is_none(), "nothing will change");
}

/// What was read more than two seconds after it had changed is not read again while it looks the same.
#[test]
fn old_files_change() {
    let world = World::new();
    world.put("kept.yaml", &policy("kept"));
    fs::create_dir(world.path("..1")).unwrap();
    fs::write(world.path("..1/linked.yaml"), policy("linked")).unwrap();
    symlink("..1", world.path("..data")).unwrap();
    symlink("..data/linked.yaml", world.path("linked.yaml")).unwrap();
    std::thread::sleep(Duration::from_millis(2_100));
    let world = world.watch();
    world.expect(&["first", "kept", "linked"]);
    // In place, at the same length and with the time of before.
    let file = fs::File::options()
        .write(true)
        .open(world.path("first.yaml"))
        .unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    (&file).write_all(policy("other").as_bytes()).unwrap();
    file.set_modified(modified).unwrap();
    drop(file);
    world.expect(&["kept", "linked", "other"]);
    world.put("first.yaml", &policy("third"));
    world.expect(&["kept", "linked", "third"]);
    fs::create_dir(world.path("..2")).unwrap();
    fs::write(world.path("..2/linked.yaml"), policy("linker")).unwrap();
    symlink("..2", world.path("..data_tmp")).unwrap();
    fs::rename(world.path("..data_tmp"), world.path("..data")).unwrap();
    world.expect(&["kept", "linker", "third"]);
    fs::rename(world.path("kept.yaml"), world.path("first.yaml")).unwrap();
    world.expect(&["kept", "linker"]);
}
