//! A system clock that jumps while a server runs, by hours and by decades, as where it is set by hand, or by a service
//! that reaches its source of time late.
//!
//! The machine's clock stays as it is: a small library that is preloaded tells the server another time of day. Time that
//! passes is told as it is, as the system does it, too.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pratique_harness::ToolError;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

use super::AttackScale;
use super::attacked_server::{ServeOptions, ServedProgram};
use super::faults::{FaultCase, with_webhook, without_watches};
use super::namespace::script;
use super::needs::{A_MINUTE, COMPILER, USER};
use super::network::mutate;
use super::regular_clients::RegularClients;
use super::reviews;
use super::sockets::takes_effect;
use pratique_load_test::client::{ClientTrust, LoadClient};

/// All faults of clocks.
pub(super) const ALL: [FaultCase; 3] = [
    ("a clock that jumps", &[COMPILER], jumps),
    (
        "a clock that jumps, without file system watches",
        &[COMPILER, USER, A_MINUTE],
        unwatched,
    ),
    ("certificates under a clock that jumps", &[COMPILER], certificates),
];

const LIBRARY: &str = include_str!("clock.c");
const HOUR: i64 = 3600;
const YEAR: i64 = 365 * 24 * HOUR;
/// When a server's clock and the suite's are the same, in seconds: it takes a moment to ask.
const SAME: f64 = 120.0;
/// When changes last took effect, by the server's clock.
const LAST_RELOAD: &str =
    "apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds";
/// The error of a certificate at another time.
const EXPIRED: &str = "certificate has expired or is not yet valid";
/// How long the webhook takes, in milliseconds.
const WEBHOOK: u64 = 300;

/// The clock of a server.
struct ServerClock {
    file: File,
    /// Starts the program with this clock.
    program: PathBuf,
}

impl ServerClock {
    /// Compiles the library, and writes what starts the program with it.
    fn new(options: &ServeOptions<'_>) -> Result<Self, ToolError> {
        let [source, library, offset] = ["clock.c", "clock.so", "clock"].map(|name| options.state.join(name));
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        fs::write(&source, LIBRARY).map_err(|error| failed(&source, error))?;
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-o"])
            .args([&library, &source])
            .output()
            .map_err(|error| format!("cc: {error}"))?;
        if !compiled.status.success() {
            return Err(format!("cc: {}", String::from_utf8_lossy(&compiled.stderr)).into());
        }
        let file = File::create(&offset).map_err(|error| failed(&offset, error))?;
        let program = script(
            &options.state.join("with-clock.sh"),
            &format!(
                "#!/bin/sh\nexport PRATIQUE_CLOCK='{}' LD_PRELOAD='{}'\nexec '{}' \"$@\"\n",
                offset.display(),
                library.display(),
                options.program.display()
            ),
        )?;
        let clock = ServerClock { file, program };
        clock.set(0)?;
        Ok(clock)
    }

    /// Moves the server's clock forward by seconds.
    fn set(&self, seconds: i64) -> Result<(), ToolError> {
        self.file
            .write_all_at(&seconds.to_ne_bytes(), 0)
            .map_err(|error| ToolError::from(format!("the clock: {error}")))
    }
}

