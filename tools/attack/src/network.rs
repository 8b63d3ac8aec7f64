//! Servers whose network fails: that to webhooks, that to a cluster, names, and all of it.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::attacked_server::{ServeOptions, ServedProgram};
use super::cluster::{ClusterServer, LinkState};
use super::faults::{FaultCase, used, webhook, with_webhook};
use super::files::bomb;
use super::needs::{IP, NETWORK};
use super::regular_clients::RegularClients;
use super::reviews;
use super::{AttackScale, ClientResults};
use pratique_harness::{ToolError, eventually, together};
use pratique_webhook_backend::Script;
use serde_json::{Value, json};

/// All faults of networks.
pub(super) const ALL: [FaultCase; 4] = [
    ("webhooks that answer anything", &[], arbitrary_answers),
    ("a webhook whose name is not found", &[], unresolvable_webhook),
    ("a cluster that goes and comes back", &[], cluster),
    (
        "a network that goes down, and names that are never found",
        &[NETWORK, IP],
        namespace,
    ),
];

/// How long a review may take whose webhook has a timeout of one second, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);
/// The maximum size of a response, whatever a webhook answers, in bytes.
const ANSWER: usize = 64 << 10;

/// Sends a review for which a webhook is called; returns whether it was allowed, and the response.
pub(super) fn mutate(served: &ServedProgram) -> Result<(bool, String), ToolError> {
    let start = Instant::now();
    let answer = served.post("/mutate", &reviews::pod(false).to_string())?;
    let took = start.elapsed();
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let excerpt: String = text.chars().take(800).collect();
    if answer.code != 200 || took > PATIENCE || answer.body.len() > ANSWER {
        return Err(format!(
            "{} with {} bytes after {took:.1?}: {excerpt}",
            answer.code,
            answer.body.len()
        )
        .into());
    }
    Ok((text.contains("\"allowed\":true"), excerpt))
}

/// Webhooks whose connections end or stay open at any point, and that answer too much, in clear or otherwise: their
/// failurePolicy decides, in time, and the next answer that is right counts.
fn arbitrary_answers(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let long = json!("x".repeat(1 << 20));
    let mut cases: Vec<(bool, Value)> =
        serde_json::from_str(include_str!("answers.json")).map_err(|error| error.to_string())?;
    let large = [
        (
            false,
            json!({"body": bomb(), "headers": {"Content-Type": "application/yaml"}}),
        ),
        (
            true,
            json!({"respond": {"allowed": true, "warnings": vec![&long; 30]}}),
        ),
        (
            true,
            json!({"respond": {"allowed": true, "auditAnnotations": {"a": long}}}),
        ),
    ];
    cases.extend(large);
    let good = json!({"respond": {"allowed": true}});
    with_webhook(options, 1, &good.to_string(), |served, backend| {
        let begin = |script: &Value| -> Result<(), ToolError> {
            let script = Script::from_json(&script.to_string()).map_err(|error| error.to_string())?;
            backend.begin_unrecorded([("/attack".to_owned(), script)]);
            Ok(())
        };
        let clients = RegularClients::start(served)?;
        for (expected, script) in &cases {
            let script_text: String = script.to_string().chars().take(80).collect();
            let wrong = |error: ToolError| ToolError::from(format!("{script_text}: {error}"));
            begin(script)?;
            for answer in together(scale.rounds.min(8), || mutate(served))? {
                let (allowed, text) = answer.map_err(wrong)?;
                // What is right, but large, may come too late or find no memory: several are sent and read at once.
                let many = ["context deadline exceeded", "no memory is left"];
                let too_many = !allowed && many.iter().any(|reason| text.contains(reason));
                if allowed != *expected && !too_many {
                    return Err(wrong(text.into()));
                }
            }
            begin(&good)?;
            eventually("called a webhook that is well again", || Ok(mutate(served)?.0)).map_err(wrong)?;
        }
        let results = clients.stop()?;
        let answers = results.answers()?;
        Ok(format!(
            "{} kinds of answers, and a right one after each; {} right answers of policies meanwhile",
            cases.len(),
            answers
        ))
    })
}

/// A server that calls a webhook at an unresolvable name.
fn start_unresolvable(options: &ServeOptions<'_>) -> Result<ServedProgram, ToolError> {
    let manifest = webhook("https://webhook.attack.invalid/", "", 1);
    ServedProgram::start(&ServeOptions {
        webhooks: Some(&manifest),
        ..*options
    })
}

/// Calls a webhook with an unresolvable name, as many at a time as there are clients.
fn unresolved(served: &ServedProgram, scale: AttackScale) -> Result<String, ToolError> {
    let clients = RegularClients::start(served)?;
    let took = together(scale.clients, || {
        let start = Instant::now();
        let (allowed, text) = mutate(served)?;
        if allowed {
            Err(ToolError::from(format!("allowed: {text}")))
        } else {
            Ok(start.elapsed())
        }
    });
    let results = clients.stop()?;
    let took = took?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let slowest = took.into_iter().max().unwrap_or_default();
    let answers = results.answers()?;
    Ok(format!(
        "{} calls at once were denied, the last after {slowest:.1?}; {} right answers of policies meanwhile",
        scale.clients, answers
    ))
}

fn unresolvable_webhook(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let mut served = start_unresolvable(options)?;
    let results = unresolved(&served, scale)?;
    Ok(format!("{results}\n{}", served.survived()?))
}

