//! Kernel parameters.

use pratique_json::text_at;

use crate::pod::Pod;
use crate::violation::Violation;

/// The names that are allowed, each with the first minor version that allows it.
const ALLOWED: [(&str, u8); 14] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_wmem", 32),
    ("net.ipv4.tcp_slow_start_after_idle", 37),
    ("net.ipv4.tcp_notsent_lowat", 37),
];

/// The check from a minor version on.
// Upstream: pod-security-admission/policy/check_sysctls.go, sysctls
pub(super) fn since<const MINOR: u8>(pod: &Pod<'_>) -> Option<Violation> {
    let is_allowed = |name: &str| {
        ALLOWED
            .iter()
            .any(|(allowed, minor)| *allowed == name && *minor <= MINOR)
    };
    let names = pod.sysctls.iter().map(|sysctl| text_at(sysctl, &["name"]));
    let forbidden: Vec<&str> = names.filter(|name| !is_allowed(name)).collect();
    (!forbidden.is_empty()).then(|| Violation::new("forbidden sysctls", forbidden.join(", ")))
}
