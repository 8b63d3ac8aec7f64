//! Differences between the server's answers and ours, with their reasons.

/// The names of cases that differ.
const KNOWN: &[(&str, &str)] = &[];

/// The names of cases that differ where plugins are a webhook: that is called after the plugins that a server runs itself.
const KNOWN_OF_WEBHOOK: &[(&str, &str)] = &[(
    "runtime class/overhead without",
    "RuntimeClass refuses it before the webhook is called, so PodSecurity does not warn",
)];

/// Why a case differs, if that is known.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    find(KNOWN, name)
}

/// Why a case differs where plugins are a webhook, if that is known.
pub(super) fn reason_of_webhook(name: &str) -> Option<&'static str> {
    find(KNOWN_OF_WEBHOOK, name)
}

fn find(known: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let exception = known.iter().find(|(known, _)| *known == name);
    exception.map(|(_, reason)| *reason)
}
