//! `pratique serve` with a low limit of open files.
#![cfg(unix)]

use std::net::TcpStream;

use crate::serve::{POLICY, Serving, eventually};
use crate::support::Directory;

fn served(limit: &str) -> (Directory, Serving) {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "old"));
    let serving = Serving::start_in(
        &["sh", "-c", &format!("{limit}; exec \"$0\" \"$@\"")],
        "127.0.0.1:0",
        directory.path(),
        &["--plain-http", "--manifests", "manifests"],
    );
    (directory, serving)
}

#[test]
fn idle_connections_leave_files_for_others_and_for_reloads() {
    let (directory, serving) = served("ulimit -n 96");
    assert!(
        serving
            .greeting
            .contains("Fewer connections than --max-connections"),
        "{}",
        serving.greeting
    );
    let address = serving.address.clone();
    let idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
    assert!(!serving.client().allows("old"));
    let manifest = directory.path().join("manifests/a.yaml");
    std::fs::write(manifest, POLICY.replace("NAME", "new")).unwrap();
    eventually("it does not reload", || serving.client().allows("old"));
    assert!(!serving.client().allows("new"));
    drop(idle);
    serving.signal("INT");
    let (code, rest) = serving.wait();
    assert_eq!(code, Some(0), "{rest}");
    assert!(!rest.contains("Cannot accept"), "{rest}");
}

#[test]
fn the_soft_limit_is_raised() {
    let (_directory, serving) = served("ulimit -S -n 64");
    let greeting = &serving.greeting;
    assert!(
        greeting.contains("Raised the limit of open files from=64"),
        "{greeting}"
    );
    assert!(!greeting.contains("Fewer connections"), "{greeting}");
    let address = serving.address.clone();
    let idle: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&address).unwrap()).collect();
    assert!(serving.client().allows("old2"));
    for connection in &idle {
        connection.set_nonblocking(true).unwrap();
        let read = connection.peek(&mut [0]).unwrap_err();
        assert_eq!(read.kind(), std::io::ErrorKind::WouldBlock, "it is still open");
    }
}
