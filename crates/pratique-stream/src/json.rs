//! Finds where JSON values end, without parsing them.

/// What a byte means. Those that mean something in strings come last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ByteClass {
    Other,
    Open,
    Close,
    Quote,
    Escape,
    Newline,
}

#[allow(clippy::indexing_slicing, reason = "the compiler evaluates it")]
const fn classes() -> [ByteClass; 256] {
    let mut classes = [ByteClass::Other; 256];
    classes[b'{' as usize] = ByteClass::Open;
    classes[b'[' as usize] = ByteClass::Open;
    classes[b'}' as usize] = ByteClass::Close;
    classes[b']' as usize] = ByteClass::Close;
    classes[b'"' as usize] = ByteClass::Quote;
    classes[b'\\' as usize] = ByteClass::Escape;
    classes[b'\n' as usize] = ByteClass::Newline;
    classes
}

static CLASSES: [ByteClass; 256] = classes();

fn class(byte: u8) -> ByteClass {
    CLASSES
        .get(usize::from(byte))
        .copied()
        .unwrap_or(ByteClass::Other)
}

/// The state of a scan through a JSON value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JsonScan {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

/// Why a scan stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
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
    // Byte by byte: most strings are shorter than what it takes to begin a search.
    pub(crate) fn run(&mut self, text: &[u8], from: usize) -> StopReason {
        let rest = text.get(from..).unwrap_or_default();
        let mut bytes = rest.iter().map(|byte| class(*byte)).zip(from + 1..);
        if self.is_escaped && bytes.next().is_some() {
            self.is_escaped = false;
        }
        loop {
            let least = if self.in_string {
                ByteClass::Quote
            } else {
                ByteClass::Open
            };
            let Some((class, after)) = bytes.find(|(class, _)| *class >= least) else {
                return StopReason::Text;
            };
            match class {
                ByteClass::Quote => self.in_string = !self.in_string,
                ByteClass::Escape if self.in_string => self.is_escaped = bytes.next().is_none(),
                ByteClass::Open => self.depth += 1,
                ByteClass::Close => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return StopReason::End(after);
                    }
                }
                ByteClass::Newline => {
                    self.in_string = false;
                    return StopReason::Line(after);
                }
                ByteClass::Escape | ByteClass::Other => {}
            }
        }
    }
}

/// The offset of the next byte that is not blank.
pub(crate) fn skip_blanks(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let blanks = rest
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
    Some(from + blanks)
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
                        StopReason::End(end) => break Some(end),
                        StopReason::Line(next) => at = next,
                        StopReason::Text => break None,
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
