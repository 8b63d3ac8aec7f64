//! Objects of built-in kinds, half of them invalid, are created in a server, and reviewed by `pratique review --chain`: both refuse the
//! same ones with the same answer, and make the same of the others.

mod differences;
mod objects;

use std::collections::BTreeMap;
use std::fs;

use pratique_harness::{StepTranscript, ToolError};
use serde_json::{Value, json};

use super::PartEnvironment;
use super::answers::{is_same, plain};
use super::apiserver::ServerStart;
use super::etcd::EtcdServer;
use super::http::{self, UserProxy};
use super::kubectl::KubectlUser;
use super::review_command::{ADMINISTRATOR, ReviewCommand};
use objects::CreatedObject;

/// Options of the part `validation`.
#[derive(clap::Args, Debug)]
pub(super) struct ValidationArguments {
    /// How many random objects the part `validation` creates besides the recorded ones.
    #[arg(long, value_name = "COUNT", default_value_t = 2400)]
    random: usize,
    /// Where the choices of random objects begin.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// How many objects have to be created at least.
const MIN_OBJECTS: usize = 2000;

/// How many differences of a kind are printed.
const MAX_DIFFERENCES: usize = 5;

/// Creates and reviews all objects, and compares.
pub(super) fn run(
    environment: &PartEnvironment,
    transcript: &mut StepTranscript,
    arguments: &ValidationArguments,
) -> Result<(), ToolError> {
    transcript.part("objects that a server refuses or accepts, and pratique review --chain");
    let release = environment.programs.release();
    let objects = objects::collect(release, arguments.seed, arguments.random)?;
    let state = &environment.state;
    let etcd = EtcdServer::start(&environment.programs, state)?;
    let mut server = ServerStart::new(&environment.programs, &etcd, state).ready()?;
    create_classes(server.kubectl())?;
    let review = ReviewCommand::new(
        &environment.programs,
        server.kubectl(),
        state,
        vec!["--disable-admission-plugins=ServiceAccount".to_owned()],
    )?
    .with_networks(server.kubectl())?;
    let answers = ask(server.kubectl(), &objects)?;
    server.stop()?;
    let bodies: Vec<&Value> = objects.iter().map(|created| &created.object).collect();
    let reviewed = review.answers(ADMINISTRATOR, &bodies)?;
    let mut kinds: BTreeMap<String, ComparedKind> = BTreeMap::new();
    for ((created, server), ours) in objects.iter().zip(&answers).zip(&reviewed) {
        let kind = kinds.entry(created.kind()).or_default();
        kind.compare(created, server, ours);
    }
    let report = environment.programs.folder().join("validation.ndjson");
    write_differences(&report, &objects, &answers, &reviewed)?;
    transcript.step("half of the objects are invalid", counts(&kinds));
    for (name, kind) in &kinds {
        transcript.step(name, kind.outcome());
    }
    Ok(())
}

/// A default class of storage, of which claims that name none ask.
const CLASSES: &str = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: standard\n  annotations: \
    {storageclass.kubernetes.io/is-default-class: 'true'}\nprovisioner: example.com/disk\n";

/// Creates what a usual cluster has.
fn create_classes(kubectl: &KubectlUser) -> Result<(), ToolError> {
    kubectl.must(&["apply"], CLASSES).map(drop)
}

/// The server's answers; nothing is stored.
fn ask(kubectl: &KubectlUser, objects: &[CreatedObject]) -> Result<Vec<Value>, ToolError> {
    let proxy = UserProxy::start(kubectl)?;
    let answer = |created: &CreatedObject| {
        match proxy.create_dry(&http::path(&created.object)?, &created.object) {
            Ok(answer) => Ok(plain(answer, &created.object)),
            Err(error) => {
                // Of one that panics over an object nothing comes. One that answers no other object either is not there.
                let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}});
                proxy.create_dry(&http::path(&other)?, &other)?;
                Ok(json!({"failed": error.to_string()}))
            }
        }
    };
    objects.iter().map(answer).collect()
}

/// What came of the objects of a kind.
#[derive(Default)]
struct ComparedKind {
    objects: usize,
    refused: usize,
    /// How many differ for a reason that is known.
    known: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

impl ComparedKind {
    fn compare(&mut self, created: &CreatedObject, server: &Value, ours: &Value) {
        self.objects += 1;
        self.refused += usize::from(server.get("object").is_none());
        if is_same(server, ours) {
            return;
        }
        match differences::reason(created, server, ours) {
            Some(reason) => *self.known.entry(reason).or_default() += 1,
            None => self.differences.push(format!(
                "{}: {}\nthe server: {server}\nours:       {ours}",
                created.name, created.object
            )),
        }
    }

    fn outcome(&self) -> Result<String, ToolError> {
        let mut text = format!("{} objects, {} refused", self.objects, self.refused);
        for (reason, count) in &self.known {
            text.push_str(&format!("\n{count} differ: {reason}"));
        }
        if self.differences.is_empty() {
            return Ok(text);
        }
        text.push_str(&format!("\n{} differ, such as", self.differences.len()));
        for difference in self.differences.iter().take(MAX_DIFFERENCES) {
            text.push_str(&format!("\n{difference}"));
        }
        Err(text.into())
    }
}

fn counts(kinds: &BTreeMap<String, ComparedKind>) -> Result<String, ToolError> {
    let sum = |of: fn(&ComparedKind) -> usize| kinds.values().map(of).sum::<usize>();
    let (objects, refused) = (sum(|kind| kind.objects), sum(|kind| kind.refused));
    let known = sum(|kind| kind.known.values().sum());
    let text = format!(
        "{objects} objects of {} kinds, {refused} refused; {known} differ for reasons that are known, {} otherwise",
        kinds.len(),
        sum(|kind| kind.differences.len())
    );
    let is_half = (40..=60).contains(&(refused * 100 / objects.max(1)));
    pratique_harness::outcome(objects >= MIN_OBJECTS && is_half, text)
}

/// Writes a line for each object whose answers differ.
fn write_differences(
    path: &std::path::Path,
    objects: &[CreatedObject],
    answers: &[Value],
    reviewed: &[Value],
) -> Result<(), ToolError> {
    let mut text = String::new();
    for ((created, server), ours) in objects.iter().zip(answers).zip(reviewed) {
        if !is_same(server, ours) {
            let reason = differences::reason(created, server, ours);
            let line = json!({"name": created.name, "object": created.object, "server": server, "ours": ours, "reason": reason});
            text.push_str(&format!("{line}\n"));
        }
    }
    fs::write(path, text).map_err(ToolError::file(path))
}
