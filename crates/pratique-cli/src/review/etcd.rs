//! Exports of etcd, as `etcdctl get --prefix / -w json` prints them: keys and values in base64.

use std::io::{self, Cursor, Read};

use pratique_json::{Value, base64};
use pratique_suite::snapshot::SnapshotIndex;

use crate::input::open::Stream;
use crate::input::{InputError, InputObject};
use crate::output::problems;

/// The beginning of an export.
const HEAD: &str = "{\"header\":{\"cluster_id\":";
/// The text before the first key.
const KEYS: &[u8] = b"\"kvs\":[";
/// The beginning of values that are encoded as protobuf.
const PROTOBUF: &[u8] = b"k8s\0";
/// The beginning of values that are encrypted.
const ENCRYPTED: &[u8] = b"k8s:enc:";
/// The key by which API servers remember what they compacted.
const COMPACTED: &str = "compact_rev_key";

/// The beginning of a stream.
pub(super) struct Head {
    /// Its first bytes, decompressed.
    begin: Vec<u8>,
    pub(super) is_compressed: bool,
}

impl Head {
    /// Takes it from a stream.
    pub(super) fn of(stream: &mut Stream) -> io::Result<Self> {
        let mut begin = Vec::with_capacity(HEAD.len());
        let mut head = stream.input.by_ref().take(HEAD.len() as u64);
        head.read_to_end(&mut begin)?;
        Ok(Head {
            begin,
            is_compressed: stream.is_compressed,
        })
    }

    /// Whether the stream is an export.
    pub(super) fn is_export(&self) -> bool {
        self.begin.starts_with(HEAD.as_bytes())
    }
}

/// A stream from its beginning, and whether it is an export; of that, its items.
pub(super) fn items(mut stream: Stream) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let head = Head::of(&mut stream)?;
    let is_export = head.is_export();
    let whole = Cursor::new(head.begin).chain(stream.input);
    Ok(match is_export {
        true => (Box::new(Items::new(whole)), true),
        false => (Box::new(whole), false),
    })
}

/// An item of an export that cannot be read.
pub(super) struct UnreadableItem {
    pub(super) fault: InputError,
    /// Its API version and kind, if it says them.
    pub(super) kind: Option<(String, String)>,
}

/// The object itself, or that an item of an export has; `None` for what is no object: the index of a snapshot, and what API
/// servers store besides objects.
pub(super) fn object(input: InputObject<'_>) -> Result<Option<InputObject<'_>>, Box<UnreadableItem>> {
    let input = match stored(&input.object) {
        None => input,
        Some(Stored::Object(object)) => InputObject { object, ..input },
        Some(Stored::Other) => return Ok(None),
        Some(Stored::UnreadableItem { kind, why }) => {
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
/// are replaced by blanks, so that no more than an item has to be held. Lengths stay as they are, and so do places.
struct Items<R> {
    input: R,
    state: State,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

enum State {
    /// Before the list, with how much of [`KEYS`] was seen.
    Head(usize),
    Items,
    Tail,
}

impl<R: Read> Items<R> {
    fn new(input: R) -> Self {
        Items {
            input,
            state: State::Head(0),
            depth: 0,
            in_string: false,
            is_escaped: false,
        }
    }

    /// A byte as it is.
    fn byte(&mut self, byte: u8) -> u8 {
        match self.state {
            State::Head(seen) => {
                let seen = match KEYS.get(seen) == Some(&byte) {
                    true => seen + 1,
                    false => usize::from(KEYS.first() == Some(&byte)),
                };
                self.state = match seen == KEYS.len() {
                    true => State::Items,
                    false => State::Head(seen),
                };
                blank(byte)
            }
            State::Items if self.in_string => {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                byte
            }
            State::Items => match byte {
                b'"' => {
                    self.in_string = true;
                    byte
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    byte
                }
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    byte
                }
                b',' if self.depth == 0 => b'\n',
                b']' => {
                    self.state = State::Tail;
                    b' '
                }
                byte => byte,
            },
            State::Tail => blank(byte),
        }
    }
}

/// Line breaks stay.
fn blank(byte: u8) -> u8 {
    match byte {
        b'\n' => byte,
        _ => b' ',
    }
}

impl<R: Read> Read for Items<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(into)?;
        for byte in into.iter_mut().take(count) {
            *byte = self.byte(*byte);
        }
        Ok(count)
    }
}

/// A value of an export.
#[derive(Debug, PartialEq)]
enum Stored {
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
fn stored(item: &Value<'_>) -> Option<Stored> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let (key, value) = (text("key")?, text("value")?);
    if item.get("kind").is_some() {
        return None;
    }
    let key = base64::decode(key)
        .ok()
        .and_then(|key| String::from_utf8(key).ok());
    if key.as_deref() == Some(COMPACTED) {
        return Some(Stored::Other);
    }
    let key = key.unwrap_or_default();
    let unread = |kind, why: &str| Stored::UnreadableItem {
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
        Ok(object @ Value::Object(_)) => Stored::Object(object.into_owned()),
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
            (found, BYTES) if found == number => return Some(value),
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

    fn of(text: &str) -> Option<Stored> {
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
        let (mut found, is_export) = super::items(Stream {
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

    #[test]
    fn values_are_objects_or_reported() {
        let object = of(&item("/registry/x", br#"{"kind":"A"}"#)).unwrap();
        assert!(matches!(object, Stored::Object(object) if object.to_string() == r#"{"kind":"A"}"#));
        assert_eq!(of(&item("compact_rev_key", b"17")), Some(Stored::Other));
        assert_eq!(of(r#"{"key":"a","value":"b","kind":"A"}"#), None);
        assert_eq!(of(r#"{"kind":"A"}"#), None);
        let unread = |value: &[u8]| match of(&item("/x", value)) {
            Some(Stored::UnreadableItem { kind, why }) => (kind, why),
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