/// Where the clock jumps to, in seconds from now: hours and decades, to the beginning of 1970 and past 2038, and back.
fn offsets(scale: AttackScale) -> Vec<i64> {
    let start = now().try_into().map_or(0, |now: i64| HOUR - now);
    let all = [HOUR, -HOUR, YEAR, -YEAR, start, 40 * YEAR, 0];
    if scale.measures_time {
        all.to_vec()
    } else {
        vec![-HOUR, 40 * YEAR, start, 0]
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// Decisions, deadlines of reviews and of webhooks' calls, and changes of manifests are as ever; the server's clock
/// shows what it should, or all of this would mean nothing.
fn jumps(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let clock = ServerClock::new(options)?;
    let options = ServeOptions {
        program: &clock.program,
        ..*options
    };
    let slow = serde_json::json!({"respond": {"allowed": true}, "delayMs": WEBHOOK}).to_string();
    with_webhook(&options, 1, &slow, |served, backend| {
        let clients = RegularClients::start(served)?;
        let stop = AtomicBool::new(false);
        let ([calls, refused], took) = thread::scope(|scope| {
            let calling = scope.spawn(|| call(served, &stop));
            let took = offsets(scale).into_iter().map(|offset| {
                clock.set(offset)?;
                thread::sleep(scale.time / 4);
                let took = takes_effect(served)?;
                shows(served, offset).map(|()| took)
            });
            let took = took.collect::<Result<Vec<_>, ToolError>>();
            stop.store(true, Ordering::Relaxed);
            let calls = calling.join().map_err(|_| "a client panicked".to_owned())?;
            Ok::<_, ToolError>((calls?, took?))
        })?;
        let results = clients.stop()?;
        let answers = results.answers()?;
        // A connection that was made stays good; a new one looks at the webhook's certificate, which is one of half a day.
        for (offset, valid) in [(HOUR, true), (2 * 24 * HOUR, false), (0, true)] {
            clock.set(offset)?;
            backend.disconnect();
            let (allowed, text) = mutate(served)?;
            if allowed != valid || !valid && !text.contains(EXPIRED) {
                return Err(format!(
                    "a webhook's call, with the clock off by {} hours: {text}",
                    offset / HOUR
                )
                .into());
            }
        }
        Ok(format!(
            "after {} jumps changes took effect in {took:.1?}; {} right answers meanwhile, {calls} of a webhook that takes {WEBHOOK} ms, whose certificate was refused {refused} times where the clock is outside of its days",
            took.len(),
            answers
        ))
    })
}

/// Lets a webhook be called repeatedly; returns the number of calls, and of failures because of its certificate.
fn call(served: &ServedProgram, stop: &AtomicBool) -> Result<[usize; 2], ToolError> {
    let mut calls = [0, 0];
    let [allowed, refused] = &mut calls;
    while !stop.load(Ordering::Relaxed) {
        match mutate(served)? {
            (true, _) => *allowed += 1,
            (false, text) if text.contains(EXPIRED) => *refused += 1,
            (false, text) => return Err(format!("a webhook's call: {text}").into()),
        }
    }
    Ok(calls)
}

/// Checks that the server's clock was set.
#[expect(clippy::cast_precision_loss, reason = "seconds are few enough")]
fn shows(served: &ServedProgram, offset: i64) -> Result<(), ToolError> {
    let expected = now() as f64 + offset as f64;
    let last_reload = served.metric(
        LAST_RELOAD,
        "plugin=\"ValidatingAdmissionPolicy\",status=\"success\"",
    )?;
    if (last_reload - expected).abs() < SAME {
        Ok(())
    } else {
        Err(format!("the server's clock shows {last_reload}, and should show {expected}").into())
    }
}

/// Without file system events, changes are found even if the clock goes back by years.
fn unwatched(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    let clock = ServerClock::new(options)?;
    let script = without_watches(&ServeOptions {
        program: &clock.program,
        ..*options
    })?;
    let mut served = ServedProgram::start(&ServeOptions {
        program: &script,
        ..*options
    })?;
    clock.set(-YEAR)?;
    let took = takes_effect(&served)?;
    shows(&served, -YEAR)?;
    Ok(format!(
        "a change took effect in {took:.1?}\n{}",
        served.survived()?
    ))
}

/// Clients' certificates count while they are valid by the server's clock, and at no other time.
fn certificates(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    const DAY: i64 = 24 * HOUR;
    let clock = ServerClock::new(options)?;
    let client = ClientCertificate::new(options.state)?;
    let authority = client.authority.display().to_string();
    let mut served = ServedProgram::start(&ServeOptions {
        program: &clock.program,
        arguments: &["--client-ca", &authority],
        ..*options
    })?;
    let body = reviews::pod(true).to_string();
    let send_reviews = |served: &ServedProgram| {
        // A session that is resumed has no certificate checked: each is a new one.
        let trust = ClientTrust::with_certificate(
            &served.certificates.authority(),
            &client.certificate,
            &client.key,
        )?;
        LoadClient::connect(served.address(), &trust)?.post("/validate", &body)
    };
    let mut results = Vec::new();
    for (offset, valid) in [
        (0, true),
        (DAY / 2, true),
        (2 * DAY, false),
        (0, true),
        (-2 * DAY, false),
        (-DAY / 2, true),
        (40 * YEAR, false),
        (0, true),
    ] {
        clock.set(offset)?;
        let answered = send_reviews(&served);
        let text = match &answered {
            Ok(answer) => answer.code.to_string(),
            Err(error) => error.to_string(),
        };
        let accepted = answered.is_ok_and(|answer| answer.code == 200);
        if accepted != valid {
            return Err(format!("with the clock off by {} hours: {text}", offset / HOUR).into());
        }
        if !valid {
            results.push(text);
        }
    }
    results.dedup();
    Ok(format!(
        "certificates of a day were refused a day before and after it ({}), and else accepted\n{}",
        results.join("; "),
        served.survived()?
    ))
}

/// A client's certificate that is valid for a day before now and a day after.
struct ClientCertificate {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl ClientCertificate {
    fn new(folder: &Path) -> Result<Self, ToolError> {
        const DAY: Duration = Duration::from_secs(24 * 3600);
        let fault = |error: rcgen::Error| error.to_string();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "clients");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer =
            CertifiedIssuer::self_signed(params, KeyPair::generate().map_err(fault)?).map_err(fault)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "api server");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.not_before = (SystemTime::now() - DAY).into();
        params.not_after = (SystemTime::now() + DAY).into();
        let key = KeyPair::generate().map_err(fault)?;
        let certificate = params.signed_by(&key, &issuer).map_err(fault)?;
        let paths = ["clients.crt", "client.crt", "client.key"].map(|name| folder.join(name));
        let contents = [issuer.pem(), certificate.pem(), key.serialize_pem()];
        for (path, content) in paths.iter().zip(contents) {
            fs::write(path, content).map_err(ToolError::file(&path))?;
        }
        let [authority, certificate, key] = paths;
        Ok(ClientCertificate {
            authority,
            certificate,
            key,
        })
    }
}
