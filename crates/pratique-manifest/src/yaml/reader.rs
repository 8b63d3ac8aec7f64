//! Events of one YAML document, from whichever parser: the rest of this room knows none in particular.

use std::borrow::Cow;

use granit_parser::{
    Event as GranitEvent, Parser, ScalarStyle, Span as GranitSpan, StrInput, StructureStyle, Tag,
};

use super::dialect::{self, Before};
use super::{SyntaxError, diagnosis};
use crate::position::{Span, saturate};
use crate::tree::Style;

/// What a parser reads, in order.
#[derive(Debug)]
pub(super) struct Event<'text> {
    pub(super) kind: EventKind<'text>,
    pub(super) span: Span,
    /// The line it starts on, from 1.
    pub(super) line: u32,
}

#[derive(Debug)]
pub(super) enum EventKind<'text> {
    /// An alias of a node that was anchored with this number.
    Alias(usize),
    Scalar {
        value: Cow<'text, str>,
        style: Style,
        properties: Properties,
    },
    SequenceStart(Properties),
    SequenceEnd,
    MappingStart(Properties),
    MappingEnd,
}

/// A node's anchor and tag.
#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) anchor: Option<usize>,
    /// The tag in full (`tag:yaml.org,2002:int`, `!local`).
    pub(super) tag: Option<Box<str>>,
}

/// A source of one document's events.
pub(super) trait EventSource<'text> {
    /// The next event; none at the document's end.
    fn next_event(&mut self) -> Result<Option<Event<'text>>, SyntaxError>;
}

/// The parser that is used, granit-parser.
pub(super) struct Granit<'text> {
    parser: Parser<'text, StrInput<'text>>,
    text: &'text str,
    /// The collections that are begun and not ended.
    open: Vec<Open>,
    /// The columns at which the block collections among them begin.
    columns: Vec<usize>,
    /// Where the last event ended, and what it was.
    last: (usize, Before),
}

/// A kind of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    BlockSequence,
    BlockMapping,
    FlowSequence,
    FlowMapping,
}

/// As deep as the server's parser goes.
const NESTING_LIMIT: usize = 10_000;

impl<'text> Granit<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        let options = granit_parser::options! {
            emit_comments: false,
            emit_anchor_events: true,
            flow_nesting_limit: NESTING_LIMIT,
            block_nesting_limit: NESTING_LIMIT,
        };
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            text,
            open: Vec::new(),
            columns: Vec::new(),
            last: (0, Before::Other),
        }
    }

    fn span(&self, span: &GranitSpan) -> Span {
        let start = span.start.byte_offset().unwrap_or_default();
        let end = span.end.byte_offset().unwrap_or(start);
        Span::new(start, end.max(start).min(self.text.len()))
    }

    fn begin(&mut self, style: StructureStyle, flow: Open, block: Open) {
        self.open.push(if style == StructureStyle::Flow {
            flow
        } else {
            block
        });
    }

    fn end(&mut self) {
        if let Some(Open::BlockSequence | Open::BlockMapping) = self.open.pop() {
            self.columns.pop();
        }
    }

    /// Looks at the blanks before an event, and keeps what those after it are to be judged by.
    fn check_gap(
        &mut self,
        event: &GranitEvent<'text>,
        span: Span,
        column: usize,
    ) -> Result<(), SyntaxError> {
        let (end, before) = self.last;
        let in_flow = matches!(self.open.last(), Some(Open::FlowSequence | Open::FlowMapping));
        if !in_flow && span.start as usize > end {
            dialect::check_gap(self.text, end, span.start as usize, before)?;
        }
        let indent = self.columns.last().map_or(0, |column| column + 1);
        let before = match event {
            GranitEvent::Anchor(..) => return Ok(()),
            GranitEvent::Scalar(_, ScalarStyle::Plain, ..) => Before::Plain { indent },
            GranitEvent::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..) => Before::Block,
            GranitEvent::MappingStart(StructureStyle::Block, ..)
            | GranitEvent::SequenceStart(StructureStyle::Block, ..) => {
                self.columns.push(column);
                Before::Other
            }
            _ => Before::Other,
        };
        if span.end as usize > end || before != Before::Other {
            self.last = (span.end as usize, before);
        }
        Ok(())
    }

    /// What an event is to us; none if it is nothing.
    fn kind(
        &mut self,
        event: GranitEvent<'text>,
        span: Span,
    ) -> Result<Option<EventKind<'text>>, SyntaxError> {
        let kind = match event {
            GranitEvent::Scalar(value, style, anchor, tag) => {
                let style = scalar_style(style);
                let value = dialect::scalar(self.text, value, style, span)?;
                EventKind::Scalar {
                    value,
                    style,
                    properties: properties(anchor, tag),
                }
            }
            GranitEvent::SequenceStart(style, anchor, tag) => {
                self.begin(style, Open::FlowSequence, Open::BlockSequence);
                EventKind::SequenceStart(properties(anchor, tag))
            }
            GranitEvent::MappingStart(style, anchor, tag) => {
                self.begin(style, Open::FlowMapping, Open::BlockMapping);
                EventKind::MappingStart(properties(anchor, tag))
            }
            GranitEvent::SequenceEnd => {
                self.end();
                EventKind::SequenceEnd
            }
            GranitEvent::MappingEnd => {
                self.end();
                EventKind::MappingEnd
            }
            GranitEvent::Alias(anchor) => {
                dialect::check_name(self.text, span)?;
                EventKind::Alias(anchor)
            }
            GranitEvent::Anchor(..) => {
                dialect::check_name(self.text, span)?;
                return Ok(None);
            }
            GranitEvent::DocumentStart(_, version) => {
                dialect::check_version(version.map(|version| (version.major, version.minor)), span)?;
                return Ok(None);
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }
}

impl<'text> EventSource<'text> for Granit<'text> {
    fn next_event(&mut self) -> Result<Option<Event<'text>>, SyntaxError> {
        while let Some(next) = self.parser.next_event() {
            let (event, span) = next.map_err(|error| diagnosis::diagnose(self.text, &error, &self.open))?;
            if matches!(event, GranitEvent::DocumentEnd | GranitEvent::StreamEnd) {
                return Ok(None);
            }
            let (line, column) = (saturate(span.start.line()), span.start.col());
            let span = self.span(&span);
            self.check_gap(&event, span, column)?;
            if let Some(kind) = self.kind(event, span)? {
                return Ok(Some(Event { kind, span, line }));
            }
        }
        Ok(None)
    }
}

fn scalar_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

fn properties(anchor: usize, tag: Option<Cow<'_, Tag>>) -> Properties {
    Properties {
        anchor: (anchor != 0).then_some(anchor),
        tag: tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()).into()),
    }
}
