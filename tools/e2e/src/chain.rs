//! What a whole admission chain makes of objects: a real API server's answers and stored objects, beside ours, and beside
//! those of `pratique review --chain` over a snapshot of that server.
//!
//! The answers are kept in `testdata/e2e/chain`, so that a test compares ours without a server. `--bless` updates them.

mod cases;
mod known_differences;
mod ours;
mod plugins;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use pratique_harness::{StepTranscript, ToolError};
use serde_json::{Value, json};

use super::PartEnvironment;
use super::answers::{is_same, plain, summary};
use super::apiserver::{ApiServer, ServerStart};
use super::etcd::EtcdServer;
use super::http::{self, UserProxy};
use super::kubectl::KubectlUser;
use super::review_command::{ADMINISTRATOR, DEVELOPER, ReviewCommand};
use cases::{ChainCase, EVENTS, PluginSet, SECURITY, state};
use ours::OurChain;

/// The developer's rights.
const ROLES: &str = include_str!("chain/roles.yaml");

/// How long the caches of plugins may lag behind. Their state cannot be queried.
const SETTLING: Duration = Duration::from_secs(5);

/// Asks servers with both sets of plugins, and compares.
pub(super) fn run(
    environment: &PartEnvironment,
    transcript: &mut StepTranscript,
    bless: bool,
) -> Result<(), ToolError> {
    transcript.part("the whole chain of an API server, and ours");
    let release = environment.programs.release();
    let cases = cases::cases(release)?;
    let ours = OurChain::new(&state()?, release)?;
    let [default, reviewed] = answers(environment, &cases, PluginSet::Default)?;
    let [all, all_reviewed] = answers(environment, &cases, PluginSet::All)?;
    let reviewed = [reviewed, all_reviewed];
    let answers: Vec<[Value; 2]> = default.into_iter().zip(all).map(Into::into).collect();
    for (case, answers) in cases.iter().zip(&answers) {
        for (set, answer) in PluginSet::BOTH.into_iter().zip(answers) {
            let compared = if bless || is_same(answer, case.answer(set)) {
                compare(case, answer, &ours.answer(case, set))
            } else {
                Err("the recorded answer is another one: --bless writes this".into())
            };
            transcript.step(&format!("{}, {}", case.name, set.name()), compared);
        }
    }
    for (set, ours) in PluginSet::BOTH.into_iter().zip(&reviewed) {
        for ((case, answers), ours) in cases.iter().zip(&answers).zip(ours) {
            let [default, all] = answers;
            let answer = match set {
                PluginSet::Default => default,
                PluginSet::All => all,
            };
            let name = format!("{}, {}, review --chain", case.name, set.name());
            transcript.step(&name, compare(case, answer, ours));
        }
    }
    if bless {
        cases::write(release, &cases, &answers)?;
    }
    let recorded = cases::cases(release)?;
    plugins::run(environment, &recorded, transcript)
}

/// The answers of a server with a set of plugins, and those of the command.
fn answers(
    environment: &PartEnvironment,
    cases: &[ChainCase],
    set: PluginSet,
) -> Result<[Vec<Value>; 2], ToolError> {
    let directory = environment.state.join(match set {
        PluginSet::Default => "default",
        PluginSet::All => "all",
    });
    let (_etcd, mut server) = start(environment, &directory, set, &[])?;
    let answers = CaseClients::prepare(server.kubectl())?.ask(cases);
    let enabled = format!("--enable-admission-plugins={}", set.enabled().join(","));
    let review = ReviewCommand::new(&environment.programs, server.kubectl(), &directory, vec![enabled]);
    server.stop()?;
    let configuration = directory.join("admission.yaml");
    let flag = format!("--admission-control-config-file={}", configuration.display());
    Ok([answers?, review_all(&review?.with_flag(flag), cases)?])
}

/// The answers of the command to all cases.
fn review_all(review: &ReviewCommand<'_>, cases: &[ChainCase]) -> Result<Vec<Value>, ToolError> {
    let mut answers = vec![Value::Null; cases.len()];
    for user in [ADMINISTRATOR, DEVELOPER] {
        let of_user = cases.iter().enumerate().filter(|(_, case)| case.user == user.0);
        let (places, objects): (Vec<usize>, Vec<&Value>) =
            of_user.map(|(place, case)| (place, &case.object)).unzip();
        for (place, answer) in places.into_iter().zip(review.answers(user, &objects)?) {
            if let Some(slot) = answers.get_mut(place) {
                *slot = answer;
            }
        }
    }
    Ok(answers)
}

