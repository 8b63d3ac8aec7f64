//! Events of one YAML document, from whichever parser: the rest of this room knows none in particular.

use std::borrow::Cow;

use granit_parser::{Event as GranitEvent, Parser, Span as GranitSpan, StrInput, Tag};

use super::{SyntaxError, diagnosis};
use crate::position::Span;
use crate::tree::Style;

/// What a parser reads, in order.
#[derive(Debug)]
pub(super) struct Event<'text> {
    pub(super) kind: EventKind<'text>,
    pub(super) span: Span,
    /// The line it starts on, from 1.
    pub(super) line: usize,
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
    pub(super) tag: Option<String>,
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
}

/// As deep as the server's parser goes.
const NESTING_LIMIT: usize = 10_000;

impl<'text> Granit<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        let options = granit_parser::options! {
            emit_comments: false,
            flow_nesting_limit: NESTING_LIMIT,
            block_nesting_limit: NESTING_LIMIT,
        };
        Self {
            parser: Parser::new_from_str_with_options(text, options),
            text,
        }
    }

    fn span(&self, span: &GranitSpan) -> Span {
        let start = span.start.byte_offset().unwrap_or_default();
        let end = span.end.byte_offset().unwrap_or(start);
        Span::new(start, end.max(start).min(self.text.len()))
    }
}

impl<'text> EventSource<'text> for Granit<'text> {
    fn next_event(&mut self) -> Result<Option<Event<'text>>, SyntaxError> {
        while let Some(next) = self.parser.next_event() {
            let (event, span) = next.map_err(|error| diagnosis::diagnose(self.text, &error))?;
            let kind = match event {
                GranitEvent::Scalar(value, style, anchor, tag) => scalar(value, style, anchor, tag, &span),
                GranitEvent::SequenceStart(_, anchor, tag) => {
                    EventKind::SequenceStart(properties(anchor, tag))
                }
                GranitEvent::MappingStart(_, anchor, tag) => EventKind::MappingStart(properties(anchor, tag)),
                GranitEvent::SequenceEnd => EventKind::SequenceEnd,
                GranitEvent::MappingEnd => EventKind::MappingEnd,
                GranitEvent::Alias(anchor) => EventKind::Alias(anchor),
                GranitEvent::DocumentEnd | GranitEvent::StreamEnd => return Ok(None),
                _ => continue,
            };
            return Ok(Some(Event {
                kind,
                span: self.span(&span),
                line: span.start.line(),
            }));
        }
        Ok(None)
    }
}

fn scalar<'text>(
    value: Cow<'text, str>,
    style: granit_parser::ScalarStyle,
    anchor: usize,
    tag: Option<Cow<'text, Tag>>,
    span: &GranitSpan,
) -> EventKind<'text> {
    let style = match style {
        granit_parser::ScalarStyle::Plain => Style::Plain,
        granit_parser::ScalarStyle::SingleQuoted => Style::SingleQuoted,
        granit_parser::ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        granit_parser::ScalarStyle::Literal => Style::Literal,
        granit_parser::ScalarStyle::Folded => Style::Folded,
    };
    // A value that is not there at all comes as `~`, which nobody wrote.
    let absent = style == Style::Plain && span.start.index() == span.end.index();
    let value = if absent { Cow::Borrowed("") } else { value };
    EventKind::Scalar {
        value,
        style,
        properties: properties(anchor, tag),
    }
}

fn properties(anchor: usize, tag: Option<Cow<'_, Tag>>) -> Properties {
    Properties {
        anchor: (anchor != 0).then_some(anchor),
        tag: tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix())),
    }
}
