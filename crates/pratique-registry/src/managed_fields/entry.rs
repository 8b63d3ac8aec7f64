//! The entries of `metadata.managedFields`.

use std::collections::HashSet;

use pratique_gotext::strconv::quote;
use pratique_gotext::time::Timestamp;
use pratique_json::{Object, Value};

use super::set::FieldSet;

/// Which fields of an object one manager has set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ManagerEntry {
    pub(super) manager: ManagerIdentity,
    /// The version of the object in which its fields are named.
    pub(super) version: String,
    pub(super) time: Option<String>,
    pub(super) set: FieldSet,
}

/// The identity of a manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ManagerIdentity {
    pub(super) name: String,
    pub(super) applied: bool,
    /// The version of an update; empty of an apply, which has one entry for all versions.
    pub(super) version: String,
    pub(super) subresource: String,
}

impl ManagerIdentity {
    pub(super) fn new(name: &str, applied: bool, version: &str, subresource: &str) -> Self {
        ManagerIdentity {
            name: if name.is_empty() { "unknown" } else { name }.to_owned(),
            applied,
            version: if applied { "" } else { version }.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

/// Whether `managedFields` of a request ask to drop all entries.
// Upstream: apimachinery/pkg/util/managedfields/internal/fieldmanager.go, isResetManagedFields
pub(super) fn asks_for_reset(entries: &Value<'_>) -> bool {
    match entries.as_array() {
        Some([]) => true,
        Some([entry]) => entry
            .as_object()
            .is_some_and(|entry| entry.iter().all(|(_, value)| value.is_empty())),
        _ => false,
    }
}

/// Reads `managedFields`; `None` where an entry is malformed.
// Upstream: apimachinery/pkg/util/managedfields/internal/managedfields.go, DecodeManagedFields
pub(super) fn read(entries: Option<&Value<'_>>) -> Option<Vec<ManagerEntry>> {
    let mut read: Vec<ManagerEntry> = Vec::new();
    for entry in entries.and_then(Value::as_array).unwrap_or_default() {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let applied = match text("operation") {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        let version = text("apiVersion");
        if version.is_empty() || text("fieldsType") != "FieldsV1" {
            return None;
        }
        let set = match entry.get("fieldsV1") {
            Some(fields) => FieldSet::from_json(fields)?,
            None => FieldSet::default(),
        };
        let identity = ManagerIdentity {
            name: text("manager").to_owned(),
            ..ManagerIdentity::new("", applied, version, text("subresource"))
        };
        read.push(ManagerEntry {
            manager: identity,
            version: version.to_owned(),
            time: entry.get("time").and_then(Value::as_str).map(str::to_owned),
            set,
        });
    }
    // Of entries of one manager, the last counts.
    let mut seen: HashSet<ManagerIdentity> = HashSet::new();
    read.reverse();
    read.retain(|entry| seen.insert(entry.manager.clone()));
    read.reverse();
    Some(read)
}

/// Why `managedFields` cannot be read, if they cannot.
// Upstream: apimachinery/pkg/util/managedfields/internal/managedfields.go, DecodeManagedFields
pub(crate) fn fault(entries: Option<&Value<'_>>) -> Option<String> {
    if read(entries).is_some() {
        return None;
    }
    let entries = entries.and_then(Value::as_array).unwrap_or_default();
    let fault = entries.iter().enumerate().find_map(|(at, entry)| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        match (text("operation"), text("apiVersion"), text("fieldsType")) {
            ("Apply" | "Update", "", _) => Some("apiVersion must not be empty".to_owned()),
            ("Apply" | "Update", _, "FieldsV1") => None,
            ("Apply" | "Update", _, "") => Some(format!("missing fieldsType in managed fields entry {at}")),
            ("Apply" | "Update", _, other) => {
                let other = quote(other);
                Some(format!("invalid fieldsType {other} in managed fields entry {at}"))
            }
            _ => Some("operation must be `Apply` or `Update`".to_owned()),
        }
    });
    Some(fault.unwrap_or_else(|| "error decoding set".to_owned()))
}

/// Removes the entry of a manager.
pub(super) fn remove_entry(
    entries: &mut Vec<ManagerEntry>,
    manager: &ManagerIdentity,
) -> Option<ManagerEntry> {
    let at = entries.iter().position(|entry| entry.manager == *manager)?;
    Some(entries.remove(at))
}

/// Writes `managedFields`, in their order. `now` is later than every other time.
// Upstream: apimachinery/pkg/util/managedfields/internal/managedfields.go, sortEncodedManagedFields
pub(super) fn write(mut entries: Vec<ManagerEntry>, now: &str) -> Option<Value<'static>> {
    entries.sort_by(|one, other| {
        let key = |entry: &ManagerEntry| (!entry.manager.applied, seconds(entry.time.as_deref(), now));
        let names = |entry: &ManagerEntry| {
            (
                entry.manager.name.clone(),
                entry.version.clone(),
                entry.manager.subresource.clone(),
            )
        };
        key(one)
            .cmp(&key(other))
            .then_with(|| names(one).cmp(&names(other)))
    });
    let written: Vec<Value<'static>> = entries.into_iter().map(written).collect();
    (!written.is_empty()).then(|| written.into())
}

fn written(entry: ManagerEntry) -> Value<'static> {
    let mut object = Object::new();
    let mut set = |name: &'static str, text: String| {
        if !text.is_empty() {
            object.insert(name, text);
        }
    };
    set("manager", entry.manager.name);
    set(
        "operation",
        if entry.manager.applied { "Apply" } else { "Update" }.to_owned(),
    );
    set("apiVersion", entry.version);
    set("time", entry.time.unwrap_or_default());
    set("fieldsType", "FieldsV1".to_owned());
    set("subresource", entry.manager.subresource);
    object.insert("fieldsV1", entry.set.to_json());
    object.into()
}

