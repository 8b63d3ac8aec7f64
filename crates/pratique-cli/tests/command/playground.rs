//! `pratique playground`: its page and its module are served, and nothing else is.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::serve::Client;
use crate::support::Directory;

#[test]
fn a_directory_is_served() {
    let directory = Directory::new()
        .with("page/index.html", "<p>playground</p>")
        .with("page/pratique.wasm", "module")
        .with("page/notes.txt", "no part of it")
        .with("other/index.html", "");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(["playground", "--dir", "page", "--listen", "127.0.0.1:0"])
        .current_dir(directory.path())
        .env_clear()
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("http://").unwrap();
    let address = address.strip_suffix('/').unwrap();
    let mut client = Client::to(address).unwrap();
    assert_eq!(client.get("/"), "<p>playground</p>");
    assert_eq!(client.get("/pratique.wasm"), "module");
    for path in ["/notes.txt", "/../other/index.html", "/nothing.html"] {
        let (head, _) = client.ask("GET", path, "").unwrap();
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = directory.run(&["playground", "--dir", "other"]);
    refused.exits(2).stderr_has("other: there is no playground");
}
