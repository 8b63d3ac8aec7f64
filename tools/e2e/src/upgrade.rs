//! What `pratique upgrade` finds between two releases, compared with servers of both: each object is created in either, nothing is
//! stored but what others need.

mod compare;
mod definitions;
mod manifests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pratique_harness::{StepTranscript, ToolError, workspace};
use pratique_schema::Release;
use serde_json::{Value, json};

use super::PartEnvironment;
use super::answers::plain;
use super::apiserver::{SERVICE_NETWORK, ServerStart};
use super::etcd::EtcdServer;
use super::http::UserProxy;
use super::programs::ProgramPaths;
use compare::{ComparedRule, SERVED_RULES, answered_rules};
use definitions::{CustomDefinitions, PlacedObject};
use manifests::ManifestObjects;

/// Options of the part `upgrade`.
#[derive(clap::Args, Debug)]
pub(super) struct UpgradeArguments {
    /// The release from which the part `upgrade` upgrades, to that of `--kubernetes-version`.
    #[arg(long, value_name = "VERSION", value_parser = Release::by_version, default_value = "1.35")]
    upgrade_from: &'static Release,
    /// A file or directory of manifests that the part `upgrade` compares besides those of `testdata/e2e/upgrade`. Can be
    /// repeated.
    #[arg(long, value_name = "PATH")]
    manifests: Vec<PathBuf>,
}

/// A policy that is about nothing: without one, the Pod Security Standards decide.
const NO_POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: none}\n\
    spec:\n  matchConstraints:\n    resourceRules: [{apiGroups: [none.example.com], apiVersions: [v1], operations: [CREATE], \
    resources: [none]}]\n  validations: [{expression: 'true'}]\n";

/// How many differences of a rule are printed.
const MAX_DIFFERENCES: usize = 5;

/// Asks servers of both releases and the command, and compares.
pub(super) fn run(
    environment: &PartEnvironment,
    transcript: &mut StepTranscript,
    arguments: &UpgradeArguments,
) -> Result<(), ToolError> {
    let (from, to) = (arguments.upgrade_from, environment.programs.release());
    transcript.part(&format!(
        "pratique upgrade, and servers of Kubernetes {from} and {to}"
    ));
    let mut manifests = ManifestObjects::default();
    let own = workspace::root().join("testdata/e2e/upgrade");
    for path in std::iter::once(&own).chain(&arguments.manifests) {
        manifests.read(path)?;
    }
    let told = manifests.describe();
    let definitions = CustomDefinitions::new(&manifests.objects);
    let (objects, unsent) = definitions.place(manifests.objects);
    transcript.step("manifests are read", Ok(format!("{told}; {unsent}")));
    let mut answers = Vec::new();
    for release in [from, to] {
        let programs = environment.programs.with_release(release)?;
        let directory = environment.state.join(release.to_string());
        answers.push(ask(&programs, &directory, &definitions, &objects)?);
    }
    let by_line = findings(environment, [from, to], &definitions, &objects)?;
    let [old, new] = answers.as_slice() else {
        return Err("there are two releases".into());
    };
    let mut rules: BTreeMap<&str, ComparedRule> = BTreeMap::new();
    let mut same = 0;
    for (at, object) in objects.iter().enumerate() {
        let [Some(old), Some(new)] = [old.get(at), new.get(at)] else {
            continue;
        };
        let ours = by_line.get(&(at + 1)).map(Vec::as_slice).unwrap_or_default();
        let answered = answered_rules(old, new);
        same += usize::from(answered.is_empty());
        for rule in SERVED_RULES {
            let compared = rules.entry(rule).or_default();
            compared.add(rule, object, answered.get(rule).map(String::as_str), ours);
        }
    }
    transcript.step(
        "objects of which both make the same",
        Ok(format!("{same} of {}", objects.len())),
    );
    for (rule, compared) in &rules {
        transcript.step(rule, compared.outcome(MAX_DIFFERENCES));
    }
    transcript.step("nothing is undecided", undecided(&by_line));
    Ok(())
}

/// The answers of a server of a release to all objects.
fn ask(
    programs: &ProgramPaths,
    directory: &Path,
    definitions: &CustomDefinitions,
    objects: &[PlacedObject],
) -> Result<Vec<Value>, ToolError> {
    fs::create_dir_all(directory).map_err(ToolError::file(&directory))?;
    let etcd = EtcdServer::start(programs, directory)?;
    let start = ServerStart {
        // What only has to be switched on may be so in the server of now.
        flags: &["--runtime-config=api/beta=true"],
        ..ServerStart::new(programs, &etcd, directory)
    };
    let mut server = start.ready()?;
    let proxy = UserProxy::start(server.kubectl())?;
    definitions.create(&proxy, server.kubectl())?;
    let answer = |placed: &PlacedObject| {
        let answer = proxy.create_dry(&placed.path, &placed.object)?;
        Ok(plain(answer, &placed.object))
    };
    let answers = objects.iter().map(answer).collect();
    server.stop()?;
    answers
}

/// The findings of the command: the rule and the message of each, by the line of their object.
type FindingsByLine = BTreeMap<usize, Vec<[String; 2]>>;

fn findings(
    environment: &PartEnvironment,
    [from, to]: [&Release; 2],
    definitions: &CustomDefinitions,
    objects: &[PlacedObject],
) -> Result<FindingsByLine, ToolError> {
    let state = &environment.state;
    let (input, policy, kinds) = (
        state.join("objects.ndjson"),
        state.join("policy.yaml"),
        state.join("definitions.ndjson"),
    );
    let network = json!({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": "kubernetes"},
        "spec": {"cidrs": [SERVICE_NETWORK]}});
    let lines = objects.iter().map(|placed| format!("{}\n", placed.object));
    for (path, text) in [
        (&input, lines.collect::<String>()),
        (&policy, NO_POLICY.to_owned()),
        (&kinds, format!("{}{network}\n", definitions.lines())),
    ] {
        fs::write(path, text).map_err(ToolError::file(path))?;
    }
    let mut command = environment.programs.pratique();
    command
        .args(["upgrade", "--from", &from.to_string(), "--to", &to.to_string()])
        .args([
            "--output",
            "ndjson",
            "--expand=off",
            "--as",
            "admin",
            "--as-group",
            "system:masters",
        ])
        .arg("--none=servicecidrs")
        .arg("--policies")
        .arg(&policy)
        .arg("--objects")
        .arg(&kinds)
        .arg(&input);
    let output = command.output().map_err(ToolError::program("pratique"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut findings = FindingsByLine::new();
    let mut has_summary = false;
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        has_summary |= line.get("summary").is_some();
        let member = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
        let place = member("place").strip_prefix(&format!("{}:", input.display()));
        let number = place.and_then(|place| place.split(':').next()?.parse().ok());
        if let Some(number) = number {
            let finding = [member("rule"), member("message")].map(str::to_owned);
            findings.entry(number).or_default().push(finding);
        }
    }
    if has_summary {
        Ok(findings)
    } else {
        Err(format!("pratique upgrade: {text}{errors}").into())
    }
}

fn undecided(findings: &FindingsByLine) -> Result<String, ToolError> {
    let all = findings.values().flatten();
    let messages: Vec<&str> = all
        .filter(|[rule, _]| rule == "undecided")
        .map(|[_, message]| message.as_str())
        .collect();
    let examples = messages.iter().take(MAX_DIFFERENCES).copied().collect::<Vec<_>>();
    pratique_harness::outcome(
        messages.is_empty(),
        format!("{} are: {}", messages.len(), examples.join("; ")),
    )
}
