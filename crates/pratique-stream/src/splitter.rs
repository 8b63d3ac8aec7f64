//! Reads a stream, and divides it.

mod items;
mod steps;

use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem::Finder;

use super::json::JsonScan;
use super::list::{in_json, in_yaml};
use super::piece::{JsonSpan, ListHeader, Piece, PieceForm, StreamError, StreamPlace};

/// How many bytes are read at once.
const BLOCK: usize = 64 << 10;

/// How much is held of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum size of a document, in bytes; of a list that is given in pieces, of an item.
    pub document: usize,
    /// The size in bytes beyond which a list is given in pieces.
    pub list: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            document: 32 << 20,
            list: 1 << 20,
        }
    }
}

/// An iterator over the pieces of a stream.
///
/// A piece ends where what was read at once ends, so that a stream which comes slowly is not waited for. Which documents a
/// stream has does not depend on that.
#[derive(Debug)]
pub struct Splitter<R> {
    input: R,
    limits: Limits,
    apart: Vec<Finder<'static>>,
    buffer: Vec<u8>,
    /// Where the buffer begins in the stream.
    place: StreamPlace,
    is_at_end: bool,
    is_done: bool,
    /// How many documents were given.
    number: usize,
    // What follows are offsets in the buffer.
    /// How far the buffer was looked through.
    at: usize,
    /// Where the current document begins.
    document: usize,
    /// Where the current value of JSON begins, and where it ends once that is known.
    value: Range<usize>,
    /// The first line of the current document that may begin another one, if it is invalid.
    suspect: Option<usize>,
    /// Up to where the documents are complete, and how many they are.
    complete: usize,
    count: usize,
    values: Vec<JsonSpan>,
    /// Whether the complete documents are JSON values.
    is_json: bool,
    /// Whether the current document follows a JSON value.
    is_after_value: bool,
    /// At what size of the buffer a list is searched.
    try_list_at: usize,
    state: SplitState,
    list: Option<OpenList>,
}

/// What is being read.
#[derive(Clone, Copy, Debug)]
enum SplitState {
    /// What is before a document.
    Start,
    /// A JSON value.
    Json(JsonScan),
    /// What is after a JSON value on its line.
    Ended,
    /// Text after a JSON value.
    Junk,
    /// Lines of YAML.
    Yaml,
    /// Items of a JSON list, within an item or between.
    JsonItems(Option<JsonScan>),
    /// Items of a YAML list with an indentation.
    YamlItems(usize),
    /// A JSON list after its items.
    JsonTail(JsonScan),
    /// A YAML list after its items.
    YamlTail,
}

/// A list that is given in pieces.
#[derive(Debug)]
struct OpenList {
    header: Arc<ListHeader>,
    /// The text without items.
    text: Vec<u8>,
    start: StreamPlace,
}

/// What a step leads to.
enum SplitStep {
    /// Another step.
    On,
    /// More of the stream is needed.
    More,
    /// A piece is complete.
    Give(Piece),
}

impl<R: Read> Splitter<R> {
    /// Reads a stream.
    pub fn new(input: R, limits: Limits) -> Self {
        Splitter {
            input,
            limits,
            apart: Vec::new(),
            buffer: Vec::new(),
            place: StreamPlace::START,
            is_at_end: false,
            is_done: false,
            number: 0,
            at: 0,
            document: 0,
            value: 0..0,
            suspect: None,
            complete: 0,
            count: 0,
            values: Vec::new(),
            is_json: true,
            is_after_value: false,
            try_list_at: limits.list,
            state: SplitState::Start,
            list: None,
        }
    }

    /// Gives documents that contain one of some words in pieces of their own.
    #[must_use]
    pub fn apart(mut self, words: &[&str]) -> Self {
        self.apart = words.iter().map(|word| Finder::new(word).into_owned()).collect();
        self
    }

    /// Counts places and documents from where the input begins in a longer stream, between two documents of it.
    #[must_use]
    pub fn starting_at(mut self, place: StreamPlace, number: usize) -> Self {
        (self.place, self.number) = (place, number);
        self
    }

    /// What the stream is read from.
    pub fn get_ref(&self) -> &R {
        &self.input
    }

