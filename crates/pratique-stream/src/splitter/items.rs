//! The steps through lists that are given in pieces.

use std::io::Read;

use super::{OpenList, Splitter, State, Step};
use crate::json::{JsonScan, Stop, skip_blanks};
use crate::piece::{Form, Piece, Value};
use crate::yaml::{begins_item, indentation, is_separator};

impl<R: Read> Splitter<R> {
    pub(super) fn json_items(&mut self, scan: Option<JsonScan>) -> Step {
        match scan {
            Some(scan) => self.json_item(scan),
            None => self.between_items(),
        }
    }

    fn between_items(&mut self) -> Step {
        let Some(at) = skip_blanks(&self.buffer, self.at) else {
            self.at = self.buffer.len();
            return Step::More;
        };
        self.at = at;
        match self.buffer.get_mut(at) {
            Some(comma @ b',') => {
                *comma = b' ';
                self.at += 1;
                Step::On
            }
            Some(b'{') => {
                self.value.start = at;
                self.state = State::JsonItems(Some(JsonScan::default()));
                Step::On
            }
            Some(b']') => self.end_items(State::JsonTail(JsonScan::within(2))),
            _ => self.scalar_item(),
        }
    }

    /// What is no object goes on up to a comma, the end of the list, or a separator.
    fn scalar_item(&mut self) -> Step {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let begins_line = self.at == 0 || self.buffer.get(self.at - 1) == Some(&b'\n');
        if begins_line && is_separator(rest) {
            return self.end_items(State::YamlTail);
        }
        let end = rest
            .iter()
            .skip(1)
            .position(|byte| matches!(byte, b',' | b']' | b'\n'));
        match end {
            Some(length) => self.complete_item(self.at + 1 + length, None, State::JsonItems(None)),
            None => Step::More,
        }
    }

    fn json_item(&mut self, scan: JsonScan) -> Step {
        let mut scan = scan;
        match scan.run(&self.buffer, self.at) {
            Stop::End(end) => {
                let value = Value {
                    range: self.value.start..end,
                };
                self.complete_item(end, Some(value), State::JsonItems(None))
            }
            Stop::Text => {
                self.at = self.buffer.len();
                self.state = State::JsonItems(Some(scan));
                Step::More
            }
            Stop::Line(next) => {
                self.state = State::JsonItems(Some(scan));
                match self.is_separated(next) {
                    None => Step::More,
                    Some(false) => {
                        self.at = next;
                        Step::On
                    }
                    Some(true) => {
                        self.at = next;
                        self.is_json = false;
                        self.end_items(State::YamlTail)
                    }
                }
            }
        }
    }

    pub(super) fn yaml_items(&mut self, indent: usize) -> Step {
        loop {
            let Some(line) = self.line(self.at) else {
                return Step::More;
            };
            let end = self.at + line.len();
            match indentation(line) {
                Some(found) if found <= indent => {
                    if is_separator(line) || !begins_item(line, indent) {
                        return self.end_items(State::YamlTail);
                    }
                    if self.at > self.complete {
                        let step = self.complete_item(self.at, None, State::YamlItems(indent));
                        if !matches!(step, Step::On) {
                            return step;
                        }
                    }
                }
                _ => {}
            }
            self.at = end;
        }
    }

    /// Gives the last items, and then goes on after them.
    fn end_items(&mut self, state: State) -> Step {
        self.state = state;
        if self.at == 0 {
            return Step::On;
        }
        // Items of JSON are complete; of YAML, the last one ends here.
        self.count += usize::from(matches!(self.state, State::YamlTail));
        Step::Give(self.take(self.at))
    }

    pub(super) fn json_tail(&mut self, scan: JsonScan) -> Step {
        let mut scan = scan;
        match scan.run(&self.buffer, self.at) {
            Stop::End(end) => self.end_list(end, true),
            Stop::Text => {
                self.at = self.buffer.len();
                self.state = State::JsonTail(scan);
                Step::More
            }
            Stop::Line(next) => {
                self.state = State::JsonTail(scan);
                match self.is_separated(next) {
                    None => return Step::More,
                    Some(true) => self.state = State::YamlTail,
                    Some(false) => {}
                }
                self.at = next;
                Step::On
            }
        }
    }

    pub(super) fn yaml_tail(&mut self) -> Step {
        loop {
            let Some(line) = self.line(self.at) else {
                return Step::More;
            };
            let end = self.at + line.len();
            if is_separator(line) {
                let step = self.end_list(self.at, false);
                // The separator is the first line of what is left.
                self.begin(0, true);
                return step;
            }
            self.at = end;
        }
    }

    /// Gives the list without its items.
    fn end_list(&mut self, end: usize, is_after_value: bool) -> Step {
        let Some(OpenList {
            header,
            mut text,
            start,
        }) = self.list.take()
        else {
            self.begin(end, is_after_value);
            return Step::On;
        };
        let rest = self.buffer.split_off(end);
        let tail = std::mem::replace(&mut self.buffer, rest);
        self.place = self.place.after(&tail);
        text.extend_from_slice(&tail);
        self.begin(0, is_after_value);
        Step::Give(Piece {
            text,
            start,
            number: self.number,
            form: Form::ListEnd(header),
            values: Vec::new(),
        })
    }

    /// Completes a list that the stream ends with.
    pub(super) fn finish_list(&mut self) -> Step {
        let end = self.buffer.len();
        match self.state {
            State::JsonItems(_) | State::YamlItems(_) if end > 0 => {
                self.is_json = false;
                match self.complete_item(end, None, self.state) {
                    Step::On => Step::Give(self.take(end)),
                    step => step,
                }
            }
            _ => self.end_list(end, false),
        }
    }
}
