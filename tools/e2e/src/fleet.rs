//! `pratique scan` of a cluster with many objects: each is seen once or told as changed, and a scan that was killed goes on. And
//! `pratique impact` of the same: what other policies decide is known.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pratique_harness::{RandomDice, StepTranscript, ToolError};
use serde_json::{Value, json};

use super::PartEnvironment;
use super::apiserver::{ApiServer, ServerStart};
use super::bulk::BulkRequests;
use super::etcd::EtcdServer;
use super::kubectl::KubectlUser;

const OBJECTS: usize = 20_000;
const NAMESPACES: usize = 20;
/// How many requests are made by one curl.
const BATCH: usize = 1000;
const POLICIES: &str = include_str!("fleet.yaml");
/// So that the rate does not count.
const FAST: [&str; 4] = ["--kube-api-qps", "1000", "--kube-api-burst", "1000"];
/// How long a scan may take, however slow the machine is.
const PATIENCE: Duration = Duration::from_secs(600);

/// A cluster with many objects.
struct ClusterFleet {
    api: ApiServer,
    _etcd: EtcdServer,
    state: PathBuf,
    pratique: PathBuf,
}

/// Runs all steps on one cluster.
pub(super) fn run(environment: &PartEnvironment, transcript: &mut StepTranscript) -> Result<(), ToolError> {
    transcript.part("pratique scan of a cluster");
    let etcd = EtcdServer::start(&environment.programs, &environment.state)?;
    let start = ServerStart {
        // So that a list of some seconds expires.
        flags: &["--etcd-compaction-interval=2s"],
        ..ServerStart::new(&environment.programs, &etcd, &environment.state)
    };
    let fleet = ClusterFleet {
        api: start.ready()?,
        _etcd: etcd,
        state: environment.state.clone(),
        pratique: environment.programs.pratique().get_program().into(),
    };
    let others = POLICIES.replace("endsWith('7')", "endsWith('5')");
    for (name, policies) in [("fleet.yaml", POLICIES), ("others.yaml", &others)] {
        fs::write(fleet.state.join(name), policies).map_err(ToolError::file(name))?;
    }
    fleet
        .kubectl()
        .kubeconfig(fleet.state.join("kubeconfig"), "admin-token")?;
    transcript.step("has 20,000 objects", fleet.create());
    transcript.step("each is seen once", fleet.without_changes());
    transcript.step("two sets of policies are compared", fleet.compared());
    transcript.step("killed half-way and run again: the same report", fleet.killed());
    transcript.step(
        "while objects change: once, or told as changed",
        fleet.while_changing(),
    );
    Ok(())
}

/// A scan that runs.
struct RunningScan {
    child: Child,
    out: PathBuf,
    errors: PathBuf,
    start: Instant,
    /// The largest amount of memory that it had, in KiB.
    memory: u64,
}

/// The output of a scan.
struct ScanOutput {
    out: String,
    errors: String,
    taken: Duration,
    memory: u64,
}

/// The lines of a scan about an object.
struct ScannedObject {
    times: usize,
    /// The number of its changes, from the message of a policy.
    changes: String,
    is_changed: bool,
}

impl ClusterFleet {
    fn kubectl(&self) -> &KubectlUser {
        self.api.kubectl()
    }

    fn create(&self) -> Result<String, ToolError> {
        let start = Instant::now();
        for number in 0..NAMESPACES {
            let namespace = format!(
                "apiVersion: v1\nkind: Namespace\nmetadata: {{name: fleet-{number}, labels: {{fleet: \"yes\"}}}}\n"
            );
            self.kubectl().must(&["apply"], &namespace)?;
        }
        let numbers: Vec<usize> = (0..OBJECTS).collect();
        for batch in numbers.chunks(BATCH) {
            let mut bulk = BulkRequests::new(self.kubectl());
            for number in batch {
                let (namespace, name) = place(*number);
                bulk.create(
                    &format!("/api/v1/namespaces/{namespace}/configmaps"),
                    &config_map(&name),
                );
            }
            bulk.send(&self.state, "create")?;
        }
        Ok(format!("in {:.0?}", start.elapsed()))
    }

    fn scan(&self, name: &str, more: &[&str]) -> Result<RunningScan, ToolError> {
        let scan = ["scan", "--policies", "fleet.yaml"];
        self.start(name, &[scan.as_slice(), more].concat())
    }

    fn start(&self, name: &str, arguments: &[&str]) -> Result<RunningScan, ToolError> {
        let (out, errors) = (
            self.state.join(format!("{name}.out")),
            self.state.join(format!("{name}.errors")),
        );
        let file = |path: &PathBuf| File::create(path).map_err(ToolError::file(path));
        let child = Command::new(&self.pratique)
            .current_dir(&self.state)
            .args(arguments)
            .args(["--kubeconfig", "kubeconfig"])
            .stdin(Stdio::null())
            .stdout(file(&out)?)
            .stderr(file(&errors)?)
            .spawn()
            .map_err(ToolError::program("pratique"))?;
        Ok(RunningScan {
            child,
            out,
            errors,
            start: Instant::now(),
            memory: 0,
        })
    }

