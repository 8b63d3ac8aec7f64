//! Go's pattern syntax, read from left to right into what `regex-automata` compiles.
//!
//! Groups are a stack, not a recursion, so that a pattern of any nesting is read; what nests too deep is refused when
//! it is put together.

use regex_syntax::hir::Look;

use super::class::ClassReader;
use super::error::{Error, ErrorKind, RefusedPattern, between, whole};
use super::meter::Meter;
use super::piece::{ParsedPattern, PatternPiece};
use super::scan::{self, GroupExtension, PatternFlags, RepeatCount, split_first};
use super::set;

/// The work of reading a piece.
const THING: u64 = 300;

/// The least memory of a piece that was read, in bytes.
const HELD: usize = 256;

/// The number of pieces that are read between two reservations of memory.
const PORTION: usize = 256;

/// Translates a pattern. Each thing in it is accounted for.
pub(super) fn parse<M: Meter>(pattern: &str, meter: &M) -> Result<ParsedPattern, RefusedPattern<M::Stop>> {
    let mut parser = PatternParser {
        pattern,
        flags: PatternFlags::default(),
        groups: Vec::new(),
        current: OpenGroup::default(),
        classes: ClassReader::default(),
        runes: 0,
    };
    let mut rest = pattern;
    // Where the repetition began that was read last, if it was the last thing read.
    let mut repetition: Option<&str> = None;
    let mut things = 0_usize;
    while let Some((first, after)) = split_first(rest) {
        let here = rest;
        if things.is_multiple_of(PORTION) {
            let of_things = things.saturating_add(PORTION).saturating_mul(HELD);
            let bytes = of_things.saturating_add(parser.runes.saturating_mul(4));
            meter.reserve(bytes).map_err(RefusedPattern::Stopped)?;
        }
        things += 1;
        let count = match first {
            '*' => Some((Ok(RepeatCount { min: 0, max: None }), after)),
            '+' => Some((Ok(RepeatCount { min: 1, max: None }), after)),
            '?' => Some((Ok(RepeatCount { min: 0, max: Some(1) }), after)),
            '{' => scan::count(rest),
            _ => None,
        };
        rest = match count {
            Some((count, after)) => parser.repeat(here, count, after, repetition)?,
            None => parser.item(first, here, after)?,
        };
        repetition = count.map(|_| here);
        let units = THING + 16 * (here.len() - rest.len()) as u64;
        meter.work(units).map_err(RefusedPattern::Stopped)?;
    }
    Ok(parser.finish()?)
}

/// Code points in all classes, twice for each range, as Go counts its memory.
const MAX_RUNES: usize = (128 << 20) / 4;

struct PatternParser<'p> {
    pattern: &'p str,
    flags: PatternFlags,
    /// The groups around the one being read.
    groups: Vec<OpenGroup>,
    current: OpenGroup,
    classes: ClassReader,
    runes: usize,
}

/// A group that is being read.
#[derive(Default)]
struct OpenGroup {
    /// The alternatives before the last `|`.
    alternatives: Vec<PatternPiece>,
    /// The sequence after it.
    sequence: Vec<PatternPiece>,
    captures: bool,
    /// The flags to return to at its end.
    outer: PatternFlags,
}

