//! The logs of managed clusters, which have audit events within entries of their own.
//!
//! - CloudWatch (EKS): the event is the text of a `message`, in lines of JSON, in lists (`events`, `logEvents`), or behind a time
//!   and the name of a stream in exports of text and of columns.
//! - Azure (AKS): it is the text of `properties.log`.
//! - Google Cloud Logging (GKE): a `protoPayload` has the fields of the event under other names ([`google`]).
//!
//! A stream can have the logs of other parts of a cluster as well: what is no audit event is told and counted.

mod google;

use pratique_json::{Object, Value};

use crate::entries::{EntryError, LogEntry};
use crate::event::AuditEvent;

/// The lists of entries, by their names.
const LISTS: [&str; 4] = ["events", "logEvents", "records", "entries"];

/// The names of columns with the text of an entry, and with its time.
const TEXT_COLUMNS: [&str; 2] = ["message", "@message"];
const TIME_COLUMNS: [&str; 2] = ["timestamp", "@timestamp"];

/// What a line of the legacy format of audit logs has behind its time.
// Upstream: apiserver/pkg/audit/format.go, EventString
const LEGACY: &str = " AUDIT: id=";

/// The payloads of the entries of Google Cloud Logging that are no audit events.
const OTHER_PAYLOADS: [&str; 2] = ["jsonPayload", "textPayload"];

/// The first column of events in the text that the command line of AWS writes.
const EVENTS: &str = "EVENTS\t";

/// The first column of what else it writes: which streams were looked through, and where a longer answer goes on.
const OTHER_ROWS: [&str; 2] = ["SEARCHEDLOGSTREAMS\t", "NEXTTOKEN\t"];

/// How long what stands before an event on a line may be: a time, and the name of a stream.
const MAX_PREFIX: usize = 300;

/// What an object of a log is.
pub(crate) enum ManagedEntry<'e> {
    /// An event, or why it is none.
    Event(Result<LogEntry<'e>, EntryError>),
    /// A list of entries.
    List(Vec<Value<'e>>),
}

/// What an object of a managed cluster's log is; the object itself, if it is none.
pub(crate) fn managed_entry(mut members: Object<'_>) -> Result<ManagedEntry<'_>, Object<'_>> {
    match EntryForm::recognize(&members) {
        Some(EntryForm::List(name)) => match members.remove(name) {
            Some(Value::Array(items)) => Ok(ManagedEntry::List(items)),
            _ => Err(members),
        },
        Some(EntryForm::Google) => Ok(ManagedEntry::Event(google::event(members))),
        Some(EntryForm::Text(text)) => Ok(ManagedEntry::Event(event_of_text(text))),
        None => Err(members),
    }
}

/// By what an object is known to be one of a managed cluster's log.
enum EntryForm<'m> {
    /// A list of this name.
    List(&'static str),
    /// The payload of Google Cloud Logging.
    Google,
    /// The text of an entry.
    Text(&'m str),
}

impl<'m> EntryForm<'m> {
    fn recognize(members: &'m Object<'_>) -> Option<Self> {
        if members.get("kind").is_some() {
            return None;
        }
        let is_list = |name: &&str| matches!(members.get(name), Some(Value::Array(_)));
        if let Some(name) = LISTS.into_iter().find(is_list) {
            return Some(EntryForm::List(name));
        }
        let is_other = OTHER_PAYLOADS
            .iter()
            .any(|payload| members.get(payload).is_some());
        let has_payload = matches!(members.get("protoPayload"), Some(Value::Object(_)));
        if has_payload || (is_other && members.get("logName").is_some()) {
            return Some(EntryForm::Google);
        }
        message(members).map(EntryForm::Text)
    }
}

/// The text of an entry that has an event: of CloudWatch, of Azure, and of programs that forward lines.
fn message<'m>(members: &'m Object<'_>) -> Option<&'m str> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let of_properties = || members.get("properties")?.get("log")?.as_str();
    text("message")
        .or_else(|| text("@message"))
        .or_else(of_properties)
        .or_else(|| text("log_s"))
        .or_else(|| text("log"))
}

/// The event that is the text of an entry.
fn event_of_text(text: &str) -> Result<LogEntry<'static>, EntryError> {
    let text = text.trim();
    if !text.starts_with('{') {
        return Err(EntryError::OtherLog);
    }
    match pratique_json::parse(text.as_bytes()).map(Value::into_owned) {
        Ok(Value::Object(members)) if is_event(&members) => {
            let event = AuditEvent::decode(members)?;
            Ok(LogEntry::Event(Box::new(event)))
        }
        Ok(_) => Err(EntryError::OtherLog),
        // An event is cut off where it is too long for the service.
        Err(error) => Err(EntryError::Json(error)),
    }
}

