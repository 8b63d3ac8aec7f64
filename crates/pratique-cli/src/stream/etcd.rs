//! Exports of etcd, as `etcdctl get --prefix / -w json` prints them: keys and values in base64.

use std::io::{self, Cursor, Read};

use pratique_json::{Value, base64};
use pratique_state::snapshot::SnapshotIndex;

use crate::input::open::ObjectStream;
use crate::input::{InputError, InputObject};
use crate::output::problems;

/// The beginning of an export.
const HEAD: &str = "{\"header\":{\"cluster_id\":";
/// The fields of an export.
const MEMBERS: [&[u8]; 4] = [b"header", LIST, b"more", b"count"];
/// The field that has the keys and values.
const LIST: &[u8] = b"kvs";
/// How much of the name of another field is shown.
const LONGEST_MEMBER: usize = 64;
/// The beginning of values that are encoded as protobuf.
const PROTOBUF: &[u8] = b"k8s\0";
/// The beginning of values that are encrypted.
const ENCRYPTED: &[u8] = b"k8s:enc:";
/// The key by which API servers remember what they compacted.
const COMPACTED: &str = "compact_rev_key";

/// The beginning of a stream.
pub(crate) struct StreamHead {
    /// Its first bytes, decompressed.
    begin: Vec<u8>,
    pub(crate) is_compressed: bool,
}

impl StreamHead {
    /// Takes it from a stream.
    pub(crate) fn read(stream: &mut ObjectStream) -> io::Result<Self> {
        let mut begin = Vec::with_capacity(HEAD.len());
        let mut head = stream.input.by_ref().take(HEAD.len() as u64);
        head.read_to_end(&mut begin)?;
        Ok(StreamHead {
            begin,
            is_compressed: stream.is_compressed,
        })
    }

    /// Whether the stream is an export.
    pub(crate) fn is_export(&self) -> bool {
        self.begin.starts_with(HEAD.as_bytes())
    }
}

/// A stream from its beginning, and whether it is an export; of that, its items.
pub(crate) fn items(mut stream: ObjectStream) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let head = StreamHead::read(&mut stream)?;
    let is_export = head.is_export();
    let whole = Cursor::new(head.begin).chain(stream.input);
    Ok(if is_export {
        (Box::new(ExportItems::new(whole)), true)
    } else {
        (Box::new(whole), false)
    })
}

/// An item of an export that cannot be read.
pub(crate) struct UnreadableItem {
    pub(crate) fault: InputError,
    /// Its API version and kind, if it says them.
    pub(crate) kind: Option<(String, String)>,
}

/// Whether a value is an item of an export, and no object.
pub(crate) fn is_item(value: &Value<'_>) -> bool {
    let has_text = |name: &str| value.get(name).is_some_and(|text| text.as_str().is_some());
    has_text("key") && has_text("value") && value.get("kind").is_none()
}

/// The object itself, or that an item of an export has; `None` for what is no object: the index of a snapshot, and what API
/// servers store besides objects.
pub(crate) fn object(input: InputObject<'_>) -> Result<Option<InputObject<'_>>, Box<UnreadableItem>> {
    let input = match stored(&input.object) {
        None => input,
        Some(StoredValue::Object(object)) => InputObject { object, ..input },
        Some(StoredValue::Other) => return Ok(None),
        Some(StoredValue::UnreadableItem { kind, why }) => {
            let place = problems::place(&input.location);
            let fault = InputError::Faulty { place, why };
            return Err(Box::new(UnreadableItem { fault, kind }));
        }
    };
    Ok(Some(input).filter(|input| !SnapshotIndex::is_index(&input.object)))
}

/// The keys and values of an export as a stream of JSON values, one after another.
///
/// An export is one value. What stands before its list is skipped, and the commas between the items and what follows them
/// are replaced by blanks, so that no more than an item has to be held. Lengths stay as they are, and so do places. What
/// follows the export stays as it is: it is read like any other input, and so nothing in the file is passed over.
struct ExportItems<R> {
    input: R,
    state: ExportState,
    /// How deep the next byte is nested: in the export, or, within its list, in an item.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The last string of the export's own members, as far as it may be the name of one.
    member: Vec<u8>,
    /// The value is no export after all, which is told once what was read before is given.
    fault: Option<ExportFault>,
}

enum ExportState {
    /// In the export, before its list or after it; whether the next string is the name of a member.
    Members { is_name: bool },
    /// In the list of keys and values.
    Items,
    /// After the export.
    After,
}

/// Why a value that begins like an export is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ExportFault {
    /// It has a field that exports do not have: what is in it would be passed over.
    #[error("it begins like an export of etcd and has the field {0:?}, which exports do not have")]
    Field(String),
    /// It ends within the export.
    #[error("the export of etcd is incomplete: it ends early")]
    Incomplete,
}