impl PatternParser<'_> {
    /// Reads one piece that is no repetition; returns the rest of the pattern.
    fn item<'t>(&mut self, first: char, here: &'t str, after: &'t str) -> Result<&'t str, Error> {
        match first {
            '(' if after.starts_with('?') => return self.open_extension(here),
            '(' => self.open(true, self.flags),
            '|' => self.bar()?,
            ')' => self.close()?,
            '^' => self.look(if self.flags.multi_line {
                Look::StartLF
            } else {
                Look::Start
            })?,
            '$' => self.look(if self.flags.multi_line {
                Look::EndLF
            } else {
                Look::End
            })?,
            '.' => self.dot()?,
            '[' => {
                let (class, rest) = self.classes.bracketed(here, self.flags)?;
                self.class(class)?;
                return Ok(rest);
            }
            '\\' => return self.escaped(here),
            _ => self.push(PatternPiece::literal(u32::from(first), self.flags))?,
        }
        Ok(after)
    }

    /// Reads a piece that starts with a backslash.
    fn escaped<'t>(&mut self, here: &'t str) -> Result<&'t str, Error> {
        let (letter, after) = here.strip_prefix('\\').and_then(split_first).unwrap_or((' ', ""));
        match letter {
            'A' => self.look(Look::Start)?,
            'z' => self.look(Look::End)?,
            'b' => self.look(Look::WordAscii)?,
            'B' => self.look(Look::WordAsciiNegate)?,
            'Q' => {
                let (literal, rest) = after.split_once("\\E").unwrap_or((after, ""));
                for character in literal.chars() {
                    self.push(PatternPiece::literal(u32::from(character), self.flags))?;
                }
                return Ok(rest);
            }
            _ => {
                if let Some((class, rest)) = self.classes.escaped(here, self.flags)? {
                    self.class(class)?;
                    return Ok(rest);
                }
                let (code, rest) = scan::escape(here)?;
                self.push(PatternPiece::literal(code, self.flags))?;
                return Ok(rest);
            }
        }
        Ok(after)
    }

    /// Repeats the last piece; returns the rest of the pattern after the repetition.
    fn repeat<'t>(
        &mut self,
        here: &'t str,
        count: Result<RepeatCount, ()>,
        after: &'t str,
        last: Option<&'t str>,
    ) -> Result<&'t str, Error> {
        let Ok(count) = count else {
            return between(ErrorKind::RepeatSize, here, after);
        };
        let (lazy, rest) = after
            .strip_prefix('?')
            .map_or((false, after), |rest| (true, rest));
        if let Some(last) = last {
            return between(ErrorKind::RepeatOperator, last, rest);
        }
        let Some(piece) = self.current.sequence.pop() else {
            return between(ErrorKind::MissingRepeatArgument, here, rest);
        };
        let greedy = lazy == self.flags.swap_greed;
        let repeated = if here.starts_with('{') {
            piece.counted(count, greedy)
        } else {
            piece.repeated(count, greedy)
        };
        match repeated {
            Err(ErrorKind::RepeatSize) => between(ErrorKind::RepeatSize, here, rest),
            repeated => {
                let piece = self.checked(repeated)?;
                self.current.sequence.push(piece);
                Ok(rest)
            }
        }
    }

    fn open_extension<'t>(&mut self, here: &'t str) -> Result<&'t str, Error> {
        let (extension, rest) = scan::extension(here, self.flags)?;
        match extension {
            GroupExtension::Group(flags) => {
                let captures = !here.starts_with("(?:")
                    && here.get(2..).is_some_and(|name| name.starts_with(['P', '<']));
                self.open(captures, flags);
            }
            GroupExtension::Flags(flags) => self.flags = flags,
        }
        Ok(rest)
    }

    fn open(&mut self, captures: bool, inner: PatternFlags) {
        let group = OpenGroup {
            captures,
            outer: self.flags,
            ..OpenGroup::default()
        };
        self.groups.push(std::mem::replace(&mut self.current, group));
        self.flags = inner;
    }

    fn close(&mut self) -> Result<(), Error> {
        let piece = self.end_group()?;
        let Some(outer) = self.groups.pop() else {
            return whole(ErrorKind::UnexpectedParen, self.pattern);
        };
        let group = std::mem::replace(&mut self.current, outer);
        self.flags = group.outer;
        let piece = if group.captures {
            self.checked(piece.captured())?
        } else {
            piece
        };
        self.push(piece)
    }

    fn bar(&mut self) -> Result<(), Error> {
        let sequence = std::mem::take(&mut self.current.sequence);
        let piece = self.checked(PatternPiece::concatenation(sequence))?;
        self.current.alternatives.push(piece);
        Ok(())
    }

    /// All of the group that is being read.
    fn end_group(&mut self) -> Result<PatternPiece, Error> {
        self.bar()?;
        let alternatives = std::mem::take(&mut self.current.alternatives);
        self.checked(PatternPiece::alternation(alternatives))
    }

    fn finish(mut self) -> Result<ParsedPattern, Error> {
        let piece = self.end_group()?;
        if !self.groups.is_empty() {
            return whole(ErrorKind::MissingParen, self.pattern);
        }
        Ok(piece.into_parsed())
    }

    fn look(&mut self, look: Look) -> Result<(), Error> {
        self.push(PatternPiece::look(look))
    }

    fn dot(&mut self) -> Result<(), Error> {
        let newline = u32::from('\n');
        let mut class = set::range(0, newline - u32::from(!self.flags.dot_newline));
        set::add(&mut class, newline + 1, 0x10_FFFF);
        self.push(PatternPiece::class(class))
    }

    fn class(&mut self, class: regex_syntax::hir::ClassUnicode) -> Result<(), Error> {
        self.runes = self.runes.saturating_add(2 * class.ranges().len());
        if self.runes > MAX_RUNES {
            return whole(ErrorKind::Large, self.pattern);
        }
        self.push(PatternPiece::class(class))
    }

    fn push(&mut self, piece: PatternPiece) -> Result<(), Error> {
        self.current.sequence.push(piece);
        Ok(())
    }

    /// A fault of size or depth shows the whole pattern.
    fn checked(&self, piece: Result<PatternPiece, ErrorKind>) -> Result<PatternPiece, Error> {
        piece.or_else(|kind| whole(kind, self.pattern))
    }
}
