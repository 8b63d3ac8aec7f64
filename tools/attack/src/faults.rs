//! Servers that are started for one fault of what they depend on: disks, webhooks, watches, their own death.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use pratique_harness::{ToolError, outcome};
use pratique_json::base64;
use pratique_webhook_backend::{Backend, Listener, Script};

use super::AttackScale;
use super::attacked_server::{ServeOptions, ServedProgram};
use super::files::pipe;
use super::namespace::within;
use super::needs::{A_MINUTE, MachineNeed, USER};
use super::patches::LIMIT;
use super::regular_clients::RegularClients;
use super::reviews;
use super::sockets::takes_effect;
use pratique_load_test::load::ServerLoad;

/// A fault: its name, its needs of the machine, and a function that tries it and returns a summary, or what went wrong.
pub(super) type FaultCase = (
    &'static str,
    &'static [MachineNeed],
    fn(&ServeOptions<'_>, AttackScale) -> Result<String, ToolError>,
);

/// All faults of this module.
pub(super) const ALL: [FaultCase; 9] = [
    ("a full disk below the audit log", &[], full_disk),
    ("a slow disk below the audit log", &[], slow_disk),
    ("a webhook whose patch copies itself", &[], self_copies),
    ("a webhook whose patch inserts very much", &[], inserts),
    ("a webhook that does not answer", &[], silent),
    ("no file system watches left", &[USER, A_MINUTE], unwatched),
    ("sixty-four files", &[], few_files),
    ("crashes under load", &[], crashes),
    ("a hang-up under load", &[], hang_up),
];

/// Events that were lost, and failures to write them.
pub(super) const LOST: &str = "apiserver_audit_error_total";
pub(super) const WRITE_FAILURES: &str = "pratique_audit_write_failures_total";
/// How many operations a patch has.
const INSERTS: usize = 300_000;
/// How many events wait for room on the disk, and at most how many are being written: 256 KiB.
const WAITING: f64 = 10_000.0 + 512.0;

/// Nothing of the audit log can be written: that is counted, as are the events that find no room to wait, and decisions
/// go on.
fn full_disk(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let mut served = ServedProgram::start(&ServeOptions {
        arguments: &["--audit-log", "/dev/full"],
        ..*options
    })?;
    let answers = used(&served, scale)?;
    let (failures, lost) = (served.metric(WRITE_FAILURES, "")?, served.metric(LOST, "")?);
    let text = format!("{answers} answers; {failures} failures to write and {lost} lost events were counted");
    let survived = served.survived()?;
    #[expect(clippy::cast_precision_loss, reason = "answers are few")]
    if failures > 0.0 && lost + WAITING >= answers as f64 {
        Ok(format!("{text}\n{survived}"))
    } else {
        Err(text.into())
    }
}

/// The audit log is a pipe that is read slowly: what does not fit is counted, and decisions go on.
fn slow_disk(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let log = options.state.join("audit.log");
    pipe(&log)?;
    let reader = log.clone();
    // It ends with this program.
    thread::spawn(move || {
        let Ok(mut file) = File::open(reader) else { return };
        let mut some = [0; 512];
        while file.read(&mut some).is_ok_and(|length| length > 0) {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let log = log.display().to_string();
    let mut served = ServedProgram::start(&ServeOptions {
        arguments: &["--audit-log", &log],
        ..*options
    })?;
    let answers = used(&served, scale)?;
    let lost = served.metric(LOST, "")?;
    Ok(format!(
        "{answers} answers, {lost} lost events were counted\n{}",
        served.survived()?
    ))
}

/// A webhook answers with a patch of 30 copies of the object into itself.
fn self_copies(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    let copies: Vec<_> = (0..30)
        .map(|index| serde_json::json!({"op": "copy", "from": "/metadata", "path": format!("/metadata/copy{index}")}))
        .collect();
    let patch = serde_json::json!({"allowed": true, "patchType": "JSONPatch", "patch": base64::encode(serde_json::json!(copies).to_string().as_bytes())});
    let script = serde_json::json!({"respond": patch}).to_string();
    with_webhook(options, 1, &script, |served, _| {
        let answer = served.post("/mutate", &reviews::pod(false).to_string())?;
        let text = String::from_utf8_lossy(&answer.body);
        if answer.code == 200 && text.contains(LIMIT) {
            Ok("the patch was refused with the text of an API server".to_owned())
        } else {
            Err(format!("{}: {text}", answer.code).into())
        }
    })
}

/// A webhook answers with a patch that moves a long list with each of its many operations: it is applied, or ended by the
/// deadline of the review.
fn inserts(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    let mut operations = vec![serde_json::json!({"op": "add", "path": "/metadata/finalizers", "value": []})];
    let insert = serde_json::json!({"op": "add", "path": "/metadata/finalizers/0", "value": "a.b/c"});
    operations.resize(INSERTS + 1, insert);
    let patch = base64::encode(serde_json::json!(operations).to_string().as_bytes());
    let respond = serde_json::json!({"allowed": true, "patchType": "JSONPatch", "patch": patch});
    let script = serde_json::json!({"respond": respond}).to_string();
    with_webhook(options, 30, &script, |served, _| {
        let clients = RegularClients::start(served)?;
        let start = Instant::now();
        let answer = served.post("/mutate?timeout=10s", &reviews::pod(false).to_string())?;
        let took = start.elapsed();
        let results = clients.stop()?;
        results.reviews.flawless()?;
        let text: String = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
        if matches!(answer.code, 200 | 504) && took < Duration::from_secs(15) {
            Ok(format!(
                "{INSERTS} insertions were answered {} after {took:.1?}",
                answer.code
            ))
        } else {
            Err(format!("after {took:.1?}: {}: {text}", answer.code).into())
        }
    })
}

/// A webhook takes calls and never answers: its failurePolicy applies after its time.
fn silent(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    with_webhook(options, 1, r#"{"hang": "headers"}"#, |served, _| {
        let start = Instant::now();
        let answer = served.post("/mutate", &reviews::pod(false).to_string())?;
        let text = String::from_utf8_lossy(&answer.body);
        let took = start.elapsed();
        if text.contains("\"allowed\":false") && took < Duration::from_secs(5) {
            Ok(format!("denied after {took:.1?}"))
        } else {
            Err(format!("after {took:.1?}: {}: {text}", answer.code).into())
        }
    })
}

/// Runs a server that calls a webhook for Pods with a timeout in seconds; the webhook answers by a script.
pub(super) fn with_webhook(
    options: &ServeOptions<'_>,
    seconds: u32,
    script: &str,
    look: impl FnOnce(&ServedProgram, &Backend) -> Result<String, ToolError>,
) -> Result<String, ToolError> {
    let failed = |error: std::io::Error| error.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(failed)?;
    let backend = runtime.block_on(Backend::start()).map_err(failed)?;
    let script = Script::from_json(script).map_err(failed)?;
    backend.begin_unrecorded([("/attack".to_owned(), script)]);
    let manifest = webhook(
        &format!("{}/attack", backend.url(Listener::Backend)),
        backend.ca_pem(),
        seconds,
    );
    let mut served = ServedProgram::start(&ServeOptions {
        webhooks: Some(&manifest),
        ..*options
    })?;
    let results = look(&served, &backend)?;
    Ok(format!("{results}\n{}", served.survived()?))
}

/// The configuration of a webhook for Pods, with a timeout in seconds.
pub(super) fn webhook(url: &str, authority: &str, seconds: u32) -> String {
    let manifest = serde_json::json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "attack.static.k8s.io"},
        "webhooks": [{
            "name": "attack.static.k8s.io", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "timeoutSeconds": seconds, "failurePolicy": "Fail",
            "clientConfig": {"url": url, "caBundle": base64::encode(authority.as_bytes())},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}],
        }],
    });
    manifest.to_string()
}