impl ExportFault {
    fn into_io(self) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, self)
    }
}

impl<R: Read> ExportItems<R> {
    fn new(input: R) -> Self {
        ExportItems {
            input,
            state: ExportState::Members { is_name: true },
            depth: 0,
            in_string: false,
            is_escaped: false,
            member: Vec::new(),
            fault: None,
        }
    }

    /// What takes the place of a byte.
    fn next_byte(&mut self, byte: u8) -> Result<u8, ExportFault> {
        match self.state {
            ExportState::Members { is_name } => {
                self.scan_members(byte, is_name)?;
                Ok(blank(byte))
            }
            ExportState::Items => Ok(self.scan_items(byte)),
            ExportState::After => Ok(byte),
        }
    }

    fn scan_members(&mut self, byte: u8, is_name: bool) -> Result<(), ExportFault> {
        if self.in_string {
            let is_end = self.scan_string(byte);
            if is_name && self.depth == 1 && !is_end && self.member.len() < LONGEST_MEMBER {
                self.member.push(byte);
            }
            if is_name && self.depth == 1 && is_end && !MEMBERS.contains(&self.member.as_slice()) {
                let name = String::from_utf8_lossy(&self.member).into_owned();
                return Err(ExportFault::Field(name));
            }
            return Ok(());
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if is_name && self.depth == 1 {
                    self.member.clear();
                }
            }
            b':' if self.depth == 1 => self.state = ExportState::Members { is_name: false },
            b',' if self.depth == 1 => self.state = ExportState::Members { is_name: true },
            b'[' if self.depth == 1 && self.member == LIST => {
                self.state = ExportState::Items;
                self.depth = 0;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.state = ExportState::After;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn scan_items(&mut self, byte: u8) -> u8 {
        if self.in_string {
            self.scan_string(byte);
            return byte;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => self.depth -= 1,
            b',' if self.depth == 0 => return b'\n',
            b']' => {
                self.state = ExportState::Members { is_name: false };
                self.depth = 1;
                // Another list of this name would be a duplicate key.
                self.member.clear();
                return b' ';
            }
            _ => {}
        }
        byte
    }

    /// Goes on in a string; gives whether it ends.
    fn scan_string(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' => self.is_escaped = true,
            b'"' => self.in_string = false,
            _ => {}
        }
        !self.in_string
    }
}

/// Line breaks stay.
fn blank(byte: u8) -> u8 {
    match byte {
        b'\n' => byte,
        _ => b' ',
    }
}

impl<R: Read> Read for ExportItems<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone().into_io());
        }
        let count = self.input.read(into)?;
        if count == 0 && !into.is_empty() && !matches!(self.state, ExportState::After) {
            return Err(ExportFault::Incomplete.into_io());
        }
        for (index, byte) in into.iter_mut().take(count).enumerate() {
            match self.next_byte(*byte) {
                Ok(next) => *byte = next,
                Err(fault) if index == 0 => {
                    self.fault = Some(fault.clone());
                    return Err(fault.into_io());
                }
                Err(fault) => {
                    self.fault = Some(fault);
                    return Ok(index);
                }
            }
        }
        Ok(count)
    }
}

