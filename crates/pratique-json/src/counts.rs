//! How much there is in a JSON text, for those who have to know before they parse it.

use memchr::memchr2;

/// What an element of an array takes while its array grows, and where its array is its only element.
const ELEMENT: usize = 112;
/// What a member of an object takes likewise, with its key.
const MEMBER: usize = 208;

/// How much there is in a JSON text: at least as much as there is, and of what is no JSON more than parsing comes to.
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
    /// Counts what is outside of strings: each value but the first of its container has a comma before it.
    pub fn of(text: &[u8]) -> Self {
        let (mut values, mut members, mut objects, mut empty_objects) = (0_usize, 0_usize, 0, 0);
        let mut rest = text;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match (byte, rest.first()) {
                (b'"', _) => rest = after_string(rest),
                (b'{', Some(b'}')) => empty_objects += 1,
                (b'[', Some(b']')) => {}
                (b'{', _) => (values, objects) = (values + 1, objects + 1),
                (b',' | b'[', _) => values += 1,
                (b':', _) => members += 1,
                _ => {}
            }
        }
        Counts {
            bytes: text.len(),
            elements: values.saturating_sub(members),
            members,
            objects,
            empty_objects,
        }
    }

    /// Counts what is in strings as well, which is quicker: more than there is.
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

/// What follows a string, of which this is the text behind its opening quote.
fn after_string(mut text: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', text) {
        let (_, found) = text.split_at(at);
        match found {
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
            let counts = Counts::of(text.as_bytes());
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
    }

    /// What is parsed holds less than what is counted, in whatever shape it comes.
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
                let counted = Counts::of(text.as_bytes()).parsed_bytes();
                assert!(held <= counted, "{held} of {counted}: {count} × {part}");
                assert!(matches!(value, Value::Array(_)));
            }
        }
    }
}
