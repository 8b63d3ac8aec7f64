//! Parts of a pattern, translated, with the measures that Go limits: depth, size, repetition.

use regex_syntax::hir::{Capture, Class, ClassUnicode, Hir, HirKind, Look, Repetition};

use super::error::ErrorKind;
use super::scan::{MAX_COUNT, PatternFlags, RepeatCount};
use super::set;

/// How deep groups and repetitions may nest.
const MAX_HEIGHT: u32 = 1_000;
/// How many instructions a pattern may come to: Go's 128 MiB at 40 bytes each.
const MAX_SIZE: u64 = (128 << 20) / 40;

/// A pattern, translated.
pub(super) struct ParsedPattern {
    pub(super) hir: Hir,
    /// How much an automaton of bytes has to know: literals in bytes and classes in ranges, as often as they are repeated.
    pub(super) weight: u64,
}

/// A part of a pattern.
pub(super) struct PatternPiece {
    hir: Hir,
    shape: PieceShape,
    /// Levels of nesting, this one included.
    height: u32,
    /// Instructions in Go's program.
    size: u64,
    /// The largest product of counts from here to a leaf.
    repeats: u32,
    /// Literals in bytes and classes in ranges, as often as they are repeated.
    weight: u64,
}

/// What a piece is, as far as neighbours care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceShape {
    /// A string of literals; adjacent ones are one.
    Literal {
        fold_case: bool,
        single: bool,
    },
    /// One character of several; adjacent alternatives are one.
    Class,
    /// A sequence or a choice, which dissolves in one of its kind.
    Concatenation,
    Alternation,
    Other,
}

