//! `pratique serve` on a system without free watches: the log and a metric show that directories are polled.

use std::process::Command;

use crate::serve::{POLICY, Serving};
use crate::support::Directory;

/// Starts a command in a separate user namespace without inotify instances, so that other processes keep their limit.
const WITHOUT_WATCHES: [&str; 5] = [
    "unshare",
    "-Ur",
    "sh",
    "-c",
    "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\"",
];

/// Whether that is possible; gives the reason if not.
fn can_start() -> bool {
    let [program, arguments @ ..] = WITHOUT_WATCHES;
    let output = Command::new(program).args(arguments).arg("true").output();
    let reason = match output {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    eprintln!("skipped: no user namespace whose inotify instances can be limited: {reason}");
    false
}

#[test]
fn polling_is_reported() {
    if !can_start() {
        return;
    }
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "no"));
    let arguments = ["--plain-http", "--manifests", "manifests"];
    let serving = Serving::start_in(&WITHOUT_WATCHES, "127.0.0.1:0", directory.path(), &arguments);
    let message = serving
        .greeting
        .lines()
        .find(|line| line.contains("watching manifest directory"));
    let message = message.unwrap_or_else(|| panic!("{}", serving.greeting));
    assert!(
        message.contains("ERROR") && message.contains("fallback=\"poll\""),
        "{message}"
    );
    let mut client = serving.client();
    assert!(!client.allows("no") && client.allows("yes"));
    let metrics = client.get("/metrics");
    let family = "pratique_manifest_directory_watched{";
    let watched = metrics
        .lines()
        .find(|line| line.starts_with(family))
        .unwrap_or_default();
    assert!(watched.ends_with(" 0"), "{watched:?} in {metrics}");
}