    fn fill(&mut self) -> io::Result<()> {
        let length = self.buffer.len();
        self.buffer.resize(length + BLOCK, 0);
        let block = self.buffer.get_mut(length..).unwrap_or_default();
        let read = loop {
            match self.input.read(block) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let count = *read.as_ref().unwrap_or(&0);
        self.buffer.truncate(length + count);
        self.is_at_end = read? == 0;
        Ok(())
    }

    /// Gives what is complete, or makes room for more.
    fn more(&mut self) -> Option<Result<Piece, StreamError>> {
        if self.complete > 0 {
            return Some(Ok(self.take(self.complete)));
        }
        if self.is_at_end {
            return None;
        }
        if self.buffer.len() > self.try_list_at {
            self.try_list();
        }
        if self.buffer.len() > self.limits.document {
            let Some(suspect) = self.suspect.take() else {
                self.is_done = true;
                return Some(Err(StreamError::TooLarge(self.place)));
            };
            self.is_json = false;
            (self.complete, self.count) = (suspect, 1);
            let piece = self.take(suspect);
            self.begin(0, true);
            return Some(Ok(piece));
        }
        match self.fill() {
            Ok(()) => None,
            Err(error) => {
                self.is_done = true;
                Some(Err(error.into()))
            }
        }
    }

    /// Begins to give the current document as a list, if it is one.
    fn try_list(&mut self) {
        let (list_start, state) = match self.state {
            SplitState::Json(_) | SplitState::Ended | SplitState::Junk => {
                (in_json(&self.buffer), SplitState::JsonItems(None))
            }
            SplitState::Yaml => (in_yaml(&self.buffer), SplitState::Yaml),
            _ => return,
        };
        let Some(list_start) = list_start else {
            self.try_list_at = self.buffer.len().saturating_mul(2);
            return;
        };
        let rest = self.buffer.split_off(list_start.at);
        let text = std::mem::replace(&mut self.buffer, rest);
        let start = self.place;
        self.place = start.after(&text);
        self.state = match state {
            SplitState::Yaml => SplitState::YamlItems(list_start.indent),
            state => state,
        };
        self.list = Some(OpenList {
            header: Arc::new(list_start.header),
            text,
            start,
        });
        (self.at, self.document, self.value, self.suspect) = (0, 0, 0..0, None);
    }

    /// Begins a document.
    fn begin(&mut self, at: usize, is_after_value: bool) {
        (self.at, self.document, self.suspect) = (at, at, None);
        self.is_after_value = is_after_value;
        self.try_list_at = self.limits.list;
        self.state = SplitState::Start;
    }

    /// Completes a document that ends at an offset, and begins the next one.
    fn complete_document(&mut self, end: usize, value: Option<JsonSpan>, is_after_value: bool) -> SplitStep {
        let is_long = end.saturating_sub(self.document) > self.limits.list && self.try_list_at != usize::MAX;
        if is_long && self.complete == 0 {
            self.try_list();
            if self.list.is_some() {
                return SplitStep::On;
            }
            self.try_list_at = usize::MAX;
        } else if self.complete > 0 && (is_long || self.is_apart(end)) {
            let piece = self.take(self.complete);
            // What begins now is looked through again.
            self.begin(0, self.is_after_value);
            return SplitStep::Give(piece);
        }
        // What follows complete documents was looked at above.
        let is_apart = self.complete == 0 && self.is_apart(end);
        self.add(end, value);
        if is_apart {
            let piece = self.take(end);
            self.begin(0, is_after_value);
            return SplitStep::Give(piece);
        }
        self.begin(end, is_after_value);
        SplitStep::On
    }

    /// Completes an item that ends at an offset, from which the next one is searched.
    fn complete_item(&mut self, end: usize, value: Option<JsonSpan>, state: SplitState) -> SplitStep {
        self.state = state;
        let is_apart = self.is_apart(end);
        if is_apart && self.complete > 0 {
            let piece = self.take(self.complete);
            self.at = 0;
            return SplitStep::Give(piece);
        }
        self.add(end, value);
        self.at = end;
        if is_apart {
            SplitStep::Give(self.take(end))
        } else {
            SplitStep::On
        }
    }

    fn add(&mut self, end: usize, value: Option<JsonSpan>) {
        self.is_json &= value.is_some();
        self.values.extend(value);
        (self.complete, self.count) = (end, self.count + 1);
    }

    /// Whether what ends at an offset is given in a piece of its own.
    fn is_apart(&self, end: usize) -> bool {
        let text = self.buffer.get(self.complete..end).unwrap_or_default();
        self.apart.iter().any(|word| word.find(text).is_some())
    }

    /// Takes the text up to an offset as a piece.
    fn take(&mut self, end: usize) -> Piece {
        let rest = self.buffer.split_off(end);
        let text = std::mem::replace(&mut self.buffer, rest);
        let values = std::mem::take(&mut self.values);
        let is_json = std::mem::replace(&mut self.is_json, true);
        let piece = Piece {
            start: self.place,
            number: self.number,
            form: match &self.list {
                Some(list) => PieceForm::Items(Arc::clone(&list.header)),
                None => PieceForm::Documents,
            },
            values: if is_json { values } else { Vec::new() },
            text,
        };
        self.place = self.place.after(&piece.text);
        self.number += std::mem::take(&mut self.count);
        self.complete = 0;
        let Range {
            start,
            end: value_end,
        } = &mut self.value;
        for offset in [&mut self.at, &mut self.document, start, value_end] {
            *offset = offset.saturating_sub(end);
        }
        self.suspect = self.suspect.map(|at| at.saturating_sub(end));
        piece
    }
}

impl<R: Read> Iterator for Splitter<R> {
    type Item = Result<Piece, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_done {
            match self.step() {
                SplitStep::On => continue,
                SplitStep::Give(piece) => return Some(Ok(piece)),
                SplitStep::More => {}
            }
            if let Some(given) = self.more() {
                return Some(given);
            }
            if self.is_at_end && self.at >= self.buffer.len() {
                match self.finish() {
                    Some(SplitStep::Give(piece)) => return Some(Ok(piece)),
                    Some(_) => {}
                    None => self.is_done = true,
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
