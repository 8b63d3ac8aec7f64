//! The steps through lists that are given in pieces.

use std::io::Read;

use super::{OpenList, SplitState, SplitStep, Splitter};
use crate::json::{JsonScan, StopReason, skip_blanks};
use crate::piece::{JsonSpan, Piece, PieceForm};
use crate::yaml::{begins_item, indentation, is_separator};

impl<R: Read> Splitter<R> {
    pub(super) fn json_items(&mut self, scan: Option<JsonScan>) -> SplitStep {
        match scan {
            Some(scan) => self.json_item(scan),
            None => self.between_items(),
        }
    }

    fn between_items(&mut self) -> SplitStep {
        let Some(at) = skip_blanks(&self.buffer, self.at) else {
            self.at = self.buffer.len();
            return SplitStep::More;
        };
        self.at = at;
        match self.buffer.get_mut(at) {
            Some(comma @ b',') => {
                *comma = b' ';
                self.at += 1;
                SplitStep::On
            }
            Some(b'{') => {
                self.value.start = at;
                self.state = SplitState::JsonItems(Some(JsonScan::default()));
                SplitStep::On
            }
            Some(b']') => self.end_items(SplitState::JsonTail(JsonScan::within(2))),
            _ => self.scalar_item(),
        }
    }

    /// What is no object goes on up to a comma, the end of the list, or a separator.
    fn scalar_item(&mut self) -> SplitStep {
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        let begins_line = self.at == 0 || self.buffer.get(self.at - 1) == Some(&b'\n');
        if begins_line && is_separator(rest) {
            return self.end_items(SplitState::YamlTail);
        }
        let end = rest
            .iter()
            .skip(1)
            .position(|byte| matches!(byte, b',' | b']' | b'\n'));
        match end {
            Some(length) => self.complete_item(self.at + 1 + length, None, SplitState::JsonItems(None)),
            None => SplitStep::More,
        }
    }

    fn json_item(&mut self, scan: JsonScan) -> SplitStep {
        let mut scan = scan;
        match scan.run(&self.buffer, self.at) {
            StopReason::End(end) => {
                let value = JsonSpan {
                    range: self.value.start..end,
                };
                self.complete_item(end, Some(value), SplitState::JsonItems(None))
            }
            StopReason::Text => {
                self.at = self.buffer.len();
                self.state = SplitState::JsonItems(Some(scan));
                SplitStep::More
            }
            StopReason::Line(next) => {
                self.state = SplitState::JsonItems(Some(scan));
                match self.is_separated(next) {
                    None => SplitStep::More,
                    Some(false) => {
                        self.at = next;
                        SplitStep::On
                    }
                    Some(true) => {
                        self.at = next;
                        self.is_json = false;
                        self.end_items(SplitState::YamlTail)
                    }
                }
            }
        }
    }

    pub(super) fn yaml_items(&mut self, indent: usize) -> SplitStep {
        loop {
            let Some(line) = self.line(self.at) else {
                return SplitStep::More;
            };
            let end = self.at + line.len();
            match indentation(line) {
                Some(line_indent) if line_indent <= indent => {
                    if is_separator(line) || !begins_item(line, indent) {
                        return self.end_items(SplitState::YamlTail);
                    }
                    if self.at > self.complete {
                        let step = self.complete_item(self.at, None, SplitState::YamlItems(indent));
                        if !matches!(step, SplitStep::On) {
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
    fn end_items(&mut self, state: SplitState) -> SplitStep {
        self.state = state;
        if self.at == 0 {
            return SplitStep::On;
        }
        // Items of JSON are complete; of YAML, the last one ends here.
        self.count += usize::from(matches!(self.state, SplitState::YamlTail));
        SplitStep::Give(self.take(self.at))
    }

    pub(super) fn json_tail(&mut self, scan: JsonScan) -> SplitStep {
        let mut scan = scan;
        match scan.run(&self.buffer, self.at) {
            StopReason::End(end) => self.end_list(end, true),
            StopReason::Text => {
                self.at = self.buffer.len();
                self.state = SplitState::JsonTail(scan);
                SplitStep::More
            }
            StopReason::Line(next) => {
                self.state = SplitState::JsonTail(scan);
                match self.is_separated(next) {
                    None => return SplitStep::More,
                    Some(true) => self.state = SplitState::YamlTail,
                    Some(false) => {}
                }
                self.at = next;
                SplitStep::On
            }
        }
    }

    pub(super) fn yaml_tail(&mut self) -> SplitStep {
        loop {
            let Some(line) = self.line(self.at) else {
                return SplitStep::More;
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
    fn end_list(&mut self, end: usize, is_after_value: bool) -> SplitStep {
        let Some(OpenList {
            header,
            mut text,
            start,
        }) = self.list.take()
        else {
            self.begin(end, is_after_value);
            return SplitStep::On;
        };
        let rest = self.buffer.split_off(end);
        let tail = std::mem::replace(&mut self.buffer, rest);
        self.place = self.place.after(&tail);
        text.extend_from_slice(&tail);
        self.begin(0, is_after_value);
        SplitStep::Give(Piece {
            text,
            start,
            number: self.number,
            form: PieceForm::ListEnd(header),
            values: Vec::new(),
        })
    }

    /// Completes a list that the stream ends with.
    pub(super) fn finish_list(&mut self) -> SplitStep {
        let end = self.buffer.len();
        match self.state {
            SplitState::JsonItems(_) | SplitState::YamlItems(_) if end > 0 => {
                self.is_json = false;
                match self.complete_item(end, None, self.state) {
                    SplitStep::On => SplitStep::Give(self.take(end)),
                    step => step,
                }
            }
            _ => self.end_list(end, false),
        }
    }
}
