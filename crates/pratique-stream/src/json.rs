//! Finds where JSON values end, without parsing them.

/// What a byte outside of strings means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Quote,
    Open,
    Close,
    Newline,
}

#[allow(clippy::indexing_slicing, reason = "the compiler evaluates it")]
const fn classes() -> [Class; 256] {
    let mut classes = [Class::Other; 256];
    classes[b'"' as usize] = Class::Quote;
    classes[b'{' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b'}' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes[b'\n' as usize] = Class::Newline;
    classes
}

static CLASSES: [Class; 256] = classes();

/// The state of a scan through a JSON value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JsonScan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

/// Why a scan stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The value ends before this offset.
    End(usize),
    /// A line ends before this offset, within the value.
    Line(usize),
    /// The text ends.
    Text,
}

impl JsonScan {
    /// A scan that begins within some lists or objects.
    pub(crate) fn within(depth: usize) -> Self {
        JsonScan {
            depth,
            ..JsonScan::default()
        }
    }

    /// Scans a text from an offset on. A line break ends a string: in JSON there is none in strings.
    pub(crate) fn run(&mut self, text: &[u8], from: usize) -> Stop {
        let mut at = from;
        loop {
            if self.in_string {
                let Some(next) = self.string(text, at) else {
                    return Stop::Text;
                };
                at = next;
            }
            let rest = text.get(at..).unwrap_or_default();
            let class = |byte: &u8| CLASSES.get(usize::from(*byte)).copied().unwrap_or(Class::Other);
            let Some(found) = rest.iter().position(|byte| class(byte) != Class::Other) else {
                return Stop::Text;
            };
            at += found + 1;
            match rest.get(found).map_or(Class::Other, class) {
                Class::Quote => self.in_string = true,
                Class::Open => self.depth += 1,
                Class::Close => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Stop::End(at);
                    }
                }
                Class::Newline => return Stop::Line(at),
                Class::Other => {}
            }
        }
    }

    /// The offset after the string that goes on at one; `None` if it does not end in the text.
    fn string(&mut self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from + usize::from(std::mem::take(&mut self.is_escaped));
        loop {
            let found = memchr::memchr3(b'"', b'\\', b'\n', text.get(at..)?)?;
            at += found;
            match text.get(at) {
                Some(b'\\') => {
                    at += 2;
                    self.is_escaped = at > text.len();
                }
                // What is in the text is left to the scan.
                Some(b'\n') => {
                    self.in_string = false;
                    return Some(at);
                }
                _ => {
                    self.in_string = false;
                    return Some(at + 1);
                }
            }
        }
    }
}

/// The offset of the next byte that is not blank.
pub(crate) fn skip_blanks(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = rest
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
    Some(from + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, end: Option<usize>) {
        for cut in 0..=text.len() {
            let mut scan = JsonScan::default();
            let mut found = None;
            let mut at = 0;
            for length in [cut, text.len()] {
                let part = &text.as_bytes()[..length];
                found = loop {
                    match scan.run(part, at) {
                        Stop::End(end) => break Some(end),
                        Stop::Line(next) => at = next,
                        Stop::Text => break None,
                    }
                };
                at = length;
                if found.is_some() {
                    break;
                }
            }
            assert_eq!(found, end, "{text} cut at {cut}");
        }
    }

    #[test]
    fn values_end_where_they_close() {
        check("{} {}", Some(2));
        check(r#"{"a": [1, {"b": "}"}], "c:": 1} x"#, Some(31));
        check(r#"{"a\"}": "\\"}x"#, Some(14));
        check("{\"a\": [", None);
        check("{\"a\n\": 1}", None);
        check("{\"a\n: 1}", Some(8));
    }
}