/// Whether an object says that it is an audit event.
fn is_event(members: &Object<'_>) -> bool {
    let version = members.get("apiVersion").and_then(Value::as_str);
    version.is_some_and(|version| version.starts_with("audit.k8s.io/"))
}

/// The event behind a time, and perhaps the name of a stream, on a line of an export, or that the line is one of another component or
/// the heading of the columns; `None` if it is no line of an export.
///
/// Exports of columns quote the event: a quote in it is written twice.
pub(crate) fn event_of_line(line: &[u8]) -> Option<Result<LogEntry<'static>, EntryError>> {
    let line = std::str::from_utf8(line).ok()?;
    let Some((heading, _)) = line.split_once('{') else {
        // The legacy format is one of audit logs, which is not read.
        let is_other = begins_with_time(line.strip_prefix(EVENTS).unwrap_or(line)) && !line.contains(LEGACY);
        return (is_other || is_about_answer(line) || names_columns(line))
            .then_some(Err(EntryError::OtherLog));
    };
    let text = line.get(heading.len()..)?.trim_end();
    if heading.len() > MAX_PREFIX {
        return None;
    }
    if let Some(columns) = heading.strip_suffix('"') {
        let is_first = columns.is_empty();
        let text = quoted_column(text)?;
        return (is_first || begins_with_time(columns)).then(|| event_of_text(&text));
    }
    let heading = heading.strip_prefix(EVENTS).unwrap_or(heading);
    let (event, columns) = split_columns(text);
    // The event may be the first column, and its time one behind it.
    let has_time =
        begins_with_time(heading) || (heading.is_empty() && columns.split('\t').any(begins_with_time));
    has_time.then(|| event_of_text(event))
}

