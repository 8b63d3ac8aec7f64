//! From text to value, as most documents are written.
//!
//! Nothing is reported here: what is wrong, or written as few write it, is left to the parser that words errors.
// Rows `validate-*` of `benches/`: reading is a third of the work on an object, and a parser that hands each token to a visitor executes a
// quarter more instructions for it.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::object::{NamedValue, compare};
use crate::parse::{MAX_DEPTH, parse_other};
use crate::{Object, Value};

/// Reads a document whose objects have each of their members once; `None` of any other, and of what is no JSON.
pub(crate) fn read_plain(text: &str) -> Option<Value<'_>> {
    let mut reader = PlainReader {
        text,
        at: 0,
        members: Vec::new(),
        elements: Vec::new(),
    };
    let value = reader.value(0)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(value)
}

/// For how many members more than it has an object has space, so that setting some does not move it: defaults of a container or a
/// probe are as many.
const SPARE: usize = 4;

/// A text, and how far it was read.
struct PlainReader<'t> {
    text: &'t str,
    at: usize,
    /// The members of all objects that did not end yet. Once one ends, its own become a list.
    members: Vec<NamedValue<'t>>,
    /// The same of arrays.
    elements: Vec<Value<'t>>,
}

impl<'t> PlainReader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The next byte that is no space.
    #[inline]
    fn token(&mut self) -> Option<u8> {
        let mut byte = self.peek()?;
        if byte <= b' ' {
            self.skip_space();
            byte = self.peek()?;
        }
        self.at += 1;
        Some(byte)
    }

    /// A value in so many others. Recursion has their bound.
    fn value(&mut self, depth: usize) -> Option<Value<'t>> {
        let byte = self.token()?;
        match byte {
            b'"' => self.string().map(Value::String),
            b'{' if depth < MAX_DEPTH => self.object(depth + 1),
            b'[' if depth < MAX_DEPTH => self.array(depth + 1),
            b't' => self.word("rue", Value::Bool(true)),
            b'f' => self.word("alse", Value::Bool(false)),
            b'n' => self.word("ull", Value::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, rest: &str, value: Value<'t>) -> Option<Value<'t>> {
        let is_there = self.text.as_bytes().get(self.at..)?.starts_with(rest.as_bytes());
        self.at += rest.len();
        is_there.then_some(value)
    }

    fn object(&mut self, depth: usize) -> Option<Value<'t>> {
        let start = self.members.len();
        let mut is_sorted = true;
        let mut token = self.token()?;
        while token != b'}' {
            if token != b'"' {
                return None;
            }
            let key = self.string()?;
            if self.token()? != b':' {
                return None;
            }
            let value = self.value(depth)?;
            let last = self.members.get(start..)?.last();
            is_sorted &= last.is_none_or(|(last, _)| compare(last, &key) == Ordering::Less);
            self.members.push((key, value));
            token = self.token()?;
            match token {
                b'}' => {}
                // Behind a comma is another member.
                b',' => token = self.token().filter(|token| *token != b'}')?,
                _ => return None,
            }
        }
        let members = self.members.get_mut(start..)?;
        if !is_sorted {
            members.sort_unstable_by(|one, other| compare(&one.0, &other.0));
            let mut neighbours = members.iter().zip(members.iter().skip(1));
            if neighbours.any(|(one, other)| one.0 == other.0) {
                return None;
            }
        }
        let count = members.len();
        let mut list = Vec::with_capacity(count + SPARE.min(3 * count));
        list.extend(self.members.drain(start..));
        Some(Value::Object(Object::from_sorted(list)))
    }

    fn array(&mut self, depth: usize) -> Option<Value<'t>> {
        let start = self.elements.len();
        if self.token()? != b']' {
            self.at -= 1;
            loop {
                let element = self.value(depth)?;
                self.elements.push(element);
                match self.token()? {
                    b',' => {}
                    b']' => break,
                    _ => return None,
                }
            }
        }
        Some(Value::Array(self.elements.drain(start..).collect()))
    }

    /// A string behind its quote.
    fn string(&mut self) -> Option<Cow<'t, str>> {
        let start = self.at;
        self.skip_plain()?;
        if self.peek()? == b'"' {
            let text = self.text.get(start..self.at)?;
            self.at += 1;
            return Some(Cow::Borrowed(text));
        }
        loop {
            match self.peek()? {
                b'"' => break,
                // What is escaped is a byte at least.
                b'\\' => self.at += 2,
                _ => return None,
            }
            self.skip_plain()?;
        }
        self.at += 1;
        match parse_other(self.text.get(start - 1..self.at)?)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Skips what stands for itself in a string, eight bytes at a time.
    #[inline]
    fn skip_plain(&mut self) -> Option<()> {
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            let Some(eight) = rest.first_chunk::<8>() else {
                self.at += rest.iter().position(|byte| is_special(*byte))?;
                return Some(());
            };
            let marks = mark_special(u64::from_le_bytes(*eight));
            if marks != 0 {
                self.at += marks.trailing_zeros() as usize / 8;
                return Some(());
            }
            self.at += 8;
        }
    }

    /// A number behind its first byte.
    fn number(&mut self) -> Option<Value<'t>> {
        const LONGEST: usize = 18;
        let start = self.at - 1;
        let bytes = self.text.as_bytes().get(start..)?;
        let is_negative = bytes.first() == Some(&b'-');
        let digits = bytes.get(usize::from(is_negative)..)?;
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = digits.get(..count)?;
        let end = start + usize::from(is_negative) + count;
        let is_float = matches!(self.text.as_bytes().get(end), Some(b'.' | b'e' | b'E'));
        // A zero has no more digits, and one with a sign is a float.
        let is_plain = match digits.first() {
            Some(b'0') => count == 1 && !is_negative,
            Some(_) => count <= LONGEST,
            None => false,
        };
        if !is_plain || is_float {
            return self.other_number(start);
        }
        self.at = end;
        let number = digits
            .iter()
            .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
        Some(Value::Int(if is_negative { -number } else { number }))
    }

    /// A number that is none of the usual ones.
    fn other_number(&mut self, start: usize) -> Option<Value<'t>> {
        let rest = self.text.get(start..)?;
        let end = rest.find(|of: char| !matches!(of, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let number = rest.get(..end.unwrap_or(rest.len()))?;
        self.at = start + number.len();
        parse_other(number)
    }
}

/// Whether a byte ends what stands for itself in a string.
fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The high bit of each byte that is [special](is_special()); those above the lowest such byte may be marked besides.
#[inline]
fn mark_special(bytes: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // A byte below a bound borrows the high bit, which it did not have.
    let below = |bytes: u64, bound: u8| bytes.wrapping_sub(ONES * u64::from(bound)) & !bytes & HIGH;
    let is = |byte: u8| below(bytes ^ (ONES * u64::from(byte)), 1);
    below(bytes, b' ') | is(b'"') | is(b'\\')
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
