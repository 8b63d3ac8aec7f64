//! Beginning and ending.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pratique_watch::{LoadResult, StartError, Version, WatchOptions, Watched};

use crate::world::{Heard, Kept, World, policy};

type Start = Result<Watched<String>, StartError<String>>;

#[test]
fn what_cannot_be_used_does_not_start() {
    let heard = Arc::new(Heard::default());
    let refuse = |_: &Path, _: Option<&Version<String>>| Err("no".to_owned());
    let ended: Start = Watched::start("/", WatchOptions::default(), refuse, Arc::clone(&heard));
    assert!(matches!(ended, Err(StartError::Load(reason)) if reason == "no"));
    assert_eq!(heard.attempts(), [Kept::Failed("no".to_owned())]);

    let nothing = |_: &Path, _: Option<&Version<String>>| Ok(LoadResult::Unchanged);
    let ended: Start = Watched::start("/", WatchOptions::default(), nothing, ());
    assert!(matches!(ended, Err(StartError::Nothing)));
}

#[test]
fn the_first_load_is_heard_of() {
    let world = World::watched();
    assert_eq!(world.names(), ["first"]);
    assert_eq!(world.heard.attempts()[0], Kept::Loaded);
}

#[test]
fn versions_are_kept_and_counted() {
    let world = World::watched();
    let watched = world.watched.as_ref().unwrap();
    let before = watched.snapshot();
    world.put("second.yaml", &policy("second"));
    world.expect(&["first", "second"]);
    let after = watched.snapshot();
    assert_eq!((before.number, after.number), (0, 1));
    assert_eq!(before.value, ["first"]);
    assert_ne!(before.hash, after.hash);
}

#[test]
fn after_the_end_nothing_is_loaded() {
    let mut world = World::watched();
    let mut watched = world.watched.take().unwrap();
    watched.stop();
    let attempts = world.heard.attempts();
    world.put("second.yaml", &policy("second"));
    watched.reload();
    watched.stop();
    assert_eq!(watched.current().value, ["first"]);
    drop(watched);
    assert_eq!(world.heard.attempts(), attempts);
}

#[test]
fn a_loader_that_panics_changes_nothing() {
    let world = World::new();
    let loader = |directory: &Path, _: Option<&Version<String>>| {
        let text = fs::read_to_string(directory.join("text")).map_err(|error| error.to_string())?;
        assert_ne!(text, "panic", "as was asked for");
        Ok::<_, String>(LoadResult::New {
            value: text.clone(),
            hash: text,
        })
    };
    world.put("text", "a");
    let heard = Arc::clone(&world.heard);
    let watched = Watched::start(&world.directory, WatchOptions::default(), loader, heard).unwrap();
    world.put("text", "panic");
    let is_told = |attempts: &[Kept]| attempts.iter().any(|attempt| attempt.has_failed("panicked"));
    world.heard.wait_for(is_told);
    assert_eq!(watched.current().value, "a");
    let count = world.heard.attempts().len();
    world.put("text", "b");
    world
        .heard
        .wait_for(|attempts| attempts[count..].contains(&Kept::Loaded));
    assert_eq!(watched.current().value, "b");
}