    /// Without changes, each object has a line.
    fn without_changes(&self) -> Result<String, ToolError> {
        let scanned = self
            .scan("quiet", &[FAST.as_slice(), &["-o", "ndjson"]].concat())?
            .end()?;
        let objects = scanned.objects()?;
        let once = (0..OBJECTS).filter(|number| {
            let (namespace, name) = place(*number);
            objects
                .get(&format!("{namespace}/{name}"))
                .is_some_and(|object| object.times == 1 && !object.is_changed)
        });
        let once = once.count();
        match (once, objects.len()) {
            (OBJECTS, OBJECTS) => Ok(scanned.speed()),
            (once, all) => Err(format!("{once} of {all} objects are seen once\n{}", scanned.errors).into()),
        }
    }

    /// A tenth of the objects is refused by one set of policies only, and a tenth by the other.
    fn compared(&self) -> Result<String, ToolError> {
        let compare = [
            "impact",
            "--old",
            "fleet.yaml",
            "--new",
            "others.yaml",
            "-o",
            "json",
        ];
        let compared = self
            .start("compared", &[compare.as_slice(), &FAST].concat())?
            .end()?;
        let counts: Value =
            serde_json::from_str(&compared.out).map_err(|error| format!("{error}: {}", compared.errors))?;
        let actual_counts = ["newlyRefused", "newlyAllowed", "undecided", "errors"]
            .map(|name| counts.get(name).and_then(Value::as_u64));
        let tenth = OBJECTS as u64 / 10;
        // There are a few objects of the server's own.
        let same = counts.get("same").and_then(Value::as_u64).unwrap_or_default();
        if actual_counts == [tenth, tenth, 0, 0].map(Some) && same >= 8 * tenth {
            Ok(compared.speed())
        } else {
            Err(format!("{actual_counts:?} and {same} the same\n{}", compared.errors).into())
        }
    }

    fn killed(&self) -> Result<String, ToolError> {
        let fast = [FAST.as_slice(), &["-o", "json"]].concat();
        let whole = self.scan("whole", &fast)?.end()?;
        let slow = [
            "-o",
            "json",
            "--chunk-size",
            "250",
            "--kube-api-qps",
            "20",
            "--kube-api-burst",
            "1",
        ];
        let kept = ["--checkpoint", "kept.json", "--checkpoint-interval", "0"];
        let mut first = self.scan("killed", &[slow.as_slice(), kept.as_slice()].concat())?;
        let path = self.state.join("kept.json");
        let done = loop {
            let done = fs::read_to_string(&path).ok().and_then(|kept| {
                let kept: Value = serde_json::from_str(&kept).ok()?;
                kept.get("done")?.as_u64()
            });
            if let Some(done) = done.filter(|done| *done >= OBJECTS as u64 / 2) {
                break done;
            }
            if first.child.try_wait()?.is_some() {
                return Err(format!("it ended before: {}", first.end()?.errors).into());
            }
            thread::sleep(Duration::from_millis(5));
        };
        first.child.kill()?;
        first.child.wait()?;
        let second = self
            .scan("resumed", &[fast.as_slice(), kept.as_slice()].concat())?
            .end()?;
        if !second.errors.contains("continued from the checkpoint") || second.out != whole.out {
            return Err(format!("the reports differ: {}\n{}", whole.out, second.out).into());
        }
        Ok(format!("killed after {done} objects"))
    }

    /// Objects are changed, created and deleted while they are listed slowly, and the server compacts old revisions.
    fn while_changing(&self) -> Result<String, ToolError> {
        let previous_count = self.expired()?;
        let slow = [
            "-o",
            "ndjson",
            "--chunk-size",
            "250",
            "--kube-api-qps",
            "3",
            "--kube-api-burst",
            "1",
        ];
        let scan = self.scan("busy", &slow)?;
        scan.begins()?;
        let ends = AtomicBool::new(false);
        let (scanned, changes) = thread::scope(|scope| {
            let changes = scope.spawn(|| self.change(&ends));
            let scanned = scan.end();
            ends.store(true, Ordering::Relaxed);
            let changes = changes.join().map_err(|_| ToolError::from("a thread panicked"))?;
            Ok::<_, ToolError>((scanned?, changes?))
        })?;
        let objects = scanned.objects()?;
        for number in 0..OBJECTS {
            let (namespace, name) = place(number);
            let scanned_object = objects.get(&format!("{namespace}/{name}"));
            let scanned_object = scanned_object.ok_or_else(|| format!("{namespace}/{name} is not seen"))?;
            let is_reported = scanned_object.changes == "0" || scanned_object.is_changed;
            if scanned_object.times != 1 || !is_reported {
                let ScannedObject { times, changes, .. } = scanned_object;
                return Err(
                    format!("{namespace}/{name} is seen {times} times, after {changes} changes").into(),
                );
            }
        }
        if let Some((key, _)) = objects.iter().find(|(_, object)| object.times > 1) {
            return Err(format!("{key} is seen more than once").into());
        }
        let reported = objects.values().filter(|object| object.is_changed).count();
        let expired = self.expired()? - previous_count;
        if reported == 0 || expired == 0 {
            return Err(format!("{changes} changes, {reported} told, {expired} lists expired").into());
        }
        Ok(format!(
            "{changes} changes, {reported} objects told as changed, {expired} times 410 Gone, {}",
            scanned.speed()
        ))
    }

