//! The entries of a log: audit events and recorded reviews.

use pratique_json::{Object, Value};
use pratique_stream::{ListHeader, Piece, PieceForm, StreamPlace};
use pratique_types::AdmissionReview;
use pratique_types::admission;

use crate::event::{API_VERSION, AuditEvent, EventError};
use crate::managed_log::{ManagedEntry, event_of_line, managed_entry};

/// An entry of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum LogEntry<'p> {
    /// An audit event.
    Event(Box<AuditEvent<'p>>),
    /// A request that was recorded as admission was asked, perhaps with the answer.
    Review(Box<AdmissionReview<'p>>),
}

/// An entry and its place in the stream.
#[derive(Debug)]
pub struct LocatedEntry<'p> {
    /// Where it begins.
    pub place: StreamPlace,
    /// The entry, or why it is none.
    pub entry: Result<LogEntry<'p>, EntryError>,
}

/// Why something is not an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// It is not JSON: logs of the `legacy` format are not read.
    #[error("not JSON: {0}")]
    Json(pratique_json::Error),
    /// It is not a JSON object.
    #[error("expected a JSON object, as kube-apiserver writes it with --audit-log-format=json")]
    NoObject,
    /// It is no audit event.
    #[error(transparent)]
    Event(#[from] EventError),
    /// It is no AdmissionReview.
    #[error("the AdmissionReview cannot be read: {0}")]
    Review(serde_json::Error),
    /// It is an AdmissionReview without a request.
    #[error("the AdmissionReview has no request")]
    NoRequest,
    /// It is an entry of another log, beside which audit events stand.
    #[error("it is an entry of another log, and no audit event")]
    OtherLog,
    /// A list of events ends early, or is no list.
    #[error("the list of events is not complete JSON: {0}")]
    List(pratique_json::Error),
}

/// The kind of the batches of the webhook backend.
const LIST: &str = "EventList";

/// The entries of a piece of a stream.
pub fn entries(piece: &Piece) -> Vec<LocatedEntry<'_>> {
    let mut entries = Vec::with_capacity(piece.values.len());
    let list = match &piece.form {
        PieceForm::Documents => None,
        PieceForm::Items(list) => Some(&**list),
        PieceForm::ListEnd(_) => {
            let rest = pratique_json::parse(&piece.text);
            let error = rest.err().map(|error| Err(EntryError::List(error)));
            entries.extend(error.map(|entry| LocatedEntry {
                place: piece.start,
                entry,
            }));
            return entries;
        }
    };
    if piece.values.is_empty() {
        // JSON over several lines, or none.
        if !piece.text.trim_ascii().is_empty() {
            read(&piece.text, list, piece.start, &mut entries);
        }
        return entries;
    }
    let (mut place, mut at) = (piece.start, 0);
    for value in &piece.values {
        let preceding_text = piece.text.get(at..value.range.start).unwrap_or_default();
        let text = piece.text.get(value.range.clone()).unwrap_or_default();
        let start = place.after(preceding_text);
        (place, at) = (start.after(text), value.range.end);
        read(text, list, start, &mut entries);
    }
    entries
}

fn read<'p>(
    text: &'p [u8],
    list: Option<&ListHeader>,
    place: StreamPlace,
    entries: &mut Vec<LocatedEntry<'p>>,
) {
    match pratique_json::parse(text) {
        Ok(value) => read_value(value, text, list, place, entries),
        Err(_) => by_lines(text, list, place, entries),
    }
}

/// Reads a text that is not JSON line by line: a line that was cut off, as when a server crashed, hides none that follow. Lines in
/// a row that cannot be read are one error.
fn by_lines<'p>(
    text: &'p [u8],
    list: Option<&ListHeader>,
    start: StreamPlace,
    entries: &mut Vec<LocatedEntry<'p>>,
) {
    let (mut place, mut was_bad) = (start, false);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let at = place;
        place = place.after(line);
        let content = line.trim_ascii();
        if content.is_empty() || content == b"---" || content.starts_with(b"#") {
            continue;
        }
        let error = match pratique_json::parse(content) {
            Ok(value @ Value::Object(_)) => {
                was_bad = false;
                read_value(value, content, list, at, entries);
                continue;
            }
            Ok(_) => EntryError::NoObject,
            Err(error) => match event_of_line(content) {
                Some(entry) => {
                    was_bad = false;
                    entries.push(LocatedEntry { place: at, entry });
                    continue;
                }
                None => EntryError::Json(error),
            },
        };
        if !std::mem::replace(&mut was_bad, true) {
            entries.push(LocatedEntry {
                place: at,
                entry: Err(error),
            });
        }
    }
}

