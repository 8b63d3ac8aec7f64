//! The example, run as people run it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::world::{World, policy};

/// The program, which cargo builds along with the tests.
fn program() -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    let built = executable.parent().and_then(|deps| deps.parent()).unwrap();
    built.join("examples/watch")
}

#[test]
fn each_change_is_reported() {
    let world = World::new();
    let mut child = Command::new(program())
        .arg(&world.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let length = policy("first").len();
    assert_eq!(next(), format!("first.yaml: {length} bytes"));
    world.put("second.yaml", "more");
    assert_eq!(next(), format!("first.yaml second.yaml: {} bytes", length + 4));
    fs::remove_dir_all(&world.directory).unwrap();
    // Files go one by one, so there may be versions in between.
    let told = std::iter::repeat_with(&mut next).find(|line| line.starts_with("as before: "));
    assert!(told.unwrap().contains("No such file"));
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let last = std::iter::repeat_with(&mut next).find(|line| line.ends_with(" versions"));
    assert!(last.is_some());
    assert!(child.wait().unwrap().success());
}