    /// Changes objects at random until the scan ends, creates others, and deletes these again.
    fn change(&self, ends: &AtomicBool) -> Result<usize, ToolError> {
        let mut dice = RandomDice::new(7);
        let mut round = 0;
        while !ends.load(Ordering::Relaxed) {
            round += 1;
            let mut bulk = BulkRequests::new(self.kubectl());
            let mut numbers: Vec<usize> = (0..90).map(|_| dice.below(OBJECTS)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                let (namespace, name) = place(number);
                let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
                bulk.merge(&path, &json!({"data": {"changes": round.to_string()}}));
            }
            let namespace = format!("fleet-{}", dice.below(NAMESPACES));
            let path = format!("/api/v1/namespaces/{namespace}/configmaps");
            for of_round in 0..5 {
                bulk.create(&path, &config_map(&format!("new-{round}-{of_round}")));
            }
            bulk.send(&self.state, "change")?;
            let mut deletions = BulkRequests::new(self.kubectl());
            deletions.delete(&format!("{path}/new-{round}-0"));
            deletions.send(&self.state, "delete")?;
        }
        Ok(round * 95)
    }

    /// How many lists have expired, by the audit log.
    fn expired(&self) -> Result<usize, ToolError> {
        let log = self.api.audit_log()?;
        let is_expired = |line: &&str| line.contains("\"code\":410") && line.contains("/api/v1/configmaps?");
        Ok(log.lines().filter(is_expired).count())
    }
}

impl RunningScan {
    /// Waits until it has read objects.
    fn begins(&self) -> Result<(), ToolError> {
        let start = Instant::now();
        while fs::metadata(&self.out)?.len() == 0 {
            if start.elapsed() > PATIENCE {
                return Err("it reads nothing".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn end(mut self) -> Result<ScanOutput, ToolError> {
        while self.child.try_wait()?.is_none() {
            self.memory = self.memory.max(memory(self.child.id()));
            if self.start.elapsed() > PATIENCE {
                self.child.kill()?;
                return Err("it does not end".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        let read = |path: &PathBuf| fs::read_to_string(path).map_err(ToolError::file(path));
        Ok(ScanOutput {
            out: read(&self.out)?,
            errors: read(&self.errors)?,
            taken: self.start.elapsed(),
            memory: self.memory,
        })
    }
}

impl ScanOutput {
    /// The objects that have a line.
    fn objects(&self) -> Result<BTreeMap<String, ScannedObject>, ToolError> {
        let mut all: BTreeMap<String, ScannedObject> = BTreeMap::new();
        for line in self.out.lines() {
            let line: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
            if line.get("error").is_some() {
                return Err(format!("not evaluated: {line}").into());
            }
            if line.get("summary").is_some() {
                continue;
            }
            let policies = line.get("policies").and_then(Value::as_array);
            let decision = policies
                .into_iter()
                .flatten()
                .find(|policy| policy.get("policy").and_then(Value::as_str) == Some("seen"));
            let message = decision.and_then(|decision| decision.get("message")?.as_str());
            let changed = line.get("changedMeanwhile").and_then(Value::as_bool);
            let of_object = all
                .entry(format!("{}/{}", text("namespace"), text("name")))
                .or_insert(ScannedObject {
                    times: 0,
                    changes: message.unwrap_or("nothing").to_owned(),
                    is_changed: changed.unwrap_or_default(),
                });
            of_object.times += 1;
        }
        Ok(all)
    }

    fn speed(&self) -> String {
        format!("in {:.1?}, with {} MiB at most", self.taken, self.memory / 1024)
    }
}

/// The largest amount of memory that a process had, in KiB; 0 where the system does not say it.
fn memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    number.unwrap_or_default()
}

fn place(number: usize) -> (String, String) {
    (
        format!("fleet-{}", number % NAMESPACES),
        format!("object-{number:05}"),
    )
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": "fleet"}},
        "data": {"changes": "0", "text": "some text, as a configuration has it\n".repeat(8)},
    })
}
