//! A server whose process may not open many files, in a separate process.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use super::client::Client;
use super::running::Running;

const CHILD: &str = "files::serves_in_a_process_of_its_own";
const ADDRESS: &str = "serving at ";

/// What the child is: it serves until its standard input ends.
#[test]
#[ignore = "it is the child of the other test"]
fn serves_in_a_process_of_its_own() {
    let server = Running::start();
    println!("\n{ADDRESS}{}", server.address);
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

#[test]
fn idle_connections_make_room_where_files_are_missing() {
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 64; exec \"$0\" --ignored --nocapture --exact \"$1\"",
        ])
        .arg(std::env::current_exe().unwrap())
        .arg(CHILD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address: SocketAddr = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix(ADDRESS)?.parse().unwrap()))
        .unwrap();
    let mut known = Client::to(address);
    assert_eq!(known.review("/validate", "web").code, 200);
    let idle: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    for _ in 0..10 {
        assert_eq!(Client::to(address).review("/validate", "web").code, 200);
    }
    assert_eq!(known.review("/validate", "web").code, 200, "who was known stays");
    drop((idle, child.stdin.take()));
    assert!(lines.any(|line| line.unwrap().contains("1 passed")));
    assert!(child.wait().unwrap().success());
}
