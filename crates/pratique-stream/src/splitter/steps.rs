//! The steps through documents.

use std::io::Read;

use super::{SplitState, SplitStep, Splitter};
use crate::json::{JsonScan, StopReason, skip_blanks};
use crate::piece::JsonSpan;
use crate::yaml::{is_plain_separator, is_separator};

impl<R: Read> Splitter<R> {
    /// One step through what is in the buffer.
    pub(super) fn step(&mut self) -> SplitStep {
        match self.state {
            SplitState::Start => self.start(),
            SplitState::Json(scan) => self.json(scan),
            SplitState::Ended => self.ended(),
            SplitState::Junk => self.junk(),
            SplitState::Yaml => self.yaml(),
            SplitState::JsonItems(scan) => self.json_items(scan),
            SplitState::YamlItems(indent) => self.yaml_items(indent),
            SplitState::JsonTail(scan) => self.json_tail(scan),
            SplitState::YamlTail => self.yaml_tail(),
        }
    }

    /// The line that begins at an offset, with its end; `None` if it is not read to its end.
    pub(super) fn line(&self, at: usize) -> Option<&[u8]> {
        let rest = self.buffer.get(at..).filter(|rest| !rest.is_empty())?;
        match memchr::memchr(b'\n', rest) {
            Some(end) => rest.get(..=end),
            None => Some(rest).filter(|_| self.is_at_end),
        }
    }

    fn start(&mut self) -> SplitStep {
        let Some(first) = skip_blanks(&self.buffer, self.at) else {
            self.at = self.buffer.len();
            return SplitStep::More;
        };
        if self.buffer.get(first) == Some(&b'{') {
            (self.at, self.value) = (first, first..first);
            self.state = SplitState::Json(JsonScan::default());
            return SplitStep::On;
        }
        let begins_line = first == 0 || self.buffer.get(first - 1) == Some(&b'\n');
        if begins_line && (self.is_after_value || first > self.document) {
            let Some(line) = self.line(first) else {
                return SplitStep::More;
            };
            if is_separator(line) {
                let end = first + line.len();
                self.separator(end, is_plain_separator(line));
                return SplitStep::On;
            }
        }
        self.at = self.document;
        self.state = SplitState::Yaml;
        SplitStep::On
    }

    /// A separator after which no document has begun.
    fn separator(&mut self, end: usize, is_plain: bool) {
        if self.complete == 0 && is_plain {
            let rest = self.buffer.split_off(end);
            let text = std::mem::replace(&mut self.buffer, rest);
            self.place = self.place.after(&text);
            self.begin(0, false);
            return;
        }
        self.is_json &= is_plain;
        self.complete = end;
        self.begin(end, false);
    }

    fn json(&mut self, scan: JsonScan) -> SplitStep {
        let mut scan = scan;
        match scan.run(&self.buffer, self.at) {
            StopReason::End(end) => {
                (self.at, self.value.end) = (end, end);
                self.state = SplitState::Ended;
            }
            StopReason::Text => {
                self.at = self.buffer.len();
                self.state = SplitState::Json(scan);
                return SplitStep::More;
            }
            StopReason::Line(next) => {
                self.state = SplitState::Json(scan);
                let Some(is_separated) = self.is_separated(next) else {
                    return SplitStep::More;
                };
                self.at = next;
                if is_separated {
                    // The separator ends the document as it would end YAML.
                    self.state = SplitState::Yaml;
                } else if self.buffer.get(next) == Some(&b'{') && self.suspect.is_none() {
                    self.suspect = Some(next);
                }
            }
        }
        SplitStep::On
    }

    /// Whether the line at an offset is a separator; `None` if too little of it was read. The scan then goes on at the line
    /// break before.
    pub(super) fn is_separated(&mut self, at: usize) -> Option<bool> {
        let rest = self.buffer.get(at..).unwrap_or_default();
        if rest.len() < 3 && !self.is_at_end {
            self.at = at - 1;
            return None;
        }
        Some(is_separator(rest))
    }

    /// After a JSON value: the document ends with the line, or where another value begins.
    fn ended(&mut self) -> SplitStep {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let position = rest
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
            .and_then(|blanks| Some((self.at + blanks, rest.get(blanks)?)));
        let end = match position {
            None if self.is_at_end => self.buffer.len(),
            None => {
                self.at = self.buffer.len();
                return SplitStep::More;
            }
            Some((at, b'\n')) => at + 1,
            Some((at, b'{')) => at,
            Some(_) => {
                self.state = SplitState::Junk;
                return SplitStep::On;
            }
        };
        let value = JsonSpan {
            range: self.value.clone(),
        };
        self.complete_document(end, Some(value), true)
    }

    /// Text after a JSON value goes on up to a line that may begin a value.
    fn junk(&mut self) -> SplitStep {
        let Some(end) = self.line(self.at).map(|line| self.at + line.len()) else {
            return SplitStep::More;
        };
        match self.is_separated(end) {
            None => return SplitStep::More,
            Some(true) => {
                self.at = end;
                self.state = SplitState::Yaml;
            }
            Some(false) if self.buffer.get(end) == Some(&b'{') => {
                return self.complete_document(end, None, true);
            }
            Some(false) => self.at = end,
        }
        SplitStep::On
    }

    fn yaml(&mut self) -> SplitStep {
        loop {
            let Some(line) = self.line(self.at) else {
                return SplitStep::More;
            };
            let end = self.at + line.len();
            if is_separator(line) && self.at > self.document {
                return self.complete_document(end, None, false);
            }
            self.at = end;
        }
    }

    /// Completes what the stream ends with; `None` if there is nothing left.
    pub(super) fn finish(&mut self) -> Option<SplitStep> {
        let end = self.buffer.len();
        match self.state {
            SplitState::Start => None,
            SplitState::Json(_) | SplitState::Ended | SplitState::Junk | SplitState::Yaml => {
                Some(self.complete_document(end, None, false))
            }
            SplitState::JsonItems(_)
            | SplitState::YamlItems(_)
            | SplitState::JsonTail(_)
            | SplitState::YamlTail => Some(self.finish_list()),
        }
    }
}
