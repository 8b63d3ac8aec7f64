//! `pratique scan` with a real S3-compatible store: shards write to it, their reports are merged from it, and its
//! errors are reported.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pratique_deploy::part;
use pratique_harness::{RandomDice, StepTranscript, TestCertificates, ToolError, eventually};
use serde_json::{Value, json};

use super::PartEnvironment;
use super::programs::{describe, succeeds};
use super::versitygw::S3Gateway;

const POLICIES: &str = include_str!("store.yaml");
const OBJECTS: usize = 6000;
const SHARDS: usize = 3;
/// The size of the parts of an upload, in bytes.
const PART: u64 = 8 << 20;
const BUCKET: &str = "scans";

/// A store, and the program and folder of scans.
struct StoreScans {
    store: S3Gateway,
    pratique: PathBuf,
    folder: PathBuf,
}

/// Runs all steps with one store.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("pratique scan with a store");
    environment.programs.add_store()?;
    let certificates = environment.state.join("certificates");
    fs::create_dir_all(&certificates).map_err(ToolError::file(&certificates))?;
    let certificates = TestCertificates::new(&certificates)?;
    let mut scans = StoreScans {
        store: S3Gateway::start(&environment.programs, &environment.state, &certificates)?,
        pratique: environment.programs.pratique().get_program().into(),
        folder: environment.state.clone(),
    };
    scans.store.bucket(BUCKET)?;
    scans.place()?;
    transcript.step("the reports of shards are merged from it", scans.merged());
    transcript.step("large results are written in parts", scans.large());
    transcript.step("what it refuses is told at once", scans.refused());
    transcript.step(
        "it ends during an upload: told, and nothing is there",
        scans.ends(),
    );
    scans.store = S3Gateway::start(&environment.programs, &environment.state, &certificates)?;
    transcript.step("once it is back, the same scan is written", scans.large());
    Ok(())
}

