//! Servers that are started for one fault of what they depend on: disks, webhooks, watches, their own death.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use pratique_json::base64;
use pratique_webhook_backend::{Backend, Listener, Script};

use super::Scale;
use super::beside::Beside;
use super::files::pipe;
use super::patches::LIMIT;
use super::reviews;
use super::served::{Options, Served};
use super::sockets::takes_effect;
use pratique_load_test::load::Load;

/// What was seen of a server that is started so, or what was wrong.
type Fault = fn(&Options<'_>, Scale) -> Result<String, String>;

/// All of them.
pub(super) const ALL: [(&str, Fault); 8] = [
    ("a full disk below the audit log", full_disk),
    ("a slow disk below the audit log", slow_disk),
    ("a webhook whose patch copies itself", self_copies),
    ("a webhook that does not answer", silent),
    ("no file system watches left", unwatched),
    ("sixty-four files", few_files),
    ("crashes under load", crashes),
    ("a hang-up under load", hang_up),
];

const LOST: &str = "apiserver_audit_error_total";
const WRITE_FAILURES: &str = "pratique_audit_write_failures_total";
/// How many events wait for room on the disk.
const WAITING: f64 = 10_000.0;

/// Nothing of the audit log can be written: that is counted, as are the events that find no room to wait, and decisions
/// go on.
fn full_disk(options: &Options<'_>, scale: Scale) -> Result<String, String> {
    let mut served = Served::start(&Options {
        arguments: &["--audit-log", "/dev/full"],
        ..*options
    })?;
    let answers = used(&served, scale)?;
    let (failures, lost) = (served.metric(WRITE_FAILURES, "")?, served.metric(LOST, "")?);
    let text = format!("{answers} answers; {failures} failures to write and {lost} lost events were counted");
    let survived = served.survived()?;
    #[expect(clippy::cast_precision_loss, reason = "answers are few")]
    match failures > 0.0 && lost + WAITING >= answers as f64 {
        true => Ok(format!("{text}\n{survived}")),
        false => Err(text),
    }
}

/// The audit log is a pipe that is read slowly: what does not fit is counted, and decisions go on.
fn slow_disk(options: &Options<'_>, scale: Scale) -> Result<String, String> {
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
    let mut served = Served::start(&Options {
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
fn self_copies(options: &Options<'_>, _: Scale) -> Result<String, String> {
    let copies: Vec<_> = (0..30)
        .map(|index| serde_json::json!({"op": "copy", "from": "/metadata", "path": format!("/metadata/copy{index}")}))
        .collect();
    let patch = serde_json::json!({"allowed": true, "patchType": "JSONPatch", "patch": base64::encode(serde_json::json!(copies).to_string().as_bytes())});
    let script = serde_json::json!({"respond": patch}).to_string();
    with_webhook(options, &script, |served| {
        let answer = served.post("/mutate", &reviews::pod(false).to_string())?;
        let text = String::from_utf8_lossy(&answer.body);
        match answer.code == 200 && text.contains(LIMIT) {
            true => Ok("the patch was refused with the text of an API server".to_owned()),
            false => Err(format!("{}: {text}", answer.code)),
        }
    })
}

/// A webhook takes calls and never answers: its failurePolicy applies after its time.
fn silent(options: &Options<'_>, _: Scale) -> Result<String, String> {
    with_webhook(options, r#"{"hang": "headers"}"#, |served| {
        let start = Instant::now();
        let answer = served.post("/mutate", &reviews::pod(false).to_string())?;
        let text = String::from_utf8_lossy(&answer.body);
        let took = start.elapsed();
        match text.contains("\"allowed\":false") && took < Duration::from_secs(5) {
            true => Ok(format!("denied after {took:.1?}")),
            false => Err(format!("after {took:.1?}: {}: {text}", answer.code)),
        }
    })
}

/// Runs a server that calls a webhook for Pods, which answers by a script.
fn with_webhook(
    options: &Options<'_>,
    script: &str,
    look: impl FnOnce(&Served) -> Result<String, String>,
) -> Result<String, String> {
    let failed = |error: std::io::Error| error.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(failed)?;
    let backend = runtime.block_on(Backend::start()).map_err(failed)?;
    let script = Script::from_json(script).map_err(failed)?;
    backend.begin_unrecorded([("/attack".to_owned(), script)]);
    let manifest = serde_json::json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "attack.static.k8s.io"},
        "webhooks": [{
            "name": "attack.static.k8s.io", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "timeoutSeconds": 1, "failurePolicy": "Fail",
            "clientConfig": {
                "url": format!("{}/attack", backend.url(Listener::Backend)),
                "caBundle": base64::encode(backend.ca_pem().as_bytes()),
            },
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}],
        }],
    });
    let manifest = manifest.to_string();
    let mut served = Served::start(&Options {
        webhooks: Some(&manifest),
        ..*options
    })?;
    let seen = look(&served)?;
    Ok(format!("{seen}\n{}", served.survived()?))
}

/// The file system tells nothing: changes are found by looking.
fn unwatched(options: &Options<'_>, _: Scale) -> Result<String, String> {
    let script = options.state.join("unwatched.sh");
    let text = format!(
        "#!/bin/sh\nexec unshare --user --map-root-user sh -c \
         'echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"' '{}' \"$@\"\n",
        options.program.display()
    );
    executable(&script, &text)?;
    let mut served = Served::start(&Options {
        program: &script,
        ..*options
    })
    .map_err(|error| format!("{error}\nuser namespaces are needed"))?;
    let watched = served.metric("pratique_manifest_directory_watched", "")?;
    let took = takes_effect(&served)?;
    let survived = served.survived()?;
    match watched == 0.0 {
        true => Ok(format!("a change took effect in {took:.1?}\n{survived}")),
        false => Err(format!("{watched} directories are watched")),
    }
}

/// Almost no files: connections make room for each other.
fn few_files(options: &Options<'_>, scale: Scale) -> Result<String, String> {
    let mut served = Served::start(&Options {
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

/// Killed and started again: answers are lost, but none is ever wrong.
fn crashes(options: &Options<'_>, scale: Scale) -> Result<String, String> {
    let mut served = Served::start(options)?;
    let beside = Beside::start(&served)?;
    for _ in 0..scale.rounds.min(10) {
        thread::sleep(Duration::from_millis(500));
        served.crash(options)?;
    }
    thread::sleep(Duration::from_millis(500));
    let seen = beside.stop()?;
    let wrong = seen
        .reviews
        .errors()
        .filter(|error| error.contains("wrong"))
        .count();
    let text = format!("{} right answers, {wrong} wrong", seen.reviews.answers());
    match wrong == 0 && seen.reviews.answers() > 0 {
        true => Ok(text),
        false => Err(text),
    }
}

/// SIGHUP ends it as SIGTERM does: what was begun is answered.
fn hang_up(options: &Options<'_>, _: Scale) -> Result<String, String> {
    let mut served = Served::start(options)?;
    let load = Load {
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

/// Has usual clients ask for a while, all of whom must get right answers: how many.
fn used(served: &Served, scale: Scale) -> Result<usize, String> {
    let beside = Beside::start(served)?;
    thread::sleep(scale.time);
    let seen = beside.stop()?;
    seen.reviews.flawless()?;
    Ok(seen.reviews.answers())
}

fn executable(path: &PathBuf, text: &str) -> Result<(), String> {
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .map_err(|error| format!("{}: {error}", path.display()))
}
