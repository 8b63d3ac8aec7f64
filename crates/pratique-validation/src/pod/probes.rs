//! Probes and the handlers of a container's life.

use crate::errors::Errors;
use crate::member_index::MemberIndex;
use crate::messages::{http_header_name, port_name, port_number};
use crate::node::Node;

/// The probes of a container that goes on running.
pub(super) fn validate_probes(container: &Node<'_, '_>, errors: &mut Errors) {
    let liveness = container.child("livenessProbe");
    if liveness.is_set() {
        validate_probe(&liveness, errors);
        validate_one_success(&liveness, errors);
    }
    let readiness = container.child("readinessProbe");
    if readiness.is_set() {
        validate_probe(&readiness, errors);
        let period = readiness.child("terminationGracePeriodSeconds");
        if period.is_set() {
            errors.invalid(period, period.int(), "must not be set for readinessProbes");
        }
    }
    let startup = container.child("startupProbe");
    if startup.is_set() {
        validate_probe(&startup, errors);
        validate_one_success(&startup, errors);
    }
}

fn validate_one_success(probe: &Node<'_, '_>, errors: &mut Errors) {
    let threshold = probe.child("successThreshold");
    if threshold.int() != 1 {
        errors.invalid(threshold, threshold.int(), "must be 1");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateProbe
fn validate_probe(probe: &Node<'_, '_>, errors: &mut Errors) {
    let index = MemberIndex::new(probe.value());
    let probe = &probe.with_index(&index);
    validate_handler(probe, None, errors);
    for number in [
        probe.child("initialDelaySeconds"),
        probe.child("timeoutSeconds"),
        probe.child("periodSeconds"),
        probe.child("successThreshold"),
        probe.child("failureThreshold"),
    ] {
        errors.nonnegative(&number);
    }
    let period = probe.child("terminationGracePeriodSeconds");
    if period.is_set() && period.int() <= 0 {
        errors.invalid(period, period.int(), "must be greater than 0");
    }
}

/// What is done when a container starts and before it stops.
// Upstream: pkg/apis/core/validation/validation.go, validateLifecycle
pub(super) fn validate_lifecycle(lifecycle: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    if !lifecycle.is_set() {
        return;
    }
    let grace_period = spec.child("terminationGracePeriodSeconds").some_int();
    for name in ["postStart", "preStop"] {
        let handler = lifecycle.child(name);
        if handler.is_set() {
            validate_handler(&handler, grace_period, errors);
        }
    }
    let signal = lifecycle.child("stopSignal");
    if signal.is_set() {
        validate_stop_signal(&signal, &spec.child("os"), errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateStopSignal
fn validate_stop_signal(signal: &Node<'_, '_>, os: &Node<'_, '_>, errors: &mut Errors) {
    if !os.is_set() {
        errors.forbidden(signal, "may not be set for containers with empty `spec.os.name`");
        return;
    }
    let signals = match os.child("name").as_text() {
        "windows" => &["SIGKILL", "SIGTERM"],
        "linux" => LINUX_SIGNALS,
        _ => return,
    };
    if !signals.contains(&signal.as_text()) {
        errors.not_supported(signal, signals);
    }
}

const LINUX_SIGNALS: &[&str] = &[
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMAX-1",
    "SIGRTMAX-10",
    "SIGRTMAX-11",
    "SIGRTMAX-12",
    "SIGRTMAX-13",
    "SIGRTMAX-14",
    "SIGRTMAX-2",
    "SIGRTMAX-3",
    "SIGRTMAX-4",
    "SIGRTMAX-5",
    "SIGRTMAX-6",
    "SIGRTMAX-7",
    "SIGRTMAX-8",
    "SIGRTMAX-9",
    "SIGRTMIN",
    "SIGRTMIN+1",
    "SIGRTMIN+10",
    "SIGRTMIN+11",
    "SIGRTMIN+12",
    "SIGRTMIN+13",
    "SIGRTMIN+14",
    "SIGRTMIN+15",
    "SIGRTMIN+2",
    "SIGRTMIN+3",
    "SIGRTMIN+4",
    "SIGRTMIN+5",
    "SIGRTMIN+6",
    "SIGRTMIN+7",
    "SIGRTMIN+8",
    "SIGRTMIN+9",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];

// Upstream: pkg/apis/core/validation/validation.go, validateHandler
fn validate_handler(handler: &Node<'_, '_>, grace_period: Option<i64>, errors: &mut Errors) {
    let mut count = 0;
    let actions = [
        ("exec", handler.child("exec")),
        ("httpGet", handler.child("httpGet")),
        ("tcpSocket", handler.child("tcpSocket")),
        ("grpc", handler.child("grpc")),
        ("sleep", handler.child("sleep")),
    ];
    for (name, action) in actions.into_iter().filter(|(_, action)| action.is_set()) {
        count += 1;
        if count > 1 {
            errors.forbidden(action, "may not specify more than 1 handler type");
            continue;
        }
        match name {
            "exec" => {
                if action.child("command").is_empty() {
                    errors.required(action.child("command"), "");
                }
            }
            "httpGet" => validate_http_get(&action, errors),
            "tcpSocket" => validate_port(&action.child("port"), errors),
            "grpc" => validate_grpc(&action, errors),
            _ => validate_sleep(&action, grace_period, errors),
        }
    }
    if count == 0 {
        errors.required(handler, "must specify a handler type");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateSleepAction
fn validate_sleep(sleep: &Node<'_, '_>, grace_period: Option<i64>, errors: &mut Errors) {
    let seconds = sleep.child("seconds").int();
    if let Some(period) = grace_period
        && !(0..=period).contains(&seconds)
    {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({period})");
        errors.invalid(sleep, seconds, &detail);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateHTTPGetAction
fn validate_http_get(http: &Node<'_, '_>, errors: &mut Errors) {
    if http.child("path").as_text().is_empty() {
        errors.required(http.child("path"), "");
    }
    validate_port(&http.child("port"), errors);
    let scheme = http.child("scheme");
    if !["HTTP", "HTTPS"].contains(&scheme.as_text()) {
        errors.not_supported(&scheme, &["HTTP", "HTTPS"]);
    }
    let headers = http.child("httpHeaders");
    for header in headers.items() {
        let name = header.child("name").as_text();
        if let Some(message) = http_header_name(name) {
            errors.invalid(headers, name, message);
        }
    }
    let (protocol, host) = (http.child("protocol"), http.child("host"));
    match protocol.as_text() {
        _ if !protocol.is_set() => {}
        "HTTP1" => {}
        "HTTP2" if scheme.as_text() != "HTTP" => {
            errors.invalid_name(&protocol, "is only supported with HTTP (H2C)")
        }
        "HTTP2" if !host.as_text().is_empty() => {
            errors.invalid_value(&host, "must be empty when `protocol` is \"HTTP2\"");
        }
        "HTTP2" => {}
        _ => errors.not_supported(&protocol, &["HTTP1", "HTTP2"]),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateGRPCAction
fn validate_grpc(grpc: &Node<'_, '_>, errors: &mut Errors) {
    validate_port(&grpc.child("port"), errors);
    let mode = grpc.child("mode");
    if mode.is_set() && !["Plaintext", "TLS"].contains(&mode.as_text()) {
        errors.not_supported(&mode, &["Plaintext", "TLS"]);
    }
}

/// A port by its number or name.
// Upstream: pkg/apis/core/validation/validation.go, ValidatePortNumOrName
pub(crate) fn validate_port(port: &Node<'_, '_>, errors: &mut Errors) {
    if port.value().as_str().is_some() {
        errors.invalid_each(port, &port_name(port.as_text()));
    } else if let Some(message) = port_number(port.int()) {
        // Go's `int`, which is printed as JSON.
        errors.invalid(port, port.int(), &message);
    }
}
