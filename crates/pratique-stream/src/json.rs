//! Finds where JSON values end, without parsing them.

use pratique_json::find_special;

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
    pub(crate) fn run(&mut self, text: &[u8], from: usize) -> StopReason {
        // A copy stays in registers.
        let mut scan = *self;
        let reason = scan.advance(text, from);
        *self = scan;
        reason
    }

    #[inline(always)]
    fn advance(&mut self, text: &[u8], from: usize) -> StopReason {
        let mut at = from;
        if self.is_escaped && at < text.len() {
            (self.is_escaped, at) = (false, at + 1);
        }
        // Strings and what is between them take turns.
        loop {
            if self.in_string {
                match self.end_string(text, at) {
                    Ok(end) => at = end,
                    Err(reason) => return reason,
                }
            }
            match self.find_string(text, at) {
                Ok(start) => at = start,
                Err(reason) => return reason,
            }
        }
    }

    /// The offset behind the quote of the next string.
    #[inline(always)]
    fn find_string(&mut self, text: &[u8], from: usize) -> Result<usize, StopReason> {
        let mut at = from;
        loop {
            let byte = text.get(at).ok_or(StopReason::Text)?;
            at += 1;
            match byte {
                b'"' => {
                    self.in_string = true;
                    return Ok(at);
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Err(StopReason::End(at));
                    }
                }
                b'\n' => return Err(StopReason::Line(at)),
                _ => {}
            }
        }
    }

    /// The offset behind a string, in which the scan is, and behind those that follow it at once.
    #[inline(always)]
    fn end_string(&mut self, text: &[u8], from: usize) -> Result<usize, StopReason> {
        let mut at = from;
        loop {
            let special = find_special(text, at).ok_or(StopReason::Text)?;
            at = special + 1;
            if text.get(special) == Some(&b'"') {
                // Most strings are followed by another one.
                if let Some([b':' | b',', b'"', ..]) = text.get(at..) {
                    at += 2;
                    continue;
                }
                self.in_string = false;
                return Ok(at);
            }
            match text.get(special) {
                Some(b'\\') => {
                    self.is_escaped = at >= text.len();
                    at += 1;
                }
                Some(b'\n') => {
                    self.in_string = false;
                    return Err(StopReason::Line(at));
                }
                // No JSON, which is told where it is read.
                _ => {}
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
        check(r#"{"a":"b","long enough":"c\\\"d,","":"","}":[]}x"#, Some(46));
        check("{\"a\u{1}long enough\": \"\u{1}}\"}x", Some(23));
        check("{\"a\": [", None);
        check("{\"a\n\": 1}", None);
        check("{\"a\n: 1}", Some(8));
    }
}