fn read_value<'p>(
    value: Value<'p>,
    text: &'p [u8],
    list: Option<&ListHeader>,
    place: StreamPlace,
    entries: &mut Vec<LocatedEntry<'p>>,
) {
    let mut add = |entry| entries.push(LocatedEntry { place, entry });
    let mut members = match value {
        Value::Object(members) => members,
        // Some programs write the entries of managed clusters as one list.
        Value::Array(items) if !items.is_empty() => {
            return items.into_iter().for_each(|item| add(listed(item)));
        }
        _ => return add(Err(EntryError::NoObject)),
    };
    if let Some(list) = list {
        name(&mut members, list.kind.as_deref(), list.api_version.as_deref());
    }
    let is = |name: &str, value: &str| members.get(name).and_then(Value::as_str) == Some(value);
    if is("kind", admission::KIND) && is("apiVersion", admission::API_VERSION) {
        return add(review(text));
    }
    if !(is("kind", LIST) && is("apiVersion", API_VERSION)) {
        return match managed_entry(members) {
            Ok(ManagedEntry::Event(entry)) => add(entry),
            Ok(ManagedEntry::List(items)) => items.into_iter().for_each(|item| add(listed(item))),
            Err(members) => add(event(members)),
        };
    }
    match members.remove("items") {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => items.into_iter().for_each(|item| match item {
            Value::Object(mut members) => {
                name(&mut members, Some(LIST), Some(API_VERSION));
                add(event(members));
            }
            _ => add(Err(EntryError::NoObject)),
        }),
        Some(_) => add(Err(EntryError::NoObject)),
    }
}

/// An entry of a list of a managed cluster's log.
fn listed(item: Value<'_>) -> Result<LogEntry<'_>, EntryError> {
    let Value::Object(members) = item else {
        return Err(EntryError::NoObject);
    };
    match managed_entry(members) {
        Ok(ManagedEntry::Event(entry)) => entry,
        Ok(ManagedEntry::List(_)) => Err(EntryError::OtherLog),
        Err(members) => event(members),
    }
}

fn event(members: Object<'_>) -> Result<LogEntry<'_>, EntryError> {
    let event = AuditEvent::decode(members)?;
    Ok(LogEntry::Event(Box::new(event)))
}

fn review(text: &[u8]) -> Result<LogEntry<'_>, EntryError> {
    let review = AdmissionReview::parse(text).map_err(EntryError::Review)?;
    match review.request {
        Some(_) => Ok(LogEntry::Review(Box::new(review))),
        None => Err(EntryError::NoRequest),
    }
}

/// Names an item of a list of events, which mostly does not say itself what it is.
fn name(members: &mut Object<'_>, kind: Option<&str>, api_version: Option<&str>) {
    let is_unnamed = members.get("kind").is_none_or(Value::is_empty);
    if let (true, Some(LIST), Some(api_version)) = (is_unnamed, kind, api_version) {
        members.insert("kind", "Event");
        members.insert("apiVersion", api_version.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use pratique_stream::{Limits, Splitter};

    use super::*;

    fn read(text: &str, limits: Limits) -> Vec<String> {
        let pieces = Splitter::new(text.as_bytes(), limits);
        let mut found = Vec::new();
        for piece in pieces.map(Result::unwrap) {
            for located in entries(&piece) {
                let shown = match located.entry {
                    Ok(LogEntry::Event(event)) => event.audit_id,
                    Ok(LogEntry::Review(review)) => review.request.unwrap().uid,
                    Err(error) => error.to_string(),
                };
                found.push(format!("{}:{} {shown}", located.place.line, located.place.column));
            }
        }
        found
    }

    fn event(id: &str) -> String {
        format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"Panic","auditID":"{id}"}}"#
        )
    }

    #[test]
    fn lines_and_batches_are_read() {
        let unnamed = |id: &str| event(id).replace(r#""kind":"Event","apiVersion":"audit.k8s.io/v1","#, "");
        let batch = format!(
            "{{\"kind\":\"EventList\",\"apiVersion\":\"audit.k8s.io/v1\",\"metadata\":{{}},\"items\":[{},\n{}]}}",
            unnamed("c"),
            event("d")
        );
        let review = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"e"}}"#;
        let text = format!("{}\n{}\n{batch}\n\n{review}\n", event("a"), event("b"));
        let small = Limits {
            list: 64,
            ..Limits::default()
        };
        assert_eq!(
            read(&text, Limits::default()),
            ["1:0 a", "2:0 b", "3:0 c", "3:0 d", "6:0 e"]
        );
        let pieces = read(&text, small);
        let ids: Vec<&str> = pieces.iter().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(
            ids,
            ["a", "b", "c", "d", "e"],
            "a long batch is read item by item"
        );
    }

    #[test]
    fn what_is_no_entry_is_an_error_and_the_rest_is_read() {
        let cut = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","lev"#;
        let (a, b, c) = (event("a"), event("b"), event("c"));
        let text =
            format!("{{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}}\n[1]\n{a}\n{cut}\n{b}\nx\ny\n{c}\n{cut}");
        let found = read(&text, Limits::default());
        let starts = [
            "1:0 expected an Event of audit.k8s.io/v1, and it is a Pod of v1",
            "2:0 expected a JSON object",
            "3:0 a",
            "4:0 not JSON",
            "5:0 b",
            "6:0 ",
            "8:0 c",
            "9:0 not JSON",
        ];
        assert_eq!(found.len(), starts.len(), "{found:?}");
        for (found, start) in found.iter().zip(starts) {
            assert!(found.starts_with(start), "{found}: expected {start}");
        }
        let legacy = "2026-01-01T00:00:00Z AUDIT: id=\"x\" stage=\"RequestReceived\"\n";
        assert_eq!(read(legacy, Limits::default()).len(), 1);
        assert!(
            read("", Limits::default()).is_empty() && read("\n# nothing\n", Limits::default()).is_empty()
        );
    }
}
