//! From text to value, as most documents are written.
//!
//! Nothing is reported here: what is wrong, or written as few write it, is left to the parser that words errors.
// Rows `validate-*` of `benches/`: reading is a third of the work on an object, and a parser that hands each token to a visitor executes a
// quarter more instructions for it.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::object::{NamedValue, capacity_for, compare, head};
use crate::parse::{MAX_DEPTH, parse_other};
use crate::special_bytes::find_special;
use crate::{Object, Value};

/// Reads a document whose objects have each of their members once; `None` of any other, and of what is no JSON.
pub(crate) fn read_plain(text: &str) -> Option<Value<'_>> {
    let mut reader = PlainReader {
        cursor: TextCursor { text, at: 0 },
        members: SpareLists(Vec::new()),
        elements: SpareLists(Vec::new()),
    };
    let first = reader.cursor.token()?;
    let value = reader.value(first, 0)?;
    (reader.cursor.skip_space().at == text.len()).then_some(value)
}

/// The capacity of the list of an object that is read with so many members: setting what defaults add to a container or a probe does not
/// move it. What has a single member mostly stays so.
fn capacity_to_set(count: usize) -> usize {
    const SPARE: usize = 4;
    capacity_for(if count < 2 { 3 * count } else { count + SPARE })
}

/// A string that was read.
enum PlainString<'t> {
    /// A part of the text.
    Text(&'t str),
    /// One with escapes.
    Other(Cow<'t, str>),
}

impl<'t> PlainString<'t> {
    #[inline(always)]
    fn into_value(self) -> Value<'t> {
        match self {
            PlainString::Text(text) => Value::String(Cow::Borrowed(text)),
            PlainString::Other(text) => Value::String(text),
        }
    }
}

/// A place in a text. It is copied while an object or an array is read, so that it stays in registers.
#[derive(Clone, Copy)]
struct TextCursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> TextCursor<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[cold]
    fn skip_space(mut self) -> Self {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        self
    }

    /// The next byte that is no space.
    #[inline(always)]
    fn token(&mut self) -> Option<u8> {
        let mut byte = self.peek()?;
        if byte <= b' ' {
            *self = self.skip_space();
            byte = self.peek()?;
        }
        self.at += 1;
        Some(byte)
    }

    fn word(&mut self, rest: &str, value: Value<'t>) -> Option<Value<'t>> {
        let is_there = self.text.as_bytes().get(self.at..)?.starts_with(rest.as_bytes());
        self.at += rest.len();
        is_there.then_some(value)
    }

    /// A key behind its quote, and its first eight bytes as [`head`] gives them.
    #[inline(always)]
    fn key(&mut self) -> Option<(Cow<'t, str>, u64)> {
        let start = self.at;
        match self.string()? {
            PlainString::Text(text) => {
                let head = match self.text.as_bytes().get(start..)?.first_chunk::<8>() {
                    Some(eight) if text.len() < 8 => {
                        u64::from_be_bytes(*eight) & !(u64::MAX >> (8 * text.len()))
                    }
                    Some(eight) => u64::from_be_bytes(*eight),
                    None => head(text.as_bytes()),
                };
                Some((Cow::Borrowed(text), head))
            }
            PlainString::Other(text) => {
                let head = head(text.as_bytes());
                Some((text, head))
            }
        }
    }

    /// A string behind its quote.
    #[inline(always)]
    fn string(&mut self) -> Option<PlainString<'t>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let end = find_special(bytes, start)?;
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return self.text.get(start..end).map(PlainString::Text);
        }
        let (text, after) = self.other_string(end)?;
        self.at = after;
        Some(PlainString::Other(text))
    }

    /// A string that has something special at an offset, and the offset behind its last quote.
    #[cold]
    fn other_string(self, special: usize) -> Option<(Cow<'t, str>, usize)> {
        let mut at = special;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at)? {
                b'"' => break,
                // What is escaped is a byte at least.
                b'\\' => at += 2,
                _ => return None,
            }
            at = find_special(bytes, at)?;
        }
        at += 1;
        match parse_other(self.text.get(self.at - 1..at)?)? {
            Value::String(text) => Some((text, at)),
            _ => None,
        }
    }

    /// A number behind its first byte.
    fn number(&mut self) -> Option<Value<'t>> {
        // As many digits are less than the largest number.
        const LONGEST: usize = 18;
        let start = self.at - 1;
        let bytes = self.text.as_bytes();
        let is_negative = bytes.get(start) == Some(&b'-');
        let first = start + usize::from(is_negative);
        let (mut at, mut number) = (first, 0_i64);
        let next = loop {
            let byte = bytes.get(at).copied().unwrap_or(b' ');
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break byte;
            }
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
            at += 1;
        };
        let count = at - first;
        let is_float = matches!(next, b'.' | b'e' | b'E');
        // A zero has no more digits, and one with a sign is a float.
        let is_plain = match bytes.get(first) {
            Some(b'0') => count == 1 && !is_negative,
            _ => (1..=LONGEST).contains(&count),
        };
        if !is_plain || is_float {
            return self.other_number(start);
        }
        self.at = at;
        Some(Value::Int(if is_negative { -number } else { number }))
    }

    /// A number that is none of the usual ones.
    #[cold]
    fn other_number(&mut self, start: usize) -> Option<Value<'t>> {
        let rest = self.text.get(start..)?;
        let end = rest.find(|of: char| !matches!(of, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let number = rest.get(..end.unwrap_or(rest.len()))?;
        self.at = start + number.len();
        parse_other(number)
    }
}

