//! The audit log of `pratique serve` on a full disk.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::serve::{POLICY, Serving, eventually};
use crate::support::Directory;

/// The uids of a file's events; every line must be complete.
fn events(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        let event: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(event.is_ok_and(|event| event["kind"] == "Event"), "{line}");
    }
    text.lines().count()
}

#[test]
fn a_full_disk_is_reported_and_breaks_no_line() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "no"));
    // The size of files is limited to some kilobytes; further writes fail.
    let serving = Serving::start_in(
        &["sh", "-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\""],
        "127.0.0.1:0",
        directory.path(),
        &[
            "--plain-http",
            "--manifests",
            "manifests",
            "--audit-log-path",
            "audit.log",
        ],
    );
    let mut client = serving.client();
    let metric = |client: &mut crate::serve::Client, name: &str| -> u64 {
        let metrics = client.get("/metrics");
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        value.trim().parse().unwrap()
    };
    let lost = "apiserver_audit_error_total{plugin=\"log\"}";
    let failures = "pratique_audit_write_failures_total";
    assert_eq!((metric(&mut client, lost), metric(&mut client, failures)), (0, 0));
    (0..40).for_each(|_| assert!(client.allows("yes")));
    eventually("a failure is counted", || metric(&mut client, failures) > 0);
    assert_eq!(metric(&mut client, lost), 0, "they wait");

    // The file is truncated in the middle of a line.
    let path = directory.path().join("audit.log");
    let full = fs::read_to_string(&path).unwrap();
    let whole = full.lines().filter(|line| line.ends_with('}')).count();
    assert!(!full.ends_with('\n') && (1..40).contains(&whole), "{full}");
    fs::write(&path, "").unwrap();
    let mut written = whole;
    eventually("all are written", || {
        let more = events_when_stuck(&path);
        if more > 0 {
            fs::write(&path, "").unwrap();
        }
        written += more;
        written >= 40
    });
    assert_eq!(written, 40);
    serving.signal("INT");
    let (code, rest) = serving.wait();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.contains("Error in audit plugin; trying again"), "{rest}");
    assert!(
        rest.contains("Audit events are written again plugin=\"log\" lost=0"),
        "{rest}"
    );
}

/// The number of complete events in a file that has stopped growing.
fn events_when_stuck(path: &Path) -> usize {
    let before = fs::read_to_string(path).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let text = fs::read_to_string(path).unwrap();
    if text != before || text.is_empty() {
        return 0;
    }
    let whole: Vec<&str> = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .collect();
    let copy = path.with_extension("whole");
    fs::write(&copy, whole.concat()).unwrap();
    events(&copy)
}

#[test]
fn lost_events_are_counted_and_reported() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "no"));
    let serving = Serving::start(
        directory.path(),
        &[
            "--plain-http",
            "--manifests",
            "manifests",
            "--audit-log-path",
            "/dev/full",
        ],
    );
    let mut client = serving.client();
    let reviews = 10_500;
    (0..reviews).for_each(|_| assert!(client.allows("yes")));
    let metrics = client.get("/metrics");
    let lost = "apiserver_audit_error_total{plugin=\"log\"} ";
    let lost = metrics.lines().find_map(|line| line.strip_prefix(lost)).unwrap();
    let lost: u64 = lost.parse().unwrap();
    assert!((1..=500).contains(&lost), "{lost}");
    serving.signal("INT");
    let (_, rest) = serving.wait();
    assert!(
        rest.contains("Audit events are lost plugin=\"log\" events=1\n"),
        "{rest}"
    );
    assert!(
        rest.contains(&format!("Audit events were lost dropped={reviews}")),
        "{rest}"
    );
}

#[test]
fn recorded_requests_are_replayed() {
    let directory = Directory::new().with("manifests/a.yaml", POLICY.replace("NAME", "no"));
    let record = [
        "--plain-http",
        "--manifests",
        "manifests",
        "--record",
        "record.ndjson",
    ];
    let serving = Serving::start(directory.path(), &record);
    let mut client = serving.client();
    for name in ["yes", "no", "yes"] {
        assert_eq!(client.allows(name), name == "yes");
    }
    serving.signal("INT");
    assert_eq!(serving.wait().0, Some(0));
    let path = directory.path().join("record.ndjson");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
    let replayed = |manifests: &str| {
        let run = directory.run(&["replay", "--manifests", manifests, "-o", "json", "record.ndjson"]);
        let counts = run.json();
        ["same", "refusedNow", "allowedNow"].map(|name| counts[name].as_u64().unwrap())
    };
    assert_eq!(replayed("manifests"), [3, 0, 0], "every decision is the same");
    fs::create_dir(directory.path().join("other")).unwrap();
    fs::write(
        directory.path().join("other/a.yaml"),
        POLICY.replace("NAME", "yes"),
    )
    .unwrap();
    assert_eq!(replayed("other"), [0, 2, 1]);
}
