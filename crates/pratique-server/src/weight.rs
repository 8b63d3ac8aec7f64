//! What a review takes in memory, by the look of its text.
//!
//! The sizes were measured as the most that the process grew by, for objects that consist of one thing: containers of
//! Pods without members (720 bytes each), labels, finalizers, lists of empty lists and of small objects in custom
//! resources, long texts; validated, mutated, and answered with a patch.

/// What a value takes once it was parsed, in bytes: an array's element, or a member with its key.
const PARSED: usize = 160;
/// What one takes in the form of a built-in kind besides, with what a mutation leaves and what an expression sees.
const TYPED: usize = 240;
/// What an empty object takes there besides: its kind's defaults become members.
const DEFAULTED: usize = 400;
/// How often a byte of text is there at most: parsed where it has escapes, in a changed object, in a patch, in base64, in
/// an answer.
const TEXT: usize = 6;
/// What an evaluation takes in any case.
const EVALUATION: usize = 128 << 10;
/// Texts above this are large without a look.
const SMALL_TEXT: usize = 64 << 10;
/// What small requests take at most.
const SMALL: usize = 4 << 20;
/// What is not looked at closely: what this is at most is reserved as it is.
const UNSEEN: usize = 1 << 20;

/// What there is in the text of a review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    bytes: usize,
    /// Elements and members, at least as many as there are.
    values: usize,
    /// `{}`, likewise.
    empty_objects: usize,
}

impl Weight {
    /// Of a text. If it is no JSON, it takes less.
    pub(crate) fn of(text: &[u8]) -> Self {
        // An upper bound, which is quick to have: most reviews are small.
        let bound = Weight::bound(text);
        match bound.evaluated(true) <= UNSEEN {
            true => bound,
            false => Weight::counted(text),
        }
    }

    /// Whether a review with this text is soon evaluated, and takes little for that. This is soon told.
    pub(crate) fn is_small(text: &[u8]) -> bool {
        text.len() <= SMALL_TEXT && Weight::bound(text).evaluated(true) <= SMALL
    }

    /// By what may be in strings as well.
    fn bound(text: &[u8]) -> Self {
        let values = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{'));
        let values = values.count();
        Weight {
            bytes: text.len(),
            values,
            empty_objects: values,
        }
    }

    /// What it takes to parse it, in bytes.
    pub(crate) fn parsed(self) -> usize {
        self.values.saturating_mul(PARSED).saturating_add(self.bytes)
    }

    /// What it takes to evaluate it as well, and to answer. Expressions account for what they make themselves.
    pub(crate) fn evaluated(self, is_built_in: bool) -> usize {
        let mut bytes = self.bytes.saturating_mul(TEXT).saturating_add(EVALUATION);
        let mut add = |count: usize, each: usize| bytes = bytes.saturating_add(count.saturating_mul(each));
        add(self.values, PARSED);
        if is_built_in {
            add(self.values, TYPED);
            add(self.empty_objects, DEFAULTED);
        }
        bytes
    }

    /// By what is outside of strings: each value but the first of its container has a comma before it.
    fn counted(text: &[u8]) -> Self {
        let mut weight = Weight {
            bytes: text.len(),
            ..Weight::default()
        };
        let mut bytes = text.iter().peekable();
        while let Some(byte) = bytes.next() {
            match (byte, bytes.peek()) {
                (b'"', _) => skip_string(&mut bytes),
                (b'{', Some(b'}')) => weight.empty_objects += 1,
                (b'[', Some(b']')) => {}
                (b',' | b'{' | b'[', _) => weight.values += 1,
                _ => {}
            }
        }
        weight
    }
}

fn skip_string<'t>(bytes: &mut impl Iterator<Item = &'t u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        let check = |text: &str, values: usize, empty_objects: usize| {
            let weight = Weight::counted(text.as_bytes());
            assert_eq!(
                (weight.values, weight.empty_objects),
                (values, empty_objects),
                "{text}"
            );
        };
        check("", 0, 0);
        check("1", 0, 0);
        check("[]", 0, 0);
        check("[[],[],[]]", 3, 0);
        check(r#"{"a":[1,2,3],"b":{}}"#, 5, 1);
        check(r#"["[[[,,,{{{", "\"[,", "\\", []]"#, 4, 0);
        check(r#"["[,[,"#, 1, 0);
        check(r#"["\"#, 1, 0);
    }

    #[test]
    fn long_texts_are_not_taken_for_values() {
        let list = format!("[{}{{}}]", "{},".repeat(100_000));
        let weight = Weight::of(list.as_bytes());
        assert!(weight.parsed() >= 100_000 * PARSED);
        assert!(weight.evaluated(false) >= 100_000 * PARSED);
        assert!(weight.evaluated(true) >= 100_000 * 720);
        let text = format!("[\"{}\"]", "{},".repeat(100_000));
        let weight = Weight::of(text.as_bytes());
        assert!(weight.evaluated(true) <= text.len() * TEXT + 1000 + EVALUATION);
        assert!(!Weight::is_small(list.as_bytes()) && !Weight::is_small(&[b' '; SMALL_TEXT + 1]));
    }
}
