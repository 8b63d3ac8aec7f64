//! The number of values in a JSON text, for callers that bound memory before they parse it.

use memchr::{memchr, memchr2};

/// What an element of an array takes while its array grows, and where its array is its only element.
const ELEMENT: usize = 112;
/// What a member of an object takes likewise, with its key.
const MEMBER: usize = 208;

/// Parts from this length on are counted without branches.
const LANES: usize = 64;
/// As many bytes as a `u8` counts.
const MAX_CHUNK: usize = 255;

/// The number of values in a JSON text: never less than there are, and for malformed JSON never less than parsing reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes of the text.
    pub bytes: usize,
    /// Elements of arrays.
    pub elements: usize,
    /// Members of objects.
    pub members: usize,
    /// Objects that have members.
    pub objects: usize,
    /// Objects without members: `{}`.
    pub empty_objects: usize,
}

impl Counts {
    /// Counts outside of strings: each value but the first of its container has a comma before it.
    pub fn count(text: &[u8]) -> Self {
        let mut total = StructuralCounts::default();
        let mut rest = text;
        while let Some(quote) = memchr(b'"', rest) {
            let (outside, string) = rest.split_at(quote);
            total.add(outside);
            rest = after_string(string);
        }
        total.add(rest);
        let StructuralCounts {
            values,
            members,
            objects,
            empty_objects,
        } = total;
        Counts {
            bytes: text.len(),
            elements: values.saturating_sub(members),
            members,
            objects,
            empty_objects,
        }
    }

    /// Counts inside of strings as well, which is quicker and gives more than there are.
    pub fn bound(text: &[u8]) -> Self {
        let values = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{'));
        let values = values.count();
        Counts {
            bytes: text.len(),
            elements: 0,
            members: values,
            objects: 0,
            empty_objects: values,
        }
    }

    /// Elements and members.
    pub fn values(&self) -> usize {
        self.elements.saturating_add(self.members)
    }

    /// How many bytes of memory parsing takes at most besides the text. Texts with escapes are copied.
    pub fn parsed_bytes(&self) -> usize {
        let elements = self.elements.saturating_mul(ELEMENT);
        let members = self.members.saturating_mul(MEMBER);
        elements.saturating_add(members).saturating_add(self.bytes)
    }
}

/// Counts outside of strings.
#[derive(Default)]
struct StructuralCounts {
    /// Elements, members and the document, but for the first of each: each other one has a comma before it.
    values: usize,
    members: usize,
    objects: usize,
    empty_objects: usize,
}

impl StructuralCounts {
    /// Counts in a part of the text that lies between strings.
    fn add(&mut self, part: &[u8]) {
        if part.len() < LANES {
            self.add_each(part)
        } else {
            self.add_lanes(part)
        }
    }

    fn add_each(&mut self, mut part: &[u8]) {
        while let Some((byte, after)) = part.split_first() {
            part = after;
            match (byte, part.first()) {
                (b'{', Some(b'}')) => self.empty_objects += 1,
                (b'[', Some(b']')) => {}
                (b'{', _) => (self.values, self.objects) = (self.values + 1, self.objects + 1),
                (b',' | b'[', _) => self.values += 1,
                (b':', _) => self.members += 1,
                _ => {}
            }
        }
    }

    /// The same without branches, so that the compiler makes vector instructions of it: a long part without strings is
    /// what a client sends to keep the server busy.
    fn add_lanes(&mut self, part: &[u8]) {
        let next = part.get(1..).unwrap_or_default();
        let none: &[u8] = &[];
        let chunks = part.chunks(MAX_CHUNK);
        let following = next.chunks(MAX_CHUNK).chain([none]);
        for (chunk, following) in chunks.zip(following) {
            let (mut values, mut members, mut opened) = (0_u8, 0_u8, 0_u8);
            for byte in chunk {
                values += u8::from(matches!(byte, b',' | b'[' | b'{'));
                members += u8::from(*byte == b':');
                opened += u8::from(*byte == b'{');
            }
            let (mut empty_objects, mut empty_arrays) = (0_u8, 0_u8);
            for (byte, next) in chunk.iter().zip(following) {
                empty_objects += u8::from(*byte == b'{') & u8::from(*next == b'}');
                empty_arrays += u8::from(*byte == b'[') & u8::from(*next == b']');
            }
            self.values += usize::from(values - empty_objects - empty_arrays);
            self.members += usize::from(members);
            self.objects += usize::from(opened - empty_objects);
            self.empty_objects += usize::from(empty_objects);
        }
    }
}

/// What follows a string, of which this is the text from its opening quote on.
fn after_string(text: &[u8]) -> &[u8] {
    let mut text = text.get(1..).unwrap_or_default();
    while let Some(at) = memchr2(b'"', b'\\', text) {
        match text.split_at(at).1 {
            [b'"', after @ ..] => return after,
            [_, _escaped, after @ ..] => text = after,
            _ => break,
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Value, parse};

    #[test]
    fn values_are_counted_outside_of_strings() {
        let check = |text: &str, elements: usize, members: usize, objects: [usize; 2]| {
            let counts = Counts::count(text.as_bytes());
            assert_eq!(
                (
                    counts.elements,
                    counts.members,
                    [counts.objects, counts.empty_objects]
                ),
                (elements, members, objects),
                "{text}"
            );
            let bound = Counts::bound(text.as_bytes());
            assert!(bound.values() >= counts.values() && bound.parsed_bytes() >= counts.parsed_bytes());
        };
        check("", 0, 0, [0, 0]);
        check("1", 0, 0, [0, 0]);
        check("[]", 0, 0, [0, 0]);
        check("[[],[],[]]", 3, 0, [0, 0]);
        check(r#"{"a":[1,2,3],"b":{}}"#, 3, 2, [1, 1]);
        check(r#"["[[[,,,{{{:::", "\"[,:", "\\", []]"#, 4, 0, [0, 0]);
        check(r#"["[,[,"#, 1, 0, [0, 0]);
        check(r#"["\"#, 1, 0, [0, 0]);
        // Long parts are counted otherwise, in chunks that separate pairs.
        for count in [63, 64, 65, 254, 255, 256, 1000] {
            check(&format!("[{}1]", "{},".repeat(count)), count + 1, 0, [0, count]);
            check(&format!(" [{}[]]", "[],".repeat(count)), count + 1, 0, [0, 0]);
            check(
                &format!("{}1{}", "{:[".repeat(count), "]}".repeat(count)),
                count,
                count,
                [count, 0],
            );
        }
    }

    /// Parsed values hold less memory than counted, whatever their shape.
    #[test]
    fn what_is_parsed_is_no_larger() {
        for part in [
            "[]",
            "{}",
            "1",
            "[1]",
            r#"{"a":1}"#,
            r#"{"\n":"\n"}"#,
            r#""\n""#,
            "[[1],[1,2]]",
        ] {
            for count in [3, 1025, 20_000] {
                let text = format!("[{}]", vec![part; count].join(","));
                let value = parse(text.as_bytes()).unwrap();
                let held = value.owned_bytes();
                let counted = Counts::count(text.as_bytes()).parsed_bytes();
                assert!(held <= counted, "{held} of {counted}: {count} × {part}");
                assert!(matches!(value, Value::Array(_)));
            }
        }
    }
}
