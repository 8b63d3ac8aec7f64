//! A temporary directory to run the command in, and its result.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Runs git in a directory, with nothing of the user's configuration.
#[track_caller]
pub(crate) fn git(directory: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "git {arguments:?}");
}

/// A temporary directory, removed on drop.
pub(crate) struct Directory {
    path: PathBuf,
}

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) line: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Directory {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pratique-{:010}-{count:03}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory { path }
    }

    /// Writes a file.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the command in the directory.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, "", &[])
    }

    /// Runs the command with a standard input and environment variables.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str, environment: &[(&str, &str)]) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args(arguments)
            .current_dir(&self.path)
            .env_clear()
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // The command may end before it has read everything.
        let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(&*self.path.to_string_lossy(), "$DIR")
        };
        Run {
            line: format!("pratique {}", arguments.join(" ")),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self
            .code
            .map_or_else(|| "killed".to_owned(), |code| format!("exit code {code}"));
        writeln!(formatter, "$ {}\n{code}", self.line)?;
        for (name, text) in [
            ("standard output", &self.stdout),
            ("standard error", &self.stderr),
        ] {
            if !text.is_empty() {
                write!(formatter, "---- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

impl Run {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Checks that it shows some texts, on standard output or standard error.
    #[track_caller]
    pub(crate) fn shows(&self, texts: &[&str]) -> &Self {
        let shown = self.to_string();
        for text in texts {
            assert!(shown.contains(text), "{text:?} is not in {shown}");
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// Checks that standard output has a text.
    #[track_caller]
    pub(crate) fn stdout_has(&self, text: &str) -> &Self {
        assert!(
            self.stdout.contains(text),
            "{text:?} is not on standard output: {self}"
        );
        self
    }

    /// The line of counts: the last one but that which says what was evaluated.
    pub(crate) fn counts(&self) -> Option<&str> {
        let mut lines = self.stdout.lines().rev();
        lines.find(|line| !line.starts_with("evaluated: "))
    }

    /// Checks that standard error has a text.
    #[track_caller]
    pub(crate) fn stderr_has(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "{text:?} is not on standard error: {self}"
        );
        self
    }

    /// Compares the run with a file of `golden/`, or writes that file if `BLESS` is set.
    #[track_caller]
    pub(crate) fn is(&self, golden: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/command/golden")
            .join(golden);
        let text = self.to_string();
        if std::env::var_os("BLESS").is_some() {
            fs::write(path, text).unwrap();
            return;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(text == expected, "{golden}: expected\n{expected}\nfound\n{text}");
    }
}

/// Runs something with a time limit.
pub(crate) fn within<T>(limit: Duration, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let taken = start.elapsed();
    assert!(taken < limit, "took {taken:?}");
    result
}

/// Interrupts a run that keeps its checkpoint in `kept.json`, as [`interrupted`] does, and runs it again: it goes on, reports
/// what the whole run did, and leaves no checkpoint. Returns the checkpoint that it went on from.
#[track_caller]
pub(crate) fn interrupted_and_resumed(
    directory: &Directory,
    whole: &Run,
    arguments: &[&str],
    has_counted: impl Fn(&Value) -> bool,
) -> Vec<u8> {
    let of_part = interrupted(directory, arguments, "kept.json", has_counted);
    let resumed = directory.run(arguments);
    assert!(
        resumed.stderr.contains("continued from the checkpoint, after "),
        "{resumed}"
    );
    assert_eq!(
        (resumed.code, &resumed.stdout),
        (whole.code, &whole.stdout),
        "{}",
        resumed.stderr
    );
    let left = directory.path().join("kept.json").exists();
    assert!(!left, "a complete run leaves no checkpoint");
    of_part
}

/// Runs a command that keeps a checkpoint in a file of the directory, and kills it once the report of the checkpoint has counted
/// something. The checkpoint that was seen is what the next run finds, however far the killed one came.
pub(crate) fn interrupted(
    directory: &Directory,
    arguments: &[&str],
    checkpoint: &str,
    has_counted: impl Fn(&Value) -> bool,
) -> Vec<u8> {
    let path = directory.path().join(checkpoint);
    let counted = |content: &Vec<u8>| {
        let checkpoint: Value = serde_json::from_slice(content).unwrap();
        has_counted(&checkpoint["counts"])
    };
    // A run that ends before its checkpoint is seen is done again.
    loop {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
            .args(arguments)
            .current_dir(directory.path())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let found = loop {
            let found = fs::read(&path).ok().filter(counted);
            let is_done = child.try_wait().unwrap().is_some();
            match found {
                None if !is_done => thread::sleep(Duration::from_millis(1)),
                found => break found,
            }
        };
        child.kill().unwrap();
        child.wait().unwrap();
        // What a run that has ended removed is not there.
        #[cfg(unix)]
        if let Ok(metadata) = fs::symlink_metadata(&path) {
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            assert_eq!((metadata.is_file(), mode & 0o777), (true, 0o600), "{checkpoint}");
        }
        if let Some(found) = found {
            let copy = path.with_extension("copy");
            fs::write(&copy, &found).unwrap();
            fs::rename(&copy, &path).unwrap();
            return found;
        }
    }
}
