//! Which way to go at a choice: most by the next token, some by a few more.

use super::grammar::{GrammarStep, StepIndex, WayChoice};
use super::machine::{AbortedReading, ParseMachine};
use super::recovery::RuleFault;
use crate::parser::token::{SourceToken, TokenKind};

/// The alternative to take, counted from 0; or the token that fits none.
type PredictedWay = Result<usize, SourceToken>;

/// The alternatives of a repeated or optional body: to enter it, or to continue after it.
const BODY: usize = 0;
const PAST: usize = 1;

impl ParseMachine<'_> {
    /// Chooses one of the ways.
    pub(super) fn predict(
        &mut self,
        choice: WayChoice,
        ways: &[StepIndex],
        strength: u8,
    ) -> Result<Result<StepIndex, RuleFault>, AbortedReading> {
        let first = self.token(0)?;
        let way = match choice {
            WayChoice::Only => Ok(BODY),
            WayChoice::Optional => Ok(body_if(self.begins(ways, BODY, first.kind))),
            WayChoice::Operator => {
                let operator = self.begins(ways, BODY, first.kind);
                Ok(body_if(operator && binds(first.kind, strength)))
            }
            WayChoice::Alternative => self.alternative(ways, first),
            WayChoice::Suffix => self.suffix(first)?,
            WayChoice::Sign => self.sign(ways, first)?,
            WayChoice::MoreSigns => self.more_signs(ways, first)?,
            WayChoice::Primary => self.primary(ways, first)?,
            WayChoice::MoreElements => {
                let comma = first.kind == TokenKind::Comma;
                Ok(body_if(comma && self.is_element_after_comma(ways)?))
            }
            WayChoice::Number => self.number(ways, first)?,
        };
        Ok(match way {
            Ok(way) => ways
                .get(way)
                .copied()
                .ok_or(RuleFault::NoWay { first, last: first }),
            Err(last) => Err(RuleFault::NoWay { first, last }),
        })
    }

    /// Whether a way may begin with a kind of token.
    fn begins(&self, ways: &[StepIndex], way: usize, kind: TokenKind) -> bool {
        ways.get(way)
            .is_some_and(|way| self.network.next(*way).kinds.contains(kind))
    }

    fn alternative(&self, ways: &[StepIndex], first: SourceToken) -> PredictedWay {
        (0..ways.len())
            .find(|way| self.begins(ways, *way, first.kind))
            .ok_or(first)
    }

    /// `.name`, `.name(…)` or `[…]`
    fn suffix(&mut self, first: SourceToken) -> Result<PredictedWay, AbortedReading> {
        const SELECT: usize = 0;
        const CALL: usize = 1;
        const INDEX: usize = 2;
        if first.kind != TokenKind::Dot {
            return Ok(Ok(INDEX));
        }
        let second = self.token(1)?;
        Ok(match second.kind {
            TokenKind::Question | TokenKind::Quoted => Ok(SELECT),
            TokenKind::Identifier if self.kind(2)? == TokenKind::OpenParen => Ok(CALL),
            TokenKind::Identifier => Ok(SELECT),
            _ => Err(second),
        })
    }

    /// An operand with `!`, with `-`, or with neither: the sign of a number is its own.
    fn sign(&mut self, ways: &[StepIndex], first: SourceToken) -> Result<PredictedWay, AbortedReading> {
        const NEGATE: usize = 2;
        if first.kind != TokenKind::Minus {
            return Ok(self.alternative(ways, first));
        }
        let second = self.token(1)?;
        Ok(match second.kind {
            TokenKind::Int | TokenKind::Float => Ok(0),
            kind if self.begins(ways, 0, kind) => Ok(NEGATE),
            _ => Err(second),
        })
    }

    /// Whether another minus sign is one of the signs before an operand: all before the operand are.
    fn more_signs(&mut self, ways: &[StepIndex], first: SourceToken) -> Result<PredictedWay, AbortedReading> {
        if first.kind != TokenKind::Minus {
            return Ok(if self.begins(ways, PAST, first.kind) {
                Ok(PAST)
            } else {
                Err(first)
            });
        }
        let second = self.token(1)?;
        Ok(if self.begins(ways, PAST, second.kind) {
            Ok(BODY)
        } else {
            Err(second)
        })
    }

    /// The first token of an operand. Names may be variables, functions, or those of structs.
    fn primary(&mut self, ways: &[StepIndex], first: SourceToken) -> Result<PredictedWay, AbortedReading> {
        const NAME: usize = 0;
        const CALL: usize = 1;
        const STRUCT: usize = 5;
        if !matches!(first.kind, TokenKind::Dot | TokenKind::Identifier) {
            return Ok(self.alternative(ways, first));
        }
        let mut ahead = 1;
        if first.kind == TokenKind::Dot {
            let name = self.token(1)?;
            if name.kind != TokenKind::Identifier {
                return Ok(Err(name));
            }
            ahead = 2;
        }
        if self.kind(ahead)? == TokenKind::OpenParen {
            return Ok(Ok(CALL));
        }
        while self.kind(ahead)? == TokenKind::Dot && self.kind(ahead + 1)? == TokenKind::Identifier {
            ahead += 2;
        }
        Ok(match self.kind(ahead)? {
            TokenKind::OpenBrace => Ok(STRUCT),
            _ => Ok(NAME),
        })
    }

    /// Whether a comma is followed by an element: else it is the one before the end.
    fn is_element_after_comma(&mut self, ways: &[StepIndex]) -> Result<bool, AbortedReading> {
        let second = self.kind(1)?;
        let Some(GrammarStep::Read { then, .. }) = ways.get(BODY).map(|body| self.network.step(*body)) else {
            return Ok(false);
        };
        Ok(self.network.next(*then).kinds.contains(second))
    }

    /// The kind of a literal.
    fn number(&mut self, ways: &[StepIndex], first: SourceToken) -> Result<PredictedWay, AbortedReading> {
        const INT: usize = 0;
        const DOUBLE: usize = 2;
        if first.kind != TokenKind::Minus {
            return Ok(self.alternative(ways, first));
        }
        let second = self.token(1)?;
        Ok(match second.kind {
            TokenKind::Int => Ok(INT),
            TokenKind::Float => Ok(DOUBLE),
            _ => Err(second),
        })
    }
}

fn body_if(body: bool) -> usize {
    if body { BODY } else { PAST }
}

/// Whether an operator binds at least as strongly as it must among the operators of its rule.
fn binds(operator: TokenKind, strength: u8) -> bool {
    match operator {
        TokenKind::Star | TokenKind::Slash | TokenKind::Percent => strength <= 2,
        _ => strength <= 1,
    }
}