fn seconds(time: Option<&str>, now: &str) -> i64 {
    match time {
        None => 0,
        Some(time) if time == now => i64::MAX,
        Some(time) => Timestamp::parse(time).map_or(0, Timestamp::seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_of_a_manager_counts() {
        let entry = |manager: &str, time: &str| {
            format!(
                r#"{{"manager":"{manager}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","time":"{time}"}}"#
            )
        };
        let entries = [entry("a", "1"), entry("b", "2"), entry("a", "3"), entry("c", "4")].join(",");
        let entries = format!("[{entries}]");
        let read = read(Some(&pratique_json::parse(entries.as_bytes()).unwrap())).unwrap();
        let read: Vec<(&str, Option<&str>)> = read
            .iter()
            .map(|entry| (entry.manager.name.as_str(), entry.time.as_deref()))
            .collect();
        assert_eq!(read, [("b", Some("2")), ("a", Some("3")), ("c", Some("4"))]);
    }

    #[test]
    fn entries_that_cannot_be_read_have_faults() {
        let fault = |text: &str| fault(Some(&pratique_json::parse(text.as_bytes()).unwrap()));
        let good =
            r#"{"operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}"#;
        assert_eq!(fault(&format!("[{good}]")), None);
        assert_eq!(fault("[]"), None);
        for (entry, expected) in [
            ("{}", "operation must be `Apply` or `Update`"),
            (r#"{"operation":"Apply"}"#, "apiVersion must not be empty"),
            (
                r#"{"operation":"Apply","apiVersion":"v1"}"#,
                "missing fieldsType in managed fields entry 1",
            ),
            (
                r#"{"operation":"Apply","apiVersion":"v1","fieldsType":"x"}"#,
                r#"invalid fieldsType "x" in managed fields entry 1"#,
            ),
        ] {
            assert_eq!(fault(&format!("[{good},{entry}]")).as_deref(), Some(expected));
        }
    }
}
