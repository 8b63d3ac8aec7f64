//! Standard output and standard error without a reader: pipes that are closed, and pipes that are full.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::serve::{Client, POLICY, eventually, review, unused_address};
use crate::support::Directory;

/// The exit code that shells report for a program that `SIGPIPE` ended.
const SIGPIPE: i32 = 141;

#[test]
fn commands_whose_answer_is_not_read_end_quietly() {
    let directory = Directory::new()
        .with("manifests/a.yaml", POLICY)
        .with(
            "pod.yaml",
            "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default}, spec: {containers: [{name: c, image: i}]}}",
        )
        .with(
            "suite.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: s}\npolicies: [manifests]\ntests:\n- {name: t, \
             object: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}}, expect: allowed}\n",
        );
    let all: [&[&str]; 11] = [
        &["check", "manifests"],
        &["check", "manifests", "--output", "json"],
        &["check", "manifests", "--output", "sarif"],
        &["check", "manifests", "--output", "junit"],
        &["check", "manifests", "--hash-only"],
        &["review", "pod.yaml", "--manifests", "manifests"],
        &[
            "review",
            "pod.yaml",
            "--manifests",
            "manifests",
            "--output",
            "json",
        ],
        &["test", "suite.yaml"],
        &[
            "serve",
            "--print-webhook-configuration",
            "--manifests",
            "manifests",
        ],
        &["serve", "--help"],
        &["--version"],
    ];
    for arguments in all {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args(arguments)
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(SIGPIPE), "{arguments:?}: {said}");
        assert!(
            !said.contains("panicked") && !said.contains("error"),
            "{arguments:?}: {said}"
        );
    }
}

/// A server whose standard error is a pipe.
struct Piped {
    child: Child,
    address: String,
    directory: Directory,
}

impl Piped {
    fn start(stderr: PipeWriter, more: &[&str]) -> Self {
        Piped::with_delay("1", stderr, more)
    }

    /// One that still takes requests for so many seconds after a signal.
    fn with_delay(delay: &str, stderr: PipeWriter, more: &[&str]) -> Self {
        let address = unused_address();
        let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "old"));
        let child = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args(["serve", "--plain-http", "--listen", &address])
            .args([
                "--manifests",
                "manifests",
                "--shutdown-delay-duration",
                delay,
                "--drain-grace",
                "2",
            ])
            .args(more)
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .unwrap();
        eventually("it serves", || TcpStream::connect(&address).is_ok());
        Piped {
            child,
            address,
            directory,
        }
    }

    fn client(&self) -> Client {
        Client::to(&self.address).unwrap()
    }

    /// Makes it reload valid and invalid manifests, both of which it logs.
    fn reloads(&self, from: &str, to: &str) {
        let mut client = self.client();
        assert!(!client.allows(from) && client.allows(to));
        let file = self.directory.path().join("manifests/a.yaml");
        std::fs::write(&file, "kind: [").unwrap();
        eventually("invalid manifests are reported", || {
            client.get("/configz").contains("\"error\":")
        });
        std::fs::write(&file, POLICY.replace("NAME", to)).unwrap();
        eventually("the new one counts", || client.allows(from) && !client.allows(to));
        assert!(client.ask("GET", "/readyz", "").unwrap().0.contains("200"));
    }

    fn signal(&self) {
        let sent = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    fn dropped(&self) -> u64 {
        let metrics = self.client().get("/metrics");
        let name = "pratique_log_lines_dropped_total ";
        let line = metrics.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{metrics}")).parse().unwrap()
    }

    /// Waits until it ends, within its time.
    fn ends(&mut self) {
        let start = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
            thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(code, Some(0));
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        // It has ended already if the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_log_is_never_read() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut piped = Piped::start(writer, &["--logging-format", "json"]);
    piped.reloads("old", "new");
    eventually("lines are counted", || piped.dropped() > 0);
    piped.signal();
    piped.ends();
}

#[test]
fn the_reader_of_the_log_goes_away() {
    let (reader, writer) = pipe().unwrap();
    let mut piped = Piped::start(writer, &[]);
    piped.reloads("old", "new");
    drop(reader);
    piped.reloads("new", "newer");
    piped.reloads("newer", "newest");
    eventually("lines are counted", || piped.dropped() > 0);
    piped.signal();
    piped.ends();
}

#[test]
fn the_reader_of_the_log_goes_away_during_the_end() {
    let (reader, writer) = pipe().unwrap();
    let mut piped = Piped::with_delay("600", writer, &[]);
    let mut client = piped.client();
    piped.signal();
    eventually("it is ending", || {
        client.ask("GET", "/readyz", "").unwrap().0.contains("503")
    });
    drop(reader);
    assert!(piped.client().allows("web"));
    // The second one ends the wait.
    piped.signal();
    piped.ends();
}

/// Fills a pipe, and keeps it full.
fn fill(writer: &PipeWriter, reader: PipeReader) {
    let mut writer = writer.try_clone().unwrap();
    let (full, filled) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let _reader = reader;
        // A page at a time, until the pipe is full.
        while writer.write_all(&[b'x'; 4096]).is_ok() {
            if full.send(()).is_err() {
                return;
            }
        }
    });
    while filled.recv_timeout(Duration::from_millis(300)).is_ok() {}
}

#[test]
fn the_reader_of_the_log_stops_reading() {
    let (reader, writer) = pipe().unwrap();
    fill(&writer, reader);
    let mut piped = Piped::start(writer, &["--log-level", "debug"]);
    piped.reloads("old", "new");
    // Each of these logs a line; soon there are more than fit into the queue.
    let start = Instant::now();
    while piped.dropped() == 0 {
        for _ in 0..100 {
            let mut stream = TcpStream::connect(&piped.address).unwrap();
            stream.write_all(b"no HTTP\r\n\r\n").unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "lines are not counted");
    }
    for _ in 0..20 {
        assert!(piped.client().ask("POST", "/validate", &review("web")).is_ok());
    }
    piped.reloads("new", "newer");
    piped.signal();
    piped.ends();
}

/// A pipe among the manifests: opening it blocks, as there is no writer.
#[test]
fn a_directory_that_hangs_does_not_keep_it_from_ending() {
    let (_reader, writer) = pipe().unwrap();
    let mut piped = Piped::start(writer, &[]);
    let made = Command::new("mkfifo")
        .arg(piped.directory.path().join("manifests/b.yaml"))
        .status();
    assert!(made.unwrap().success());
    thread::sleep(Duration::from_millis(500));
    assert!(piped.client().allows("web"));
    piped.signal();
    piped.ends();
}

#[test]
fn audit_events_that_are_not_read_keep_nothing_waiting() {
    let (reader, writer) = pipe().unwrap();
    fill(&writer, reader);
    let address = unused_address();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args([
            "serve",
            "--plain-http",
            "--listen",
            &address,
            "--audit-log-path",
            "-",
        ])
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("it serves", || TcpStream::connect(&address).is_ok());
    for _ in 0..20 {
        assert!(Client::to(&address).unwrap().allows("web"));
    }
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let start = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(code, Some(0), "it ends although events are left");
}