/// A script that starts the program without file system events.
pub(super) fn without_watches(options: &ServeOptions<'_>) -> Result<PathBuf, ToolError> {
    within(options, "", "echo 0 > /proc/sys/user/max_inotify_instances")
}

/// Without file system events, changes are found by polling.
fn unwatched(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    let script = without_watches(options)?;
    let mut served = ServedProgram::start(&ServeOptions {
        program: &script,
        ..*options
    })?;
    let watched = served.metric("pratique_manifest_directory_watched", "")?;
    let took = takes_effect(&served)?;
    let survived = served.survived()?;
    if watched == 0.0 {
        Ok(format!("a change took effect in {took:.1?}\n{survived}"))
    } else {
        Err(format!("{watched} directories are watched").into())
    }
}

/// Almost no files: connections make room for each other.
fn few_files(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let mut served = ServedProgram::start(&ServeOptions {
        files: 64,
        ..*options
    })?;
    let idle: Vec<_> = (0..200)
        .filter_map(|_| std::net::TcpStream::connect(served.address()).ok())
        .collect();
    let answers = used(&served, scale)?;
    Ok(format!(
        "{} idle connections, {answers} right answers\n{}",
        idle.len(),
        served.survived()?
    ))
}

/// The server is killed and started again: answers are lost, but none is wrong.
fn crashes(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let mut served = ServedProgram::start(options)?;
    let clients = RegularClients::start(&served)?;
    for _ in 0..scale.rounds.min(10) {
        thread::sleep(Duration::from_millis(500));
        served.crash(options)?;
    }
    thread::sleep(Duration::from_millis(500));
    let results = clients.stop()?;
    let wrong = results
        .reviews
        .errors()
        .filter(|error| error.contains("wrong"))
        .count();
    let text = format!("{} right answers, {wrong} wrong", results.reviews.answers());
    outcome(wrong == 0 && results.reviews.answers() > 0, text)
}

/// SIGHUP ends the server as SIGTERM does: requests in flight are answered.
fn hang_up(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    let mut served = ServedProgram::start(options)?;
    let load = ServerLoad {
        address: served.address(),
        trust: served.trust()?,
        connections: 8,
        request: reviews::pod(false).to_string(),
    };
    let measured = thread::scope(|scope| {
        let loaded = scope.spawn(|| load.run_until_refused());
        thread::sleep(Duration::from_secs(1));
        served.stop_by("HUP")?;
        loaded.join().map_err(|_| "the load panicked".to_owned())?
    })?;
    measured.flawless()?;
    Ok(format!("{} answers, none lost", measured.answers()))
}

/// Runs usual clients for a while, which must get right answers only; returns how many.
pub(super) fn used(served: &ServedProgram, scale: AttackScale) -> Result<usize, ToolError> {
    let clients = RegularClients::start(served)?;
    thread::sleep(scale.time);
    let results = clients.stop()?;
    results.reviews.flawless()?;
    Ok(results.reviews.answers())
}
