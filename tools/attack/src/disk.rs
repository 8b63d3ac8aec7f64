//! Servers whose disks become read-only, as after an error of the device or by a wrong mount option.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::AttackScale;
use super::attacked_server::{ServeOptions, ServedProgram};
use super::faults::{FaultCase, LOST, WRITE_FAILURES, used};
use super::fuse::SlowDirectory;
use super::namespace::{enter, script, seen_by, within};
use super::needs::{A_MINUTE, FUSE, MOUNTS, NSENTER};
use super::regular_clients::RegularClients;
use super::sockets::{MARKER, RELOADS, takes_effect};
use pratique_harness::{ToolError, eventually};

/// All faults of disks.
pub(super) const ALL: [FaultCase; 3] = [
    (
        "a read-only disk below configuration and manifests",
        &[MOUNTS, NSENTER],
        configuration,
    ),
    (
        "a read-only disk below the audit log",
        &[MOUNTS, NSENTER],
        audit_log,
    ),
    (
        "a disk below the manifests that is slow, and then hangs",
        &[FUSE, NSENTER, A_MINUTE],
        slow,
    ),
];

/// How long each call of the slow disk takes.
const SLOW: Duration = Duration::from_millis(100);
/// How long a disk hangs: long enough for the server's check of the disk once a minute.
const HUNG: Duration = Duration::from_secs(65);

/// Manifests and certificates are on a disk that is read-only at the start, then writable, and then read-only again: what
/// is in effect stays so, and changes take effect as soon as they can be made.
fn configuration(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let folders = ["manifests", "tls"].map(|name| options.state.join(name).display().to_string());
    let prepare: String = folders
        .iter()
        .map(|folder| {
            format!(
                "rm -rf \"{folder}.copy\"\ncp -a \"{folder}\" \"{folder}.copy\"\nmount -t tmpfs tmpfs \"{folder}\"\n\
                 cp -a \"{folder}.copy/.\" \"{folder}\"\nmount -o remount,ro \"{folder}\"\n"
            )
        })
        .collect();
    let script = within(options, "--mount", &prepare)?;
    let mut served = ServedProgram::start(&ServeOptions {
        program: &script,
        ..*options
    })?;
    let mount = |mode: &str| {
        let remounts = folders
            .iter()
            .map(|folder| format!("mount -o remount,{mode} \"{folder}\""));
        enter(served.id(), &remounts.collect::<Vec<_>>().join("\n"))
    };
    let read_only = |served: &ServedProgram| match fs::write(served.manifests().join("other.new"), "") {
        Err(error) if error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => Ok(()),
        Err(error) => Err(ToolError::from(format!(
            "the disk is not read-only, but: {error}"
        ))),
        Ok(()) => Err("the disk is not read-only".into()),
    };
    read_only(&served)?;
    let at_start = used(&served, scale)?;
    mount("rw")?;
    let first = takes_effect(&served)?;
    let clients = RegularClients::start(&served)?;
    mount("ro")?;
    read_only(&served)?;
    thread::sleep(scale.time);
    mount("rw")?;
    let second = takes_effect(&served)?;
    let results = clients.stop()?;
    let answers = results.answers()?;
    Ok(format!(
        "{at_start} right answers of a server started so, {} of one to which it happened; when writable, changes took effect in {:.1?}\n{}",
        answers,
        [first, second],
        served.survived()?
    ))
}

