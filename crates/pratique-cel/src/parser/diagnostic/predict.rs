//! Which way to go at a choice: most by the next token, some by a few more.

use super::grammar::{Choice, GrammarStep, StepIndex};
use super::machine::{Aborted, Machine};
use super::recovery::Fault;
use crate::parser::token::{Kind, Token};

/// The alternative to take, counted from 0; or the token that fits none.
type PredictedWay = Result<usize, Token>;

/// The alternatives of a repeated or optional body: to enter it, or to continue after it.
const BODY: usize = 0;
const PAST: usize = 1;

impl Machine<'_> {
    /// Chooses one of the ways.
    pub(super) fn predict(
        &mut self,
        choice: Choice,
        ways: &[StepIndex],
        strength: u8,
    ) -> Result<Result<StepIndex, Fault>, Aborted> {
        let first = self.token(0)?;
        let way = match choice {
            Choice::Only => Ok(BODY),
            Choice::Optional => Ok(body_if(self.begins(ways, BODY, first.kind))),
            Choice::Operator => {
                let operator = self.begins(ways, BODY, first.kind);
                Ok(body_if(operator && binds(first.kind, strength)))
            }
            Choice::Alternative => self.alternative(ways, first),
            Choice::Suffix => self.suffix(first)?,
            Choice::Sign => self.sign(ways, first)?,
            Choice::MoreSigns => self.more_signs(ways, first)?,
            Choice::Primary => self.primary(ways, first)?,
            Choice::MoreElements => {
                let comma = first.kind == Kind::Comma;
                Ok(body_if(comma && self.is_element_after_comma(ways)?))
            }
            Choice::Number => self.number(ways, first)?,
        };
        Ok(match way {
            Ok(way) => ways.get(way).copied().ok_or(Fault::NoWay { first, last: first }),
            Err(last) => Err(Fault::NoWay { first, last }),
        })
    }

    /// Whether a way may begin with a kind of token.
    fn begins(&self, ways: &[StepIndex], way: usize, kind: Kind) -> bool {
        ways.get(way)
            .is_some_and(|way| self.network.next(*way).kinds.contains(kind))
    }

    fn alternative(&self, ways: &[StepIndex], first: Token) -> PredictedWay {
        (0..ways.len())
            .find(|way| self.begins(ways, *way, first.kind))
            .ok_or(first)
    }

    /// `.name`, `.name(…)` or `[…]`
    fn suffix(&mut self, first: Token) -> Result<PredictedWay, Aborted> {
        const SELECT: usize = 0;
        const CALL: usize = 1;
        const INDEX: usize = 2;
        if first.kind != Kind::Dot {
            return Ok(Ok(INDEX));
        }
        let second = self.token(1)?;
        Ok(match second.kind {
            Kind::Question | Kind::Quoted => Ok(SELECT),
            Kind::Identifier if self.kind(2)? == Kind::OpenParen => Ok(CALL),
            Kind::Identifier => Ok(SELECT),
            _ => Err(second),
        })
    }

    /// An operand with `!`, with `-`, or with neither: the sign of a number is its own.
    fn sign(&mut self, ways: &[StepIndex], first: Token) -> Result<PredictedWay, Aborted> {
        const NEGATE: usize = 2;
        if first.kind != Kind::Minus {
            return Ok(self.alternative(ways, first));
        }
        let second = self.token(1)?;
        Ok(match second.kind {
            Kind::Int | Kind::Float => Ok(0),
            kind if self.begins(ways, 0, kind) => Ok(NEGATE),
            _ => Err(second),
        })
    }

    /// Whether another minus sign is one of the signs before an operand: all before the operand are.
    fn more_signs(&mut self, ways: &[StepIndex], first: Token) -> Result<PredictedWay, Aborted> {
        if first.kind != Kind::Minus {
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
    fn primary(&mut self, ways: &[StepIndex], first: Token) -> Result<PredictedWay, Aborted> {
        const NAME: usize = 0;
        const CALL: usize = 1;
        const STRUCT: usize = 5;
        if !matches!(first.kind, Kind::Dot | Kind::Identifier) {
            return Ok(self.alternative(ways, first));
        }
        let mut ahead = 1;
        if first.kind == Kind::Dot {
            let name = self.token(1)?;
            if name.kind != Kind::Identifier {
                return Ok(Err(name));
            }
            ahead = 2;
        }
        if self.kind(ahead)? == Kind::OpenParen {
            return Ok(Ok(CALL));
        }
        while self.kind(ahead)? == Kind::Dot && self.kind(ahead + 1)? == Kind::Identifier {
            ahead += 2;
        }
        Ok(match self.kind(ahead)? {
            Kind::OpenBrace => Ok(STRUCT),
            _ => Ok(NAME),
        })
    }

    /// Whether a comma is followed by an element: else it is the one before the end.
    fn is_element_after_comma(&mut self, ways: &[StepIndex]) -> Result<bool, Aborted> {
        let second = self.kind(1)?;
        let Some(GrammarStep::Read { then, .. }) = ways.get(BODY).map(|body| self.network.step(*body)) else {
            return Ok(false);
        };
        Ok(self.network.next(*then).kinds.contains(second))
    }

    /// The kind of a literal.
    fn number(&mut self, ways: &[StepIndex], first: Token) -> Result<PredictedWay, Aborted> {
        const INT: usize = 0;
        const DOUBLE: usize = 2;
        if first.kind != Kind::Minus {
            return Ok(self.alternative(ways, first));
        }
        let second = self.token(1)?;
        Ok(match second.kind {
            Kind::Int => Ok(INT),
            Kind::Float => Ok(DOUBLE),
            _ => Err(second),
        })
    }
}

fn body_if(body: bool) -> usize {
    if body { BODY } else { PAST }
}

/// Whether an operator binds at least as strongly as it must among the operators of its rule.
fn binds(operator: Kind, strength: u8) -> bool {
    match operator {
        Kind::Star | Kind::Slash | Kind::Percent => strength <= 2,
        _ => strength <= 1,
    }
}
