//! Whether a piece of a stream is one of a log, and not one with objects.

use pratique_json::Value;
use pratique_stream::{Piece, PieceForm};
use pratique_types::admission;

use crate::event::API_VERSION;
use crate::managed_log::{is_managed_entry, is_managed_text};

/// How kube-apiserver begins the line of an event.
const EVENT_START: &[u8] = br#"{"kind":"Event","apiVersion":"audit.k8s.io/"#;

/// Whether a piece of a stream, which may have objects, is one of a log: by its first value, or by a line of it, if a line was cut
/// off or damaged, as after a crash of a server.
pub fn is_log(piece: &Piece) -> bool {
    let text = match (&piece.form, piece.values.first()) {
        (PieceForm::Items(list), _) => return list.api_version.as_deref() == Some(API_VERSION),
        (PieceForm::Documents | PieceForm::ListEnd(_), Some(value)) => piece.text.get(value.range.clone()),
        (PieceForm::Documents | PieceForm::ListEnd(_), None) => Some(piece.text.as_slice()),
    };
    let text = text.unwrap_or_default();
    match pratique_json::parse(text) {
        Ok(value) => is_entry(&value),
        Err(_) => is_managed_text(text) || has_entry(&piece.text),
    }
}

fn is_entry(value: &Value<'_>) -> bool {
    let version = value.get("apiVersion").and_then(Value::as_str);
    matches!(version, Some(API_VERSION | admission::API_VERSION)) || is_managed_entry(value)
}

/// Whether a line of a text is an entry, or the beginning of one.
fn has_entry(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.any(|line| {
        line.starts_with(EVENT_START)
            || line.starts_with(b"{") && pratique_json::parse(line).is_ok_and(|value| is_entry(&value))
    })
}

#[cfg(test)]
mod tests {
    use pratique_stream::{Limits, Splitter};

    use super::*;

    /// Fails unless each piece of a stream is one of a log, or none is.
    #[track_caller]
    fn check(text: &str, expected: bool) {
        let pieces = Splitter::new(text.as_bytes(), Limits::default());
        let logs: Vec<bool> = pieces.map(|piece| is_log(&piece.unwrap())).collect();
        assert!(!logs.is_empty());
        assert!(logs.iter().all(|is_log| *is_log == expected), "{text}: {logs:?}");
    }

    #[test]
    fn a_damaged_line_makes_no_objects_of_the_others() {
        let event = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a"}"#;
        let google = r#"{"protoPayload": {"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "k8s.io"}}"#;
        let cut = event.get(..55).unwrap();
        check(&format!("{event}\n{event}\n"), true);
        for damaged in [cut, "x", "{\"message\": \"{"] {
            check(&format!("{damaged}\n{event}\n"), true);
            check(&format!("{event}\n{damaged}\n{event}\n"), true);
        }
        check(cut, true);
        check(&format!("{google}\n{cut}"), true);
        check("kind: Pod\napiVersion: v1\nmetadata: {name: a}\n", false);
        check("{kind: Pod, apiVersion: v1}\n", false);
        check("{\"kind\": \"Pod\"}\n{\"kind\": \"Po", false);
        // A time within an object is no line of an export.
        check(
            "kind: ConfigMap\napiVersion: v1\ndata:\n  2026-01-01T00:00:00Z {: a\n",
            false,
        );
    }
}