/// The disk of the audit log is read-only at the start: the server does not start, and says why. It becomes so later:
/// that is counted and logged, decisions continue, and waiting events are written when it is possible again.
fn audit_log(options: &ServeOptions<'_>, scale: AttackScale) -> Result<String, ToolError> {
    let folder = options.state.join("audit");
    fs::create_dir_all(&folder).map_err(ToolError::file(&folder))?;
    let file = folder.join("events.log");
    // The first disk can be seen there when another one is above it.
    let first = options.state.join("first");
    fs::create_dir_all(&first).map_err(ToolError::file(&first))?;
    let [folder_path, log] = [&folder, &file].map(|path| path.display().to_string());
    let start = |prepare: &str| {
        let script = within(options, "--mount", prepare)?;
        ServedProgram::start(&ServeOptions {
            program: &script,
            arguments: &["--audit-log", &log],
            ..*options
        })
    };
    let refused = match start(&format!("mount -t tmpfs -o ro tmpfs \"{folder_path}\"")) {
        Ok(_) => return Err("a server started whose audit log cannot be written".into()),
        Err(error) => error.to_string(),
    };
    if !refused.contains("cannot open the audit log") || !refused.contains("Read-only file system") {
        return Err(format!("not told why it does not start: {refused}").into());
    }

    let mut served = start(&format!(
        "mount -t tmpfs tmpfs \"{folder_path}\"\nmount --bind \"{folder_path}\" \"{}\"",
        first.display()
    ))?;
    let mut asked = used(&served, scale)?;
    let written = |served: &ServedProgram, path: &Path| lines(&seen_by(served.id(), path));
    eventually("written all events", || Ok(written(&served, &file)? >= asked))?;
    // A disk with a file that is open for writing cannot be made read-only by hand. So another one comes above it: the
    // server notices that its file lost its name, and cannot make it anew.
    enter(
        served.id(),
        &format!("mount -t tmpfs -o ro tmpfs \"{folder_path}\""),
    )?;
    asked += used(&served, scale)?;
    eventually("told that events cannot be written", || {
        Ok(served.metric(WRITE_FAILURES, "")? > 0.0)
    })?;
    if !served.log()?.contains("Error in audit plugin; trying again") {
        return Err("the log does not tell that events cannot be written".into());
    }
    enter(served.id(), &format!("mount -o remount,rw \"{folder_path}\""))?;
    asked += used(
        &served,
        AttackScale {
            time: scale.time / 3,
            ..scale
        },
    )?;
    let took = eventually("written what waited", || {
        let rotated = written(&served, &first.join("events.log"))?;
        let since = written(&served, &file).unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "events are few")]
        let known = (rotated + since) as f64 + served.metric(LOST, "")?;
        #[expect(clippy::cast_precision_loss, reason = "answers are few")]
        let asked = asked as f64;
        Ok(since > 0 && known >= asked)
    })?;
    let (failures, lost) = (served.metric(WRITE_FAILURES, "")?, served.metric(LOST, "")?);
    eventually("told that events are written again", || {
        Ok(served.log()?.contains("Audit events are written again"))
    })?;
    Ok(format!(
        "{asked} right answers; {failures} failures to write were counted, {lost} events lost; the rest was written {took:.1?} after the disk was writable\n{}",
        served.survived()?
    ))
}

/// The disk takes long for everything, and then does not answer at all for a while: what is in effect stays so, and what
/// changed meanwhile takes effect afterwards. Such a disk has no change events, so changes are found within a minute.
fn slow(options: &ServeOptions<'_>, _: AttackScale) -> Result<String, ToolError> {
    let [pid, mounted] = ["pid", "mounted"].map(|name| options.state.join(name));
    let [manifests, source] = ["manifests/validating", "source"].map(|name| options.state.join(name));
    let failed = |error: std::io::Error| format!("{}: {error}", options.state.display());
    fs::create_dir_all(&source).map_err(failed)?;
    fs::write(source.join("all.yaml"), options.validating).map_err(failed)?;
    let text = format!(
        "#!/bin/sh\nexec unshare --mount sh -ec 'echo $$ > \"{0}.new\"; mv \"{0}.new\" \"{0}\"\n\
         while ! test -e \"{1}\"; do sleep 0.05; done\nexec \"$0\" \"$@\"' '{2}' \"$@\"\n",
        pid.display(),
        mounted.display(),
        options.program.display()
    );
    let script = script(&options.state.join("slow.sh"), &text)?;
    let (served, disk) = thread::scope(|scope| {
        let mounting = scope.spawn(|| {
            eventually("ready for a mount", || Ok(pid.exists()))?;
            let process = fs::read_to_string(&pid).map_err(failed)?;
            let process = process
                .trim()
                .parse()
                .map_err(|_| "no number of a process".to_owned())?;
            let disk = SlowDirectory::mount(&source, &manifests, process)?;
            disk.delay(SLOW);
            fs::write(&mounted, "").map_err(failed)?;
            Ok::<_, ToolError>(disk)
        });
        let served = ServedProgram::start(&ServeOptions {
            program: &script,
            ..*options
        });
        let disk = mounting.join().map_err(|_| "mounting panicked".to_owned())??;
        Ok::<_, ToolError>((served?, disk))
    })?;
    let mut served = served;
    let clients = RegularClients::start(&served)?;
    disk.hold(true);
    fs::write(source.join("marker.yaml"), MARKER).map_err(failed)?;
    thread::sleep(HUNG);
    let previous_reloads = served.metric(RELOADS, "success")?;
    disk.hold(false);
    let took = eventually("noticed what changed meanwhile", || {
        Ok(served.metric(RELOADS, "success")? > previous_reloads)
    })?;
    let results = clients.stop()?;
    let answers = results.answers()?;
    Ok(format!(
        "{} right answers while the disk hung and after it; a change took effect {took:.1?} after it\n{}",
        answers,
        served.survived()?
    ))
}

/// How many lines a file has.
fn lines(path: &Path) -> Result<usize, ToolError> {
    let text = fs::read(path).map_err(ToolError::file(&path))?;
    Ok(text.iter().filter(|byte| **byte == b'\n').count())
}
