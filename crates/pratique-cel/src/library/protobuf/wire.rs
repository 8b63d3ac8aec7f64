//! The wire format of protocol buffers: messages as fields, one after the other.

/// How deep messages and groups may lie in each other.
pub(super) const MAX_DEPTH: usize = 128;

/// The largest number of a field.
const MAX_NUMBER: u64 = (1 << 29) - 1;

/// A field of a message as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WireField<'b> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'b [u8]),
    Fixed32([u8; 4]),
    /// Fields between two marks, which no type here has.
    Group,
}

/// The fields of a message in the order in which they are written, by their numbers; `None` where it is none.
pub(super) fn fields(bytes: &[u8]) -> Option<Vec<(u64, WireField<'_>)>> {
    let mut fields = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, kind, after) = tag(rest)?;
        let (wire, after) = read(number, kind, after, 0)?;
        fields.push((number, wire));
        rest = after;
    }
    Some(fields)
}

fn tag(bytes: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (tag, rest) = varint(bytes)?;
    let number = tag >> 3;
    (1..=MAX_NUMBER)
        .contains(&number)
        .then_some((number, tag & 7, rest))
}

fn read(number: u64, kind: u64, bytes: &[u8], depth: usize) -> Option<(WireField<'_>, &[u8])> {
    Some(match kind {
        0 => varint(bytes).map(|(number, rest)| (WireField::Varint(number), rest))?,
        1 => bytes
            .split_first_chunk()
            .map(|(fixed, rest)| (WireField::Fixed64(*fixed), rest))?,
        2 => {
            let (length, rest) = varint(bytes)?;
            let (text, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (WireField::Bytes(text), rest)
        }
        3 if depth < MAX_DEPTH => {
            let mut rest = bytes;
            loop {
                let (inner, kind, after) = tag(rest)?;
                if kind == 4 {
                    return (inner == number).then_some((WireField::Group, after));
                }
                (_, rest) = read(inner, kind, after, depth + 1)?;
            }
        }
        5 => bytes
            .split_first_chunk()
            .map(|(fixed, rest)| (WireField::Fixed32(*fixed), rest))?,
        _ => return None,
    })
}

/// A number of up to ten bytes, the lowest first.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        if at == 9 && *byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_their_order() {
        let read = |bytes| fields(bytes).unwrap();
        assert_eq!(
            read(b"\x08\xac\x02\x12\x02ab\x1d\x01\0\0\0\x21\x01\0\0\0\0\0\0\0"),
            [
                (1, WireField::Varint(300)),
                (2, WireField::Bytes(b"ab")),
                (3, WireField::Fixed32([1, 0, 0, 0])),
                (4, WireField::Fixed64([1, 0, 0, 0, 0, 0, 0, 0])),
            ]
        );
        assert_eq!(
            read(b"\x0b\x13\x08\x01\x14\x0c\x08\x02"),
            [(1, WireField::Group), (1, WireField::Varint(2))]
        );
        assert_eq!(read(b""), []);
    }

    #[test]
    fn what_is_no_message_is_not_read() {
        let deep = [b'\x0b'; 1_000_000];
        for bytes in [
            &b"\x08"[..],
            b"\x08\xff",
            b"\x00",
            b"\x0f",
            b"\x0a\x05\x01",
            b"\x0b",
            b"\x0b\x14",
            b"\x0c",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            b"\x0d\x01",
            &deep,
        ] {
            assert_eq!(fields(bytes), None, "{:?}", bytes.first_chunk::<2>());
        }
    }
}