/// Starts a server with a set of plugins, without some; their configuration is in `admission.yaml`.
fn start(
    environment: &PartEnvironment,
    directory: &Path,
    set: PluginSet,
    without: &[&str],
) -> Result<(EtcdServer, ApiServer), ToolError> {
    fs::create_dir_all(directory).map_err(ToolError::file(&directory))?;
    let admission = configure(directory, "admission.yaml", &[])?;
    let etcd = EtcdServer::start(&environment.programs, directory)?;
    let start = ServerStart {
        admission: Some(&admission),
        with: &set.enabled(),
        without,
        ..ServerStart::new(&environment.programs, &etcd, directory)
    };
    let server = start.ready()?;
    Ok((etcd, server))
}

/// Writes an AdmissionConfiguration of this name, with the files that it names; others are plugins with their text.
fn configure(directory: &Path, name: &str, others: &[(&str, String)]) -> Result<PathBuf, ToolError> {
    let mut texts = vec![
        ("EventRateLimit", EVENTS.to_owned()),
        ("PodSecurity", SECURITY.to_owned()),
    ];
    texts.extend(others.iter().cloned());
    let mut plugins = Vec::new();
    for (plugin, text) in texts {
        let path = directory.join(format!("{plugin}.yaml"));
        fs::write(&path, text).map_err(ToolError::file(&path))?;
        plugins.push(json!({"name": plugin, "path": path}));
    }
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": plugins,
    });
    let path = directory.join(name);
    fs::write(&path, configuration.to_string()).map_err(ToolError::file(&path))?;
    Ok(path)
}

/// The clients that send the cases.
struct CaseClients {
    administrator: UserProxy,
    developer: UserProxy,
}

impl CaseClients {
    /// Creates what the cluster has before.
    fn prepare(kubectl: &KubectlUser) -> Result<Self, ToolError> {
        let clients = CaseClients {
            administrator: UserProxy::start(kubectl)?,
            developer: UserProxy::start(&kubectl.developer())?,
        };
        state()?.iter().try_for_each(|object| clients.store(object))?;
        kubectl.must(&["apply"], ROLES)?;
        thread::sleep(SETTLING);
        Ok(clients)
    }

    fn store(&self, object: &Value) -> Result<(), ToolError> {
        let text = |pointer| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let kind = text("/kind");
        let created = self.administrator.send("POST", &http::path(object)?, object)?;
        if created.get("code") != Some(&201.into()) {
            return Err(format!("{kind}: {created}").into());
        }
        let Some(status) = object.get("status") else {
            return Ok(());
        };
        // The controllers that would write it do not run.
        let mut stored = created.get("object").cloned().unwrap_or_default();
        if let Some(members) = stored.as_object_mut() {
            members.insert("status".to_owned(), status.clone());
        }
        let path = format!("{}/{}/status", http::path(object)?, text("/metadata/name"));
        let written = self.administrator.send("PUT", &path, &stored)?;
        if written.get("code") == Some(&200.into()) {
            Ok(())
        } else {
            Err(format!("{kind}: {written}").into())
        }
    }

    /// The answers to all cases; nothing is stored.
    fn ask(&self, cases: &[ChainCase]) -> Result<Vec<Value>, ToolError> {
        let answer = |case: &ChainCase| {
            let proxy = match case.user.as_str() {
                "admin" => &self.administrator,
                _ => &self.developer,
            };
            let path = http::path(&case.object)?;
            let answer = proxy.create_dry(&path, &case.object)?;
            Ok(plain(answer, &case.object))
        };
        cases.iter().map(answer).collect()
    }
}

/// Compares answers; a difference that is known has its reason.
fn compare(case: &ChainCase, server: &Value, ours: &Value) -> Result<String, ToolError> {
    match (is_same(server, ours), known_differences::reason(&case.name)) {
        (true, None) => Ok(summary(server)),
        (false, Some(reason)) => Ok(format!("differs: {reason}")),
        (true, Some(reason)) => Err(format!("there is no difference any more: {reason}").into()),
        (false, None) => Err(format!("the server: {server}\nours:       {ours}").into()),
    }
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[test]
    fn answers_are_those_of_the_server() {
        let releases = Release::list()
            .iter()
            .copied()
            .filter(|release| cases::is_recorded(release));
        let mut differences = Vec::new();
        for release in releases {
            let cases = cases::cases(release).unwrap();
            assert!(cases.len() > 100);
            let ours = OurChain::new(&state().unwrap(), release).unwrap();
            for case in &cases {
                for set in PluginSet::BOTH {
                    if let Err(error) = compare(case, case.answer(set), &ours.answer(case, set)) {
                        let name = format!("{}, {}, Kubernetes {release}", case.name, set.name());
                        differences.push(format!("{name}:\n{error}"));
                    }
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
