//! Differences between the server's answers and ours, with their reasons.

/// The names of cases that differ.
const KNOWN: [(&str, &str); 1] = [(
    "account/mirror pod",
    "the server's validation of built-in kinds refuses it, which is not simulated",
)];

/// Why a case differs, if that is known.
pub(super) fn reason(name: &str) -> Option<&'static str> {
    KNOWN
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, reason)| *reason)
}