/// Reads the values of a text.
struct PlainReader<'t> {
    cursor: TextCursor<'t>,
    members: SpareLists<NamedValue<'t>>,
    elements: SpareLists<Value<'t>>,
}

/// Empty lists with space, in which the parts of objects and arrays are collected until their number is known: what is kept then has no
/// more space than it needs.
struct SpareLists<T>(Vec<Vec<T>>);

impl<T> SpareLists<T> {
    #[inline]
    fn take(&mut self) -> Vec<T> {
        self.0.pop().unwrap_or_else(|| Vec::with_capacity(5))
    }

    /// Moves what was collected into a list that has space for some more.
    #[inline]
    fn finish(&mut self, mut collected: Vec<T>, capacity: usize) -> Vec<T> {
        let mut list = Vec::with_capacity(capacity);
        list.append(&mut collected);
        self.0.push(collected);
        list
    }
}

impl<'t> PlainReader<'t> {
    /// A value behind its first byte, in so many others. Recursion has their bound.
    // Strings and objects are read where members and elements are collected: a function for both takes 2 % of `validate-pod` more.
    fn value(&mut self, first: u8, depth: usize) -> Option<Value<'t>> {
        match first {
            b'{' => self.object(depth).map(Value::Object),
            b'[' => self.array(depth).map(Value::Array),
            b'"' => self.cursor.string().map(PlainString::into_value),
            b't' => self.cursor.word("rue", Value::Bool(true)),
            b'f' => self.cursor.word("alse", Value::Bool(false)),
            b'n' => self.cursor.word("ull", Value::Null),
            b'-' | b'0'..=b'9' => self.cursor.number(),
            _ => None,
        }
    }

    #[inline(never)]
    fn object(&mut self, depth: usize) -> Option<Object<'t>> {
        let depth = Some(depth + 1).filter(|depth| *depth <= MAX_DEPTH)?;
        let mut members: Vec<NamedValue<'t>> = self.members.take();
        let mut is_sorted = true;
        let mut last_head = 0;
        let mut cursor = self.cursor;
        let mut token = cursor.token()?;
        while token != b'}' {
            if token != b'"' {
                return None;
            }
            let (key, head) = cursor.key()?;
            if head <= last_head
                && let Some((last, _)) = members.last()
            {
                is_sorted &= compare(last, &key) == Ordering::Less;
            }
            last_head = head;
            if cursor.token()? != b':' {
                return None;
            }
            match cursor.token()? {
                b'"' => members.push((key, cursor.string()?.into_value())),
                b'{' => {
                    self.cursor = cursor;
                    let object = self.object(depth)?;
                    members.push((key, Value::Object(object)));
                    cursor = self.cursor;
                }
                first => {
                    self.cursor = cursor;
                    let value = self.value(first, depth)?;
                    members.push((key, value));
                    cursor = self.cursor;
                }
            }
            token = cursor.token()?;
            match token {
                b'}' => {}
                // Behind a comma is another member.
                b',' => token = cursor.token().filter(|token| *token != b'}')?,
                _ => return None,
            }
        }
        self.cursor = cursor;
        if !is_sorted {
            members.sort_unstable_by(|one, other| compare(&one.0, &other.0));
            let mut neighbours = members.iter().zip(members.iter().skip(1));
            if neighbours.any(|(one, other)| one.0 == other.0) {
                return None;
            }
        }
        let count = members.len();
        let list = self.members.finish(members, capacity_to_set(count));
        Some(Object::from_sorted(list))
    }

    #[inline(never)]
    fn array(&mut self, depth: usize) -> Option<Vec<Value<'t>>> {
        let depth = Some(depth + 1).filter(|depth| *depth <= MAX_DEPTH)?;
        let mut elements: Vec<Value<'t>> = self.elements.take();
        let mut cursor = self.cursor;
        let mut token = cursor.token()?;
        while token != b']' {
            match token {
                b'"' => elements.push(cursor.string()?.into_value()),
                b'{' => {
                    self.cursor = cursor;
                    let object = self.object(depth)?;
                    elements.push(Value::Object(object));
                    cursor = self.cursor;
                }
                first => {
                    self.cursor = cursor;
                    let value = self.value(first, depth)?;
                    elements.push(value);
                    cursor = self.cursor;
                }
            }
            token = cursor.token()?;
            match token {
                b']' => {}
                // Behind a comma is another element.
                b',' => token = cursor.token().filter(|token| *token != b']')?,
                _ => return None,
            }
        }
        self.cursor = cursor;
        let count = elements.len();
        Some(self.elements.finish(elements, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTS: [&str; 4] = [
        r#"{"b":{"kind":"Pod","n":[1,-20,0,1.5,-0,1e3,999999999999999999,9223372036854775808],"é":"\u00e9\n\\"},"a":[{},[],null,true,false]}"#,
        "\t{ \"spec\" :\n{\"containers\":[ {\"name\":\"a\" , \"args\":[\"--x=1\",\"\\\"\"]}\r] } }",
        r#"[["one longer text","日本語","\ud83d\ude00"],{"z":1,"y":2,"x":{"w":"v"}}]"#,
        "-1",
    ];

    /// What is read here, the other parser reads as the same.
    #[track_caller]
    fn check(text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else {
            return false;
        };
        let plain = read_plain(text);
        if let Some(plain) = &plain {
            // Zeros of both signs are equal, but not written alike.
            let other = parse_other(text);
            assert_eq!(format!("{:?}", Some(plain)), format!("{other:?}"), "{text}");
        }
        plain.is_some()
    }

    #[test]
    fn documents_are_read_as_by_the_other_parser() {
        for text in DOCUMENTS {
            assert!(check(text.as_bytes()), "{text}");
        }
        let padded: String = (0..40)
            .map(|length| format!("\"{}\\t{}\",", "a".repeat(length), "b".repeat(40 - length)))
            .collect();
        assert!(check(format!("[{padded}1]").as_bytes()));
        for number in [
            "0",
            "-5",
            "00",
            "-",
            "--1",
            "1.",
            "1.5.2",
            "1e",
            "123456789012345678",
            "1234567890123456789",
            "1e999",
        ] {
            check(number.as_bytes());
        }
    }

    #[test]
    fn so_are_documents_with_a_change() {
        const BYTES: &[u8] = b"\"\\{}[]:, \n\x0c\x01019-+.eEtfnulx\x7f";
        let mut count = 0;
        for text in DOCUMENTS {
            for at in 0..text.len() {
                let (before, rest) = text.as_bytes().split_at(at);
                let (_, behind) = rest.split_at(1);
                for byte in BYTES {
                    count += usize::from(check(&[before, &[*byte], rest].concat()));
                    count += usize::from(check(&[before, &[*byte], behind].concat()));
                }
                count += usize::from(check(&[before, behind].concat()));
                check(before);
            }
        }
        assert!(count > 1_000, "{count}");
    }

    #[test]
    fn what_is_special_is_left_to_the_other_parser() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(check(deep(MAX_DEPTH).as_bytes()));
        assert!(!check(deep(MAX_DEPTH + 1).as_bytes()));
        for text in [
            r#"{"a":1,"b":2,"a":1}"#,
            r#"{"a":1,}"#,
            "[1,]",
            "",
            "1 2",
            "{\"a\":\"\x01\"}",
        ] {
            assert!(!check(text.as_bytes()), "{text}");
        }
    }
}
