//! The steps through documents.

use std::io::Read;

use super::{Splitter, State, Step};
use crate::json::{JsonScan, Stop, skip_blanks};
use crate::piece::Value;
use crate::yaml::{is_plain_separator, is_separator};

impl<R: Read> Splitter<R> {
    /// One step through what is in the buffer.
    pub(super) fn step(&mut self) -> Step {
        match self.state {
            State::Start => self.start(),
            State::Json(scan) => self.json(scan),
            State::Ended => self.ended(),
            State::Junk => self.junk(),
            State::Yaml => self.yaml(),
            State::JsonItems(scan) => self.json_items(scan),
            State::YamlItems(indent) => self.yaml_items(indent),
            State::JsonTail(scan) => self.json_tail(scan),
            State::YamlTail => self.yaml_tail(),
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

    fn start(&mut self) -> Step {
        let Some(first) = skip_blanks(&self.buffer, self.at) else {
            self.at = self.buffer.len();
            return Step::More;
        };
        if self.buffer.get(first) == Some(&b'{') {
            (self.at, self.value) = (first, first..first);
            self.state = State::Json(JsonScan::default());
            return Step::On;
        }
        let begins_line = first == 0 || self.buffer.get(first - 1) == Some(&b'\n');
        if begins_line && (self.is_after_value || first > self.document) {
            let Some(line) = self.line(first) else {
                return Step::More;
            };
            if is_separator(line) {
                let end = first + line.len();
                self.separator(end, is_plain_separator(line));
                return Step::On;
            }
        }
        self.at = self.document;
        self.state = State::Yaml;
        Step::On
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

    fn json(&mut self, scan: JsonScan) -> Step {
        let mut scan = scan;
        match scan.run(&self.buffer, self.at) {
            Stop::End(end) => {
                (self.at, self.value.end) = (end, end);
                self.state = State::Ended;
            }
            Stop::Text => {
                self.at = self.buffer.len();
                self.state = State::Json(scan);
                return Step::More;
            }
            Stop::Line(next) => {
                self.state = State::Json(scan);
                let Some(is_separated) = self.is_separated(next) else {
                    return Step::More;
                };
                self.at = next;
                if is_separated {
                    // The separator ends the document as it would end YAML.
                    self.state = State::Yaml;
                } else if self.buffer.get(next) == Some(&b'{') && self.suspect.is_none() {
                    self.suspect = Some(next);
                }
            }
        }
        Step::On
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
    fn ended(&mut self) -> Step {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let found = rest
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
            .and_then(|blanks| Some((self.at + blanks, rest.get(blanks)?)));
        let end = match found {
            None if self.is_at_end => self.buffer.len(),
            None => {
                self.at = self.buffer.len();
                return Step::More;
            }
            Some((at, b'\n')) => at + 1,
            Some((at, b'{')) => at,
            Some(_) => {
                self.state = State::Junk;
                return Step::On;
            }
        };
        let value = Value {
            range: self.value.clone(),
        };
        self.complete_document(end, Some(value), true)
    }

    /// Text after a JSON value goes on up to a line that may begin a value.
    fn junk(&mut self) -> Step {
        let Some(end) = self.line(self.at).map(|line| self.at + line.len()) else {
            return Step::More;
        };
        match self.is_separated(end) {
            None => return Step::More,
            Some(true) => {
                self.at = end;
                self.state = State::Yaml;
            }
            Some(false) if self.buffer.get(end) == Some(&b'{') => {
                return self.complete_document(end, None, true);
            }
            Some(false) => self.at = end,
        }
        Step::On
    }

    fn yaml(&mut self) -> Step {
        loop {
            let Some(line) = self.line(self.at) else {
                return Step::More;
            };
            let end = self.at + line.len();
            if is_separator(line) && self.at > self.document {
                return self.complete_document(end, None, false);
            }
            self.at = end;
        }
    }

    /// Completes what the stream ends with; `None` if there is nothing left.
    pub(super) fn finish(&mut self) -> Option<Step> {
        let end = self.buffer.len();
        match self.state {
            State::Start => None,
            State::Json(_) | State::Ended | State::Junk | State::Yaml => {
                Some(self.complete_document(end, None, false))
            }
            State::JsonItems(_) | State::YamlItems(_) | State::JsonTail(_) | State::YamlTail => {
                Some(self.finish_list())
            }
        }
    }
}