/// Whether a line that the command line of AWS writes is about its answer: `b/3113… f/3113…` are the tokens of what is before and
/// after the events.
fn is_about_answer(line: &str) -> bool {
    let is_token = |column: &str, direction: &str| {
        let digits = column.strip_prefix(direction);
        digits.is_some_and(|digits| {
            let digits = digits.strip_suffix("/s").unwrap_or(digits);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let tokens = line.trim_end().split_once('\t');
    OTHER_ROWS.iter().any(|row| line.starts_with(row))
        || tokens.is_some_and(|(back, forth)| is_token(back, "b/") && is_token(forth, "f/"))
}

/// The text of a column in quotes, of which the first is left out: a quote in it is written twice. `None` if something else than
/// another column follows.
fn quoted_column(text: &str) -> Option<String> {
    let mut column = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        column.push_str(part);
        match after.strip_prefix('"') {
            Some(more) => {
                column.push('"');
                rest = more;
            }
            None => return (after.is_empty() || after.starts_with(',')).then_some(column),
        }
    }
}

/// An event, and the columns behind it: a time, the name of a stream. No text of JSON has a tab as it is.
fn split_columns(text: &str) -> (&str, &str) {
    match text.split_once('\t') {
        Some((event, columns)) if event.ends_with('}') && !columns.contains(['{', '}']) => (event, columns),
        _ => (text, ""),
    }
}

/// Whether a line names the columns of an export: `timestamp,message`, `@timestamp,@message,@logStream`, or with tabs.
fn names_columns(line: &str) -> bool {
    let has = |names: &[&str]| {
        let columns = line.split([',', '\t']);
        let mut columns = columns.map(|name| name.trim().trim_matches('"'));
        columns.any(|name| names.contains(&name))
    };
    // A name with a sign of the service needs no other beside it.
    has(&TEXT_COLUMNS) && (has(&TIME_COLUMNS) || has(&["@message"]))
}

/// Whether a text begins with a time as the services write them: a date, or milliseconds since 1970.
fn begins_with_time(text: &str) -> bool {
    let text = text.trim_start_matches('"');
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let is_date = digits == 4 && text.get(4..5) == Some("-");
    is_date || digits >= 12
}

/// Whether a text begins with a line of an export of a managed cluster's log, of text or of columns.
pub(crate) fn is_managed_text(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty());
    first.is_some_and(|line| event_of_line(line).is_some())
}

/// Whether a value is an entry of a managed cluster's log.
pub(crate) fn is_managed_entry(value: &Value<'_>) -> bool {
    match value {
        Value::Object(members) => EntryForm::recognize(members).is_some(),
        Value::Array(items) => items.first().is_some_and(is_managed_entry),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pratique_stream::{Limits, Splitter};
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::entries::entries;

    const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"Panic","auditID":"a \"b\""}"#;

    fn event() -> Json {
        serde_json::from_str(EVENT).unwrap()
    }

    /// What is read of a log: the ids of events, or why something is none.
    #[track_caller]
    fn check(log: &str, expected: &[&str]) {
        let mut found = Vec::new();
        for piece in Splitter::new(log.as_bytes(), Limits::default()) {
            let piece = piece.unwrap();
            found.extend(entries(&piece).into_iter().map(|located| match located.entry {
                Ok(LogEntry::Event(event)) => event.audit_id,
                Ok(LogEntry::Review(_)) => "review".to_owned(),
                Err(error) => error.to_string(),
            }));
        }
        assert_eq!(found, expected, "{log}");
    }

    const ID: &str = "a \"b\"";
    const OTHER: &str = "it is an entry of another log, and no audit event";

    #[test]
    fn cloudwatch() {
        let message = |text: &str| json!({"timestamp": 1_700_000_000_000_i64, "message": text});
        let lines = format!(
            "{}\n{}\n",
            message(EVENT),
            message("time=\"x\" level=info msg=\"y\"")
        );
        check(&lines, &[ID, OTHER]);
        check(&message("{\"level\":\"info\"}").to_string(), &[OTHER]);
        check(
            &json!({"events": [message(EVENT), message("x")], "nextToken": "t"}).to_string(),
            &[ID, OTHER],
        );
        check(
            &json!({"messageType": "DATA_MESSAGE", "logEvents": [message(EVENT), message(EVENT)]})
                .to_string(),
            &[ID, ID],
        );
        check(
            &json!({"@timestamp": "2026-01-01 00:00:00.000", "@message": EVENT}).to_string(),
            &[ID],
        );
        // Exports of text, with a tab or blanks, and of columns.
        let stream = "kube-apiserver-audit-0123";
        check(
            &format!(
                "2026-01-01T00:00:00.000Z {EVENT}\n2026-01-01T00:00:00+00:00 {stream} {EVENT}\n1700000000000\t{EVENT}\n"
            ),
            &[ID, ID, ID],
        );
        let quoted = EVENT.replace('"', "\"\"");
        check(
            &format!("timestamp,message\n1700000000000,\"{quoted}\"\n"),
            &[OTHER, ID],
        );
        check(
            &format!("\"@timestamp\",\"@message\",\"@logStream\"\n1700000000000,\"{quoted}\"\n"),
            &[OTHER, ID],
        );
        // Columns in another order, and behind the event.
        check(
            &format!("@message,@timestamp,@logStream\n\"{quoted}\",2026-01-01 00:00:00.000,\"{stream}\"\n"),
            &[OTHER, ID],
        );
        // Columns with tabs, which quote nothing.
        let time = "2026-01-01 00:00:00.000";
        check(
            &format!("@timestamp\t@message\n{time}\t{EVENT}\n{time}\ttime=x\n"),
            &[OTHER, ID, OTHER],
        );
        check(
            &format!("@timestamp\t@message\t@logStream\n{time}\t{EVENT}\t{stream}\n"),
            &[OTHER, ID],
        );
        check(
            &format!("@message\t@logStream\t@timestamp\n{EVENT}\t{stream}\t{time}\n"),
            &[OTHER, ID],
        );
        // The columns of `aws logs get-log-events --output text`.
        check(
            &format!(
                "EVENTS\t1700000000456\t{EVENT}\t1700000000123\nEVENTS\t1700000000456\ttime=x\t1700000000123\n"
            ),
            &[ID, OTHER],
        );
        // What it says of its answer, before and behind the events.
        check(
            &format!(
                "b/31132629274945519779/s\tf/31132629274945519779/s\nEVENTS\t1700000000456\t{EVENT}\t1700000000123\n"
            ),
            &[OTHER, ID],
        );
        check(
            &format!(
                "EVENTS\t31132629274945519779\t1700000000456\t{stream}\t{EVENT}\t1700000000123\n\
                 NEXTTOKEN\tabc\nSEARCHEDLOGSTREAMS\tTrue\t{stream}\n"
            ),
            &[ID, OTHER, OTHER],
        );
        // Lines of other components, as the same texts in JSON are.
        check(
            &format!(
                "2026-01-01T00:00:00Z level=info msg=y\n1700000000000 I0101 started\n1700000000000 {EVENT}\n"
            ),
            &[OTHER, OTHER, ID],
        );
        // An event that the service cut off is none.
        let cut = EVENT.get(..60).unwrap();
        let read = message(cut).to_string();
        let piece = Splitter::new(read.as_bytes(), Limits::default())
            .next()
            .unwrap()
            .unwrap();
        assert!(matches!(entries(&piece)[0].entry, Err(EntryError::Json(_))));
    }

    #[test]
    fn azure() {
        let record = |log: &str| {
            json!({
                "category": "kube-audit", "operationName": "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read",
                "time": "2026-01-01T00:00:00Z", "properties": {"log": log, "stream": "stdout", "pod": "kube-apiserver-0"},
            })
        };
        check(&record(&format!("{EVENT}\n")).to_string(), &[ID]);
        check(
            &json!({"records": [record(EVENT), record("I0101 started")]}).to_string(),
            &[ID, OTHER],
        );
    }

    /// An entry of Google Cloud Logging.
    fn google(more: &Json) -> Json {
        let mut payload = json!({
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "k8s.io",
            "methodName": "io.k8s.apps.v1.deployments.create",
            "resourceName": "apps/v1/namespaces/shop/deployments/web",
            "authenticationInfo": {"principalEmail": "ann@example.com"},
            "request": {"@type": "apps.k8s.io/v1.Deployment", "apiVersion": "apps/v1", "kind": "Deployment"},
        });
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        json!({
            "protoPayload": payload, "insertId": "i", "timestamp": "2026-01-01T00:00:00Z",
            "labels": {"authorization.k8s.io/decision": "allow"},
            "operation": {"id": ID, "producer": "k8s.io", "first": true, "last": true},
        })
    }

    #[test]
    fn google_cloud() {
        check(
            &json!([
                google(&json!({})),
                google(&json!({"serviceName": "container.googleapis.com"})),
                google(&json!({"@type": "type.googleapis.com/google.cloud.other.Log"})),
                json!({"logName": "projects/a/logs/stdout", "textPayload": "started"}),
            ])
            .to_string(),
            &[ID, OTHER, OTHER, OTHER],
        );
        let text = google(&json!({"status": {"code": 7, "message": "no"}})).to_string();
        let piece = Splitter::new(text.as_bytes(), Limits::default())
            .next()
            .unwrap()
            .unwrap();
        let located = entries(&piece).remove(0);
        let Ok(LogEntry::Event(event)) = located.entry else {
            panic!("no event")
        };
        assert_eq!(
            (event.verb.as_str(), event.user.username.as_str()),
            ("create", "ann@example.com")
        );
        assert_eq!(event.request_uri, "/apis/apps/v1/namespaces/shop/deployments/web");
        assert!(event.lacks_details && event.request_object.get("@type").is_none());
        let status = event.response_status.unwrap();
        assert_eq!((status.code, status.message.as_str()), (403, "no"));
        let answer = json!({"response": {"@type": "core.k8s.io/v1.Status", "kind": "Status", "code": 422, "message": "m"}});
        let text = google(&answer).to_string();
        let piece = Splitter::new(text.as_bytes(), Limits::default())
            .next()
            .unwrap()
            .unwrap();
        let Ok(LogEntry::Event(event)) = entries(&piece).remove(0).entry else {
            panic!("no event")
        };
        assert_eq!(event.response_status.map(|status| status.code), Some(422));
        assert!(event.response_object.is_null());
    }

    #[test]
    fn exports_of_text_are_recognized() {
        let quoted = EVENT.replace('"', "\"\"");
        for text in [
            format!("2026-01-01T00:00:00.000Z {EVENT}\n"),
            format!("\ntimestamp,message\r\n1700000000000,\"{quoted}\"\n"),
            "2026-01-01T00:00:00Z level=info msg=y\n".to_owned(),
        ] {
            assert!(is_managed_text(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "apiVersion: v1\nkind: Pod\n",
            "timestamp,level\n",
            "2026-01-01T00:00:00Z AUDIT: id=\"x\" stage=\"RequestReceived\"\n",
        ] {
            assert!(!is_managed_text(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn entries_are_recognized() {
        let is = |value: &Json| {
            let text = value.to_string();
            is_managed_entry(&pratique_json::parse(text.as_bytes()).unwrap())
        };
        assert!(is(&google(&json!({}))) && is(&json!([google(&json!({}))])));
        assert!(is(&json!({"message": EVENT})) && is(&json!({"records": []})));
        for other in [
            event(),
            json!({"kind": "Event", "message": "m"}),
            json!({"a": 1}),
            json!([]),
            json!(1),
        ] {
            assert!(!is(&other), "{other}");
        }
    }
}