impl PatternPiece {
    /// A single code point.
    pub(super) fn literal(code: u32, flags: PatternFlags) -> PatternPiece {
        let hir = match (char::from_u32(code), flags.fold_case) {
            (Some(letter), true) => Hir::class(Class::Unicode(variants(letter))),
            (Some(letter), false) => Hir::literal(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            (None, _) => Hir::fail(),
        };
        let shape = PieceShape::Literal {
            fold_case: flags.fold_case,
            single: true,
        };
        PatternPiece::leaf(hir, shape)
    }

    /// A character of a class.
    pub(super) fn class(class: ClassUnicode) -> PatternPiece {
        PatternPiece::leaf(Hir::class(Class::Unicode(class)), PieceShape::Class)
    }

    /// A place in the text.
    pub(super) fn look(look: Look) -> PatternPiece {
        PatternPiece::leaf(Hir::look(look), PieceShape::Other)
    }

    /// A sequence of pieces.
    pub(super) fn concatenation(pieces: Vec<PatternPiece>) -> Result<PatternPiece, ErrorKind> {
        // Runs of literals count as one node.
        let runs = pieces
            .windows(2)
            .filter(|pair| !matches!(pair, [one, next] if one.joins(next)))
            .count()
            + 1;
        Self::combine(pieces, runs, PieceShape::Concatenation, Hir::concat)
    }

    /// A choice between pieces, the first that matches being taken.
    pub(super) fn alternation(pieces: Vec<PatternPiece>) -> Result<PatternPiece, ErrorKind> {
        let runs = pieces
            .windows(2)
            .filter(|pair| !matches!(pair, [one, next] if one.merges(next)))
            .count()
            + 1;
        Self::combine(pieces, runs, PieceShape::Alternation, in_order)
    }

    /// The piece in a capturing group. Captures are never used, so only its measures change.
    pub(super) fn captured(self) -> Result<PatternPiece, ErrorKind> {
        let (height, size) = (self.height + 1, self.size + 2);
        PatternPiece {
            shape: PieceShape::Other,
            height,
            size,
            ..self
        }
        .checked()
    }

    /// The piece, repeated by `*`, `+` or `?`.
    pub(super) fn repeated(self, count: RepeatCount, greedy: bool) -> Result<PatternPiece, ErrorKind> {
        let size = self.size
            + if count.max.is_none() && count.min == 0 {
                2
            } else {
                1
            };
        self.repeat(count, greedy, size)
    }

    /// The piece, repeated by a count in braces.
    pub(super) fn counted(self, count: RepeatCount, greedy: bool) -> Result<PatternPiece, ErrorKind> {
        let size = match (u64::from(count.min), count.max) {
            (0, None) => self.size + 2,
            (min, None) => min.saturating_mul(self.size) + 1,
            (min, Some(max)) => u64::from(max).saturating_mul(self.size) + u64::from(max) - min,
        };
        let repeats = match count.max.unwrap_or(count.min) {
            0 if count.max.is_some() => 1,
            times => self.repeats.saturating_mul(times.max(1)),
        };
        let piece = PatternPiece {
            repeats,
            ..self.repeat(count, greedy, size)?
        };
        let at_most_one = count.min < 2 && count.max.is_none_or(|max| max < 2);
        if repeats > MAX_COUNT && !at_most_one {
            Err(ErrorKind::RepeatSize)
        } else {
            Ok(piece)
        }
    }

    pub(super) fn into_parsed(self) -> ParsedPattern {
        ParsedPattern {
            hir: self.hir,
            weight: self.weight,
        }
    }

    fn leaf(hir: Hir, shape: PieceShape) -> PatternPiece {
        let weight = match hir.kind() {
            HirKind::Literal(literal) => literal.0.len() as u64,
            HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
            _ => 1,
        };
        PatternPiece {
            hir,
            shape,
            height: 1,
            size: 1,
            repeats: 1,
            weight,
        }
    }

    fn repeat(self, count: RepeatCount, greedy: bool, size: u64) -> Result<PatternPiece, ErrorKind> {
        let RepeatCount { min, max } = count;
        let hir = Hir::repetition(Repetition {
            min,
            max,
            greedy,
            sub: Box::new(self.hir),
        });
        let height = self.height + 1;
        let times = u64::from(max.unwrap_or(min).max(min).max(1));
        PatternPiece {
            hir,
            shape: PieceShape::Other,
            height,
            size: size.max(1),
            repeats: self.repeats,
            weight: self.weight.saturating_mul(times).saturating_add(1),
        }
        .checked()
    }

    fn combine(
        mut pieces: Vec<PatternPiece>,
        runs: usize,
        shape: PieceShape,
        make: fn(Vec<Hir>) -> Hir,
    ) -> Result<PatternPiece, ErrorKind> {
        if pieces.len() < 2 {
            return Ok(pieces
                .pop()
                .unwrap_or_else(|| PatternPiece::leaf(Hir::empty(), PieceShape::Other)));
        }
        let inner = |piece: &PatternPiece| {
            if piece.shape == shape {
                piece.height - 1
            } else {
                piece.height
            }
        };
        let height = 1 + pieces.iter().map(inner).max().unwrap_or(0);
        let joints = if shape == PieceShape::Alternation {
            runs.saturating_sub(1) as u64
        } else {
            0
        };
        let size = pieces
            .iter()
            .map(|piece| piece.size)
            .fold(joints, u64::saturating_add);
        let repeats = pieces.iter().map(|piece| piece.repeats).max().unwrap_or(1);
        let weights = pieces.iter().map(|piece| piece.weight);
        let weight = weights.fold(joints, u64::saturating_add);
        let literal = pieces.first().map(|piece| piece.shape).filter(|_| runs == 1);
        let (shape, height) = match literal {
            Some(PieceShape::Literal { fold_case, .. }) if shape == PieceShape::Concatenation => (
                PieceShape::Literal {
                    fold_case,
                    single: false,
                },
                1,
            ),
            Some(_) => (PieceShape::Class, 1),
            None => (shape, height),
        };
        let hir = make(pieces.into_iter().map(|piece| piece.hir).collect());
        PatternPiece {
            hir,
            shape,
            height,
            size,
            repeats,
            weight,
        }
        .checked()
    }

    /// Whether Go makes one string of this and the next piece.
    fn joins(&self, next: &PatternPiece) -> bool {
        match (self.shape, next.shape) {
            (PieceShape::Literal { fold_case: one, .. }, PieceShape::Literal { fold_case: other, .. }) => {
                one == other
            }
            _ => false,
        }
    }

    /// Whether Go makes one class of this and the next alternative.
    fn merges(&self, next: &PatternPiece) -> bool {
        let single = |piece: &PatternPiece| {
            matches!(
                piece.shape,
                PieceShape::Class | PieceShape::Literal { single: true, .. }
            )
        };
        single(self) && single(next)
    }

    fn checked(self) -> Result<PatternPiece, ErrorKind> {
        if self.size > MAX_SIZE {
            Err(ErrorKind::Large)
        } else if self.height > MAX_HEIGHT {
            Err(ErrorKind::NestingDepth)
        } else {
            Ok(self)
        }
    }
}

/// Alternatives of which the first that matches is taken.
///
/// `Hir::alternation` lifts a prefix that all alternatives share, which changes what is preferred: `.*c|.*b` is not
/// `.*(?:c|b)`, as the first alternative gives way in `.*` before the second is tried. It lifts out of sequences only,
/// so the first one is put in a group; nothing is captured, so that costs nothing when matching.
fn in_order(mut alternatives: Vec<Hir>) -> Hir {
    if let Some(first) = alternatives.first_mut()
        && matches!(first.kind(), HirKind::Concat(_))
    {
        let sub = Box::new(std::mem::replace(first, Hir::empty()));
        *first = Hir::capture(Capture {
            index: 1,
            name: None,
            sub,
        });
    }
    Hir::alternation(alternatives)
}

/// A letter in all its cases. Within ASCII two letters have a third: `ſ` and the Kelvin sign.
fn variants(letter: char) -> ClassUnicode {
    if !letter.is_ascii() {
        return set::folded(&set::range(letter.into(), letter.into()));
    }
    let third = match letter.to_ascii_lowercase() {
        's' => 'ſ',
        'k' => '\u{212A}',
        _ => letter,
    };
    let mut class = ClassUnicode::empty();
    for letter in [letter.to_ascii_lowercase(), letter.to_ascii_uppercase(), third] {
        set::add(&mut class, letter.into(), letter.into());
    }
    class
}