impl StoreScans {
    /// Writes the policies and the objects, whose texts cannot be compressed by much.
    fn place(&self) -> Result<(), ToolError> {
        let mut dice = RandomDice::new(11);
        let mut objects = String::new();
        for number in 0..OBJECTS {
            let mut text = String::new();
            for _ in 0..256 {
                // Writing to a String cannot fail.
                let _ = write!(text, "{:016x}", dice.bits());
            }
            let metadata = json!({"name": format!("object-{number}"), "namespace": "shop"});
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"text": text}});
            let _ = writeln!(objects, "{object}");
        }
        for (name, text) in [("policies.yaml", POLICIES), ("objects.ndjson", &objects)] {
            let path = self.folder.join(name);
            fs::write(&path, text).map_err(ToolError::file(&path))?;
        }
        Ok(())
    }

    /// A command of `pratique`, with the credentials of the store.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.pratique);
        command
            .current_dir(&self.folder)
            .args(arguments)
            .envs(self.store.environment())
            .stdin(Stdio::null());
        command
    }

    fn scan(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&["scan", "--policies", "policies.yaml", "objects.ndjson"]);
        command.args(arguments);
        command
    }

    fn merged(&self) -> Result<String, ToolError> {
        let mut reports = Vec::new();
        for shard in 0..SHARDS {
            let report = format!("s3://{BUCKET}/of today/{shard}+{SHARDS}.json");
            let shard = format!("{shard}/{SHARDS}");
            succeeds(&mut self.scan(&["--shard", &shard, "--report", &report]))?;
            reports.push(report);
        }
        let folder = self.store.object(&format!("{BUCKET}/of today"));
        let written = fs::read_dir(&folder).map_err(ToolError::file(&folder))?.count();
        let mut merge = self.command(&["report", "merge", "-o", "json"]);
        let merged = succeeds(merge.args(&reports))?;
        let whole = succeeds(&mut self.scan(&["-o", "json"]))?;
        let report: Value = serde_json::from_str(&whole).map_err(|error| error.to_string())?;
        let total = part(&report, "/tally/total");
        let expected = json!({"allowed": OBJECTS, "audited": OBJECTS + OBJECTS / 10});
        if written == SHARDS && merged == whole && *total == expected {
            Ok(format!("{SHARDS} shards: {total}"))
        } else {
            Err(format!("{written} reports, which do not give {total}, or not as they should").into())
        }
    }

    /// The content in the store is the same as in a file.
    fn large(&self) -> Result<String, ToolError> {
        let left = self.store.parts(BUCKET);
        for name in ["results.parquet", "results.arrow"] {
            let object = format!("{BUCKET}/{name}");
            succeeds(&mut self.scan(&["--results", name]))?;
            succeeds(&mut self.scan(&["--results", &format!("s3://{object}")]))?;
            let [file, object] = [self.folder.join(name), self.store.object(&object)];
            let read = |path: &Path| fs::read(path).map_err(ToolError::file(path));
            let (expected, actual) = (read(&file)?, read(&object)?);
            if actual != expected || actual.len() as u64 <= 2 * PART {
                let [actual_length, expected] = [actual.len(), expected.len()];
                return Err(format!("{name}: {actual_length} bytes for {expected}, or others").into());
            }
        }
        match self.store.parts(BUCKET) {
            parts if parts == left => Ok("the objects are the same as files, byte by byte".to_owned()),
            parts => Err(format!("{parts} parts are left, of {left}").into()),
        }
    }

    /// Nothing is scanned that cannot be written.
    fn refused(&self) -> Result<String, ToolError> {
        let mut reported = String::new();
        let cases = [
            ("", "", "nobody-made-it", "(NoSuchBucket)"),
            (
                "AWS_SECRET_ACCESS_KEY",
                "another",
                BUCKET,
                "(SignatureDoesNotMatch)",
            ),
            ("AWS_SECRET_ACCESS_KEY", "", BUCKET, "is not set"),
            ("AWS_ACCESS_KEY_ID", "another", BUCKET, "the store answers 40"),
            ("AWS_SESSION_TOKEN", "another", BUCKET, "(InvalidToken)"),
            ("AWS_REGION", "eu-other-1", BUCKET, "\"us-east-1\""),
            ("AWS_CA_BUNDLE", "", BUCKET, "the store is not reached: "),
            (
                "AWS_ENDPOINT_URL",
                "https://127.0.0.1:1",
                BUCKET,
                "the store is not reached: ",
            ),
        ];
        for (variable, value, bucket, expected) in cases {
            for (flag, name) in [("--report", "refused.json"), ("--results", "refused.parquet")] {
                let mut scan = self.scan(&["-o", "ndjson", flag, &format!("s3://{bucket}/{name}")]);
                if !variable.is_empty() {
                    scan.env(variable, value);
                }
                let output = scan.output().map_err(ToolError::program("pratique"))?;
                let errors = String::from_utf8_lossy(&output.stderr);
                let is_there = self.store.object(&format!("{bucket}/{name}")).exists();
                if output.status.code() != Some(2)
                    || !errors.contains(expected)
                    || is_there
                    || !output.stdout.is_empty()
                {
                    return Err(format!("{variable}={value} {flag} {bucket}: {}", describe(&output)).into());
                }
                if flag == "--report" {
                    reported += &errors;
                }
            }
        }
        let output = self
            .command(&["report", "merge", &format!("s3://{BUCKET}/none.json")])
            .output();
        let output = output.map_err(ToolError::program("pratique"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(2) && errors.contains("(NoSuchKey)") {
            Ok(reported + &errors)
        } else {
            Err(describe(&output).into())
        }
    }

    /// The store ends once it has a part.
    fn ends(&mut self) -> Result<String, ToolError> {
        let name = format!("{BUCKET}/cut.arrow");
        let mut scan = self.command(&["scan", "--policies", "policies.yaml", "--results"]);
        scan.args([&format!("s3://{name}"), "-"]);
        scan.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut scan = scan.spawn().map_err(ToolError::program("pratique"))?;
        let mut input = scan.stdin.take().ok_or("no input")?;
        let path = self.folder.join("objects.ndjson");
        io::copy(
            &mut File::open(&path).map_err(ToolError::file(&path))?,
            &mut input,
        )?;
        input.flush()?;
        eventually("uploaded", || Ok(self.store.parts(BUCKET) > 0))?;
        self.store.kill()?;
        drop(input);
        let output = scan.wait_with_output().map_err(ToolError::program("pratique"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let is_told = output.status.code() == Some(2) && errors.contains("the store is not reached");
        if is_told && !self.store.object(&name).exists() {
            Ok(errors.into_owned())
        } else {
            Err(describe(&output).into())
        }
    }
}