/// A value of an export.
#[derive(Debug, PartialEq)]
enum StoredValue {
    /// An object.
    Object(Value<'static>),
    /// What no object is stored under.
    Other,
    /// It cannot be read.
    UnreadableItem {
        /// Its API version and kind, if it says them.
        kind: Option<(String, String)>,
        why: String,
    },
}

/// The value of a key, if an object is an item of an export; `None` if it is none.
fn stored(item: &Value<'_>) -> Option<StoredValue> {
    if !is_item(item) {
        return None;
    }
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let (key, value) = (text("key")?, text("value")?);
    let key = base64::decode(key)
        .ok()
        .and_then(|key| String::from_utf8(key).ok());
    if key.as_deref() == Some(COMPACTED) {
        return Some(StoredValue::Other);
    }
    let key = key.unwrap_or_default();
    let unread = |kind, why: &str| StoredValue::UnreadableItem {
        kind,
        why: format!("key {key:?}: {why}"),
    };
    let Ok(bytes) = base64::decode(value) else {
        return Some(unread(None, "its value is no base64"));
    };
    if let Some(rest) = bytes.strip_prefix(PROTOBUF) {
        let kind = envelope(rest);
        let what = match &kind {
            Some((version, kind)) => format!(" ({kind} of {version})"),
            None => String::new(),
        };
        let why = format!("its value is stored as protobuf{what}, which is not read");
        return Some(unread(kind, &why));
    }
    if bytes.starts_with(ENCRYPTED) {
        return Some(unread(None, "its value is encrypted, which is not read"));
    }
    Some(match pratique_json::parse(&bytes) {
        Ok(object @ Value::Object(_)) => StoredValue::Object(object.into_owned()),
        Ok(_) => unread(None, "its value is no object"),
        Err(error) => unread(None, &format!("its value is no JSON: {error}")),
    })
}

/// The API version and kind in the envelope that objects are stored in: the fields 1 and 2 of its field 1.
// Upstream: apimachinery/pkg/runtime/types_proto.go, Unknown
fn envelope(bytes: &[u8]) -> Option<(String, String)> {
    let meta = field(bytes, 1)?;
    let text = |number| Some(String::from_utf8_lossy(field(meta, number)?).into_owned());
    Some((text(1)?, text(2)?))
}

/// The bytes of a field, if all fields before it have bytes too.
fn field(bytes: &[u8], number: u64) -> Option<&[u8]> {
    /// The wire type of bytes.
    const BYTES: u64 = 2;
    let mut rest = bytes;
    loop {
        let (tag, after) = varint(rest)?;
        let (length, after) = varint(after)?;
        let value = after.get(..usize::try_from(length).ok()?)?;
        match (tag >> 3, tag & 7) {
            (field_number, BYTES) if field_number == number => return Some(value),
            (_, BYTES) => rest = after.get(value.len()..)?,
            _ => return None,
        }
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (index, byte) in bytes.iter().take(9).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(index + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(key: &str, value: &[u8]) -> String {
        let (key, value) = (base64::encode(key.as_bytes()), base64::encode(value));
        format!("{{\"key\":\"{key}\",\"mod_revision\":3,\"value\":\"{value}\"}}")
    }

    fn of(text: &str) -> Option<StoredValue> {
        stored(&pratique_json::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn items_follow_one_another() {
        let items = [
            item("/a", b"{}"),
            "{\"key\":\"],\\\"\",\"lease\":[1,2]}".to_owned(),
        ];
        let text = format!(
            "{HEAD}1}},\"kvs\":[{}],\"more\":[1],\"count\":2}}\n",
            items.join(",")
        );
        let (mut found, is_export) = super::items(ObjectStream {
            input: Box::new(Cursor::new(text.clone())),
            is_file: true,
            is_compressed: false,
        })
        .unwrap();
        assert!(is_export);
        let mut read = String::new();
        found.read_to_string(&mut read).unwrap();
        assert_eq!(read.len(), text.len());
        assert_eq!(read.trim(), items.join("\n"));
        assert_eq!(read.find('{'), text.find("{\"key\""));
    }

    /// What is read of a text that begins like an export, or why it is none.
    #[track_caller]
    fn check_items(text: &str, expected: Result<&str, &str>) {
        let mut items = ExportItems::new(text.as_bytes());
        let mut read = String::new();
        let read = items
            .read_to_string(&mut read)
            .map(|_| read.split_whitespace().collect::<Vec<_>>().join(" "))
            .map_err(|error| error.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn what_follows_an_export_is_read() {
        const POD: &str = "\n{\"kind\":\"Pod\"}\n";
        let pod = Ok("{\"kind\":\"Pod\"}");
        check_items(&format!("{HEAD}1}},\"kvs\":[],\"count\":0}}{POD}"), pod);
        check_items(&format!("{HEAD}1}},\"kvs\" : [ ] }}{POD}"), pod);
        // An export of nothing has no list.
        check_items(&format!("{HEAD}1,\"revision\":\"}}\"}}}}{POD}"), pod);
        check_items(
            &format!("{HEAD}1}},\"kvs\":[{{\"key\":\"]\"}}],\"more\":true}}{POD}"),
            Ok("{\"key\":\"]\"} {\"kind\":\"Pod\"}"),
        );
    }

    #[test]
    fn nothing_in_an_export_is_passed_over() {
        let of_field = |name: &str| {
            format!("it begins like an export of etcd and has the field {name:?}, which exports do not have")
        };
        check_items(
            &format!("{HEAD}1}},\"apiVersion\":\"v1\",\"kind\":\"Pod\"}}"),
            Err(&of_field("apiVersion")),
        );
        check_items(
            &format!("{HEAD}1}},\"kvs\":[],\"items\":[]}}"),
            Err(&of_field("items")),
        );
        let incomplete = Err("the export of etcd is incomplete: it ends early");
        check_items(&format!("{HEAD}1"), incomplete);
        check_items(&format!("{HEAD}1}},\"kvs\":[{{\"key\":\"a\"}}"), incomplete);
        check_items(&format!("{HEAD}1}},\"kvs\":[]"), incomplete);
    }

    #[test]
    fn values_are_objects_or_reported() {
        let object = of(&item("/registry/x", br#"{"kind":"A"}"#)).unwrap();
        assert!(matches!(object, StoredValue::Object(object) if object.to_string() == r#"{"kind":"A"}"#));
        assert_eq!(of(&item("compact_rev_key", b"17")), Some(StoredValue::Other));
        assert_eq!(of(r#"{"key":"a","value":"b","kind":"A"}"#), None);
        assert_eq!(of(r#"{"kind":"A"}"#), None);
        let unread = |value: &[u8]| match of(&item("/x", value)) {
            Some(StoredValue::UnreadableItem { kind, why }) => (kind, why),
            other => panic!("{other:?}"),
        };
        let protobuf = b"k8s\0\x0a\x0d\x0a\x07apps/v1\x12\x02RS\x12\x00";
        assert_eq!(
            unread(protobuf),
            (
                Some(("apps/v1".to_owned(), "RS".to_owned())),
                "key \"/x\": its value is stored as protobuf (RS of apps/v1), which is not read".to_owned()
            )
        );
        assert_eq!(unread(b"k8s\0\xff\xff").0, None);
        assert!(unread(b"k8s:enc:aescbc:v1:").1.contains("encrypted"));
        assert!(unread(b"[]").1.contains("no object"));
        assert!(unread(b"{").1.contains("no JSON"));
    }
}