/// The connections to a cluster that is followed end, new ones fail in every way, and then all is well again: what was
/// in effect stays so, and what was changed meanwhile takes effect.
fn cluster(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let cluster = ClusterServer::start()?;
    cluster.deny("first", "denied-by-the-cluster");
    let kubeconfig = cluster.kubeconfig(options.state)?.display().to_string();
    let mut served = ServedProgram::start(&ServeOptions {
        arguments: &["--kubeconfig", &kubeconfig, "--follow", "policies"],
        ..*options
    })?;
    let allows = |served: &ServedProgram, label: &str| {
        let mut review = reviews::pod(false);
        if let Some(labels) = review.pointer_mut("/request/object/metadata/labels") {
            *labels = json!({label: "yes"});
        }
        let answer = served.post("/validate", &review.to_string())?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        match answer.code {
            200 => Ok(text.contains("\"allowed\":true")),
            code => Err(ToolError::from(format!("{code}: {text}"))),
        }
    };
    eventually("followed the cluster", || {
        Ok(matches!(allows(&served, "denied-by-the-cluster"), Ok(false)))
    })?;
    let clients = RegularClients::start(&served)?;
    let mut took = Vec::new();
    for (index, link) in [LinkState::Closed, LinkState::Silent, LinkState::BrokenOff]
        .into_iter()
        .enumerate()
    {
        cluster.set(link);
        let label = format!("changed-{index}");
        cluster.deny(&label, &label);
        let end = Instant::now() + scale.time.min(Duration::from_secs(5));
        while Instant::now() < end {
            if allows(&served, "denied-by-the-cluster")? || !allows(&served, &label)? {
                return Err(format!("another decision while the link is {link:?}").into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        cluster.set(LinkState::Up);
        took.push(eventually("known of what changed meanwhile", || {
            Ok(!allows(&served, &label)?)
        })?);
    }
    let results = clients.stop()?;
    let answers = results.answers()?;
    Ok(format!(
        "after connections were closed, silent and broken off, what changed meanwhile took effect in {took:.1?}; {} right answers\n{}",
        answers,
        served.survived()?
    ))
}

/// Runs [`isolated`] in a network namespace that only has a loopback interface.
fn namespace(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    // Names are asked of a server that takes questions and does not answer.
    let resolver = options.state.join("resolv.conf");
    fs::write(&resolver, "nameserver 127.0.0.1\n").map_err(ToolError::file(&resolver))?;
    let prepare = format!(
        "ip link set lo up\nmount --bind \"{}\" \"$(readlink -f /etc/resolv.conf)\"\nexec \"$0\" \"$@\"",
        resolver.display()
    );
    let mut command = Command::new("unshare");
    command
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "--net",
            "sh",
            "-ec",
            &prepare,
        ])
        .arg(this)
        .arg("--isolated")
        .arg(options.state)
        .arg("--pratique")
        .arg(options.program);
    if !scale.measures_time {
        command.arg("--short");
    }
    let output = command.output().map_err(|error| format!("unshare: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("{text}\n{}", String::from_utf8_lossy(&output.stderr).trim()).into())
    }
}

/// Runs in the network namespace.
pub(super) fn isolated(program: &Path, state: &Path, scale: AttackScale) -> Result<String, ToolError> {
    let options = ServeOptions::new(program, state);
    let resolver = UdpSocket::bind(("127.0.0.1", 53)).map_err(|error| format!("port 53: {error}"))?;
    let mut served = start_unresolvable(&options)?;
    let results = unresolved(&served, scale)?;
    let asked = resolver
        .set_nonblocking(true)
        .and_then(|()| resolver.recv(&mut [0; 512]))
        .map_err(|error| format!("no name was asked for: {error}"))?;
    let names = format!(
        "names: {results} ({asked} bytes were asked)\n{}",
        served.survived()?
    );
    drop(served);
    Ok(format!("{names}\n{}", down(&options, scale)?))
}

/// The network goes down while requests and calls of webhooks are on their way, and comes back: none is answered wrongly,
/// and afterwards all is as before.
fn down(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let slow = json!({"respond": {"allowed": true}, "delayMs": 200}).to_string();
    with_webhook(options, 1, &slow, |served, _| {
        let link = |state: &str| {
            let set = Command::new("ip").args(["link", "set", "lo", state]).status();
            match set {
                Ok(status) if status.success() => Ok(()),
                other => Err(ToolError::from(format!("ip link set lo {state}: {other:?}"))),
            }
        };
        let mut lost = 0;
        let mut answers = 0;
        for _ in 0..scale.rounds.min(3) {
            let clients = RegularClients::start(served)?;
            let results: ClientResults = thread::scope(|scope| {
                // Both answers are right, as the webhook may be out of reach, and they may be lost.
                let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| mutate(served))).collect();
                thread::sleep(Duration::from_millis(100));
                link("down")?;
                thread::sleep(Duration::from_secs(3));
                link("up")?;
                calls.into_iter().for_each(|call| drop(call.join()));
                thread::sleep(Duration::from_secs(1));
                clients.stop()
            })?;
            if let Some(wrong) = results.reviews.errors().find(|error| error.contains("wrong")) {
                return Err(wrong.into());
            }
            lost += results.reviews.errors().count();
            answers += results.reviews.answers();
            eventually("called the webhook again", || {
                Ok(matches!(mutate(served), Ok((true, _))))
            })?;
        }
        let after = used(served, scale)?;
        Ok(format!(
            "the network: {answers} right answers and {lost} lost ones around {} times without, {after} right ones and none lost after",
            scale.rounds.min(3)
        ))
    })
}
