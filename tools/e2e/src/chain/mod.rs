//! What a whole admission chain makes of objects: a real API server's answers and stored objects, beside ours.
//!
//! The answers are kept in `testdata/e2e/chain`, so that a test compares ours without a server. `--bless` writes them anew.

mod cases;
mod http;
mod known;
mod ours;

use std::fs;
use std::thread;
use std::time::Duration;

use pratique_harness::{Error, Transcript};
use serde_json::{Value, json};

use super::Stage;
use super::apiserver::{ApiServer, Start};
use super::etcd::Etcd;
use cases::{Case, EVENTS, OPTIONAL, PluginSet, cases, plain, state};
use http::Proxy;
use ours::Ours;

/// The developer's rights.
const ROLES: &str = include_str!("roles.yaml");

/// How long the caches of plugins may be behind what was created. There is nothing to be asked that would tell.
const SETTLING: Duration = Duration::from_secs(5);

/// Asks servers with both sets of plugins, and compares.
pub(super) fn run(stage: &Stage, transcript: &mut Transcript, bless: bool) -> Result<(), Error> {
    transcript.part("the whole chain of an API server, and ours");
    let cases = cases()?;
    let ours = Ours::new(&state()?)?;
    let default = answers(stage, &cases, PluginSet::Default)?;
    let all = answers(stage, &cases, PluginSet::All)?;
    let answers: Vec<[Value; 2]> = default.into_iter().zip(all).map(Into::into).collect();
    for (case, answers) in cases.iter().zip(&answers) {
        for (set, answer) in PluginSet::BOTH.into_iter().zip(answers) {
            let compared = match bless || answer == case.answer(set) {
                true => compare(case, answer, &ours.answer(case, set)),
                false => Err("the recorded answer is another one: --bless writes this".into()),
            };
            transcript.step(&format!("{}, {}", case.name, set.name()), compared);
        }
    }
    match bless {
        true => cases::write(&cases, &answers),
        false => Ok(()),
    }
}

/// What a server with a set of plugins answers.
fn answers(stage: &Stage, cases: &[Case], set: PluginSet) -> Result<Vec<Value>, Error> {
    let directory = stage.state.join(match set {
        PluginSet::Default => "default",
        PluginSet::All => "all",
    });
    fs::create_dir_all(&directory).map_err(Error::file(&directory))?;
    let events = directory.join("events.yaml");
    let admission = directory.join("admission.yaml");
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "EventRateLimit", "path": events}],
    });
    for (path, text) in [(&events, EVENTS), (&admission, &configuration.to_string())] {
        fs::write(path, text).map_err(Error::file(&path))?;
    }
    let etcd = Etcd::start(&stage.programs, &directory)?;
    let mut with = vec!["ServiceAccount"];
    if set == PluginSet::All {
        with.extend(OPTIONAL);
    }
    let start = Start {
        programs: &stage.programs,
        etcd: &etcd,
        state: &directory,
        admission: Some(&admission),
        with: &with,
        without: &[],
    };
    let mut server = start
        .run()?
        .map_err(|refusal| format!("the API server does not start: {}", refusal.text))?;
    let answers = ask(&server, cases);
    server.stop()?;
    answers
}

fn ask(server: &ApiServer, cases: &[Case]) -> Result<Vec<Value>, Error> {
    let administrator = Proxy::start(server.kubectl())?;
    let developer = Proxy::start(&server.kubectl().developer())?;
    for object in state()? {
        let text = |pointer| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let kind = text("/kind");
        let created = administrator.send("POST", &http::path(&object)?, &object)?;
        if created.get("code") != Some(&201.into()) {
            return Err(format!("{kind}: {created}").into());
        }
        if let Some(status) = object.get("status") {
            // The controllers that would write it do not run.
            let mut stored = created.get("object").cloned().unwrap_or_default();
            if let Some(members) = stored.as_object_mut() {
                members.insert("status".to_owned(), status.clone());
            }
            let path = format!("{}/{}/status", http::path(&object)?, text("/metadata/name"));
            let written = administrator.send("PUT", &path, &stored)?;
            if written.get("code") != Some(&200.into()) {
                return Err(format!("{kind}: {written}").into());
            }
        }
    }
    server.kubectl().must(&["apply"], ROLES)?;
    thread::sleep(SETTLING);
    let answer = |case: &Case| {
        let proxy = match case.user.as_str() {
            "admin" => &administrator,
            _ => &developer,
        };
        let path = format!("{}?dryRun=All", http::path(&case.object)?);
        proxy.send("POST", &path, &case.object).map(plain)
    };
    cases.iter().map(answer).collect()
}

/// Compares answers; a difference that is known has its reason.
fn compare(case: &Case, server: &Value, ours: &Value) -> Result<String, Error> {
    match (server == ours, known::reason(&case.name)) {
        (true, None) => Ok(summary(server)),
        (false, Some(reason)) => Ok(format!("differs: {reason}")),
        (true, Some(reason)) => Err(format!("there is no difference any more: {reason}").into()),
        (false, None) => Err(format!("the server: {server}\nours:       {ours}").into()),
    }
}

fn summary(answer: &Value) -> String {
    let message = answer.pointer("/status/message").and_then(Value::as_str);
    format!("{} {}", answer["code"], message.unwrap_or_default())
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_the_server() {
        let cases = cases().unwrap();
        assert!(cases.len() > 100);
        let ours = Ours::new(&state().unwrap()).unwrap();
        let mut differences = Vec::new();
        for case in &cases {
            for set in PluginSet::BOTH {
                if let Err(error) = compare(case, case.answer(set), &ours.answer(case, set)) {
                    differences.push(format!("{}, {}:\n{error}", case.name, set.name()));
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
