//! Environment variables that were renamed with their flags are still read.

use crate::support::Directory;

/// Runs `serve` with some environment variables; the run must fail with this text.
#[track_caller]
fn check(variables: &[(&str, &str)], expected: &str) {
    let run = Directory::new().run_with(&["serve", "--listen", "127.0.0.1:0"], "", variables);
    assert_eq!(run.code, Some(2), "{variables:?}: {}", run.stderr);
    assert!(run.stderr.contains(expected), "{variables:?}: {}", run.stderr);
}

#[test]
fn former_variables_are_read() {
    check(&[("PRATIQUE_CONFIG", "none.yaml")], "none.yaml: No such file");
    check(&[("PRATIQUE_AUDIT_LOG", "none/log")], "none/log");
    check(
        &[
            ("PRATIQUE_TLS_CERT", "none.crt"),
            ("PRATIQUE_TLS_KEY", "none.key"),
        ],
        "none.crt",
    );
    check(&[("PRATIQUE_TLS_CERT", "none.crt")], "--tls-private-key-file");
    check(&[("PRATIQUE_TLS_KEY", "none.key")], "--tls-cert-file");
    check(&[("PRATIQUE_CLIENT_CA", "none.crt")], "--tls-cert-file");
    for (variable, flag) in [
        ("PRATIQUE_DRAIN_DELAY", "--shutdown-delay-duration"),
        ("PRATIQUE_LOG_FORMAT", "--logging-format"),
        ("PRATIQUE_MAX_BODIES", "--max-memory"),
        ("PRATIQUE_MAX_REQUESTS", "--max-requests-inflight"),
    ] {
        check(&[(variable, "wrong")], flag);
    }
}

#[test]
fn current_variables_take_precedence() {
    let both = [
        ("PRATIQUE_CONFIG", "former.yaml"),
        ("PRATIQUE_ADMISSION_CONTROL_CONFIG_FILE", "current.yaml"),
    ];
    check(&both, "current.yaml: No such file");
}

#[test]
fn flags_take_precedence() {
    let variables = [("PRATIQUE_CONFIG", "variable.yaml")];
    let run = Directory::new().run_with(&["serve", "--config", "flag.yaml"], "", &variables);
    assert!(run.stderr.contains("flag.yaml: No such file"), "{}", run.stderr);
}
