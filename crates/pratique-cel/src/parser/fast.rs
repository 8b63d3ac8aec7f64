//! The fast parser: recursive descent that builds the syntax tree while it reads.
//!
//! It stops at the first error, and where nesting comes near the limits. The [diagnostic](super::diagnostic) parser then
//! parses the expression again, and reports the errors.

mod primary;

use super::builder::AstBuilder;
use super::lexer::{LexedText, TokenLexer};
use super::limits::MOST_DEPTH;
use super::token::{SourceToken, TokenKind};
use crate::ast::{Expr, ExprId, Literal};

/// The depth to which this parser follows nested expressions. No rule of the grammar nests more than three times as deep as
/// expressions do, so that what is read here is within the limit for every rule; and the stack stays small.
const DEEPEST: u32 = 80;

/// The text has an error, or nests too deep for this parser.
#[derive(Debug)]
pub(super) struct UnsupportedText;

type ReadResult<T> = Result<T, UnsupportedText>;

/// An expression that was read, and how deep its chains of operators, selections and calls are.
#[derive(Clone, Copy)]
struct ReadOperand {
    id: ExprId,
    height: u32,
}

/// Reads a text.
pub(super) fn read(text: &str, builder: &mut AstBuilder<'_>) -> ReadResult<ExprId> {
    let mut reader = FastReader {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        builder,
    };
    let root = reader.expr()?;
    reader.expect(TokenKind::End)?;
    if root.height > MOST_DEPTH || reader.builder.is_full() {
        return Err(UnsupportedText);
    }
    Ok(root.id)
}

fn tokens(text: &str) -> ReadResult<Vec<SourceToken>> {
    let mut lexer = TokenLexer::new(text);
    let mut tokens = Vec::with_capacity(text.len() / 3 + 2);
    loop {
        match lexer.next() {
            LexedText::Token(token) => {
                tokens.push(token);
                if token.kind == TokenKind::End {
                    return Ok(tokens);
                }
            }
            LexedText::Unknown(_) => return Err(UnsupportedText),
        }
    }
}

struct FastReader<'s, 'b, 'm> {
    text: &'s str,
    tokens: Vec<SourceToken>,
    at: usize,
    depth: u32,
    builder: &'b mut AstBuilder<'m>,
}

impl<'s> FastReader<'s, '_, '_> {
    fn kind_ahead(&self, ahead: usize) -> TokenKind {
        self.tokens
            .get(self.at + ahead)
            .map_or(TokenKind::End, |token| token.kind)
    }

    fn kind(&self) -> TokenKind {
        self.kind_ahead(0)
    }

    fn take(&mut self) -> ReadResult<SourceToken> {
        let token = self.tokens.get(self.at).copied().ok_or(UnsupportedText)?;
        self.at += 1;
        Ok(token)
    }

    fn take_if(&mut self, kind: TokenKind) -> bool {
        let is_kind = self.kind() == kind;
        self.at += usize::from(is_kind);
        is_kind
    }

    fn expect(&mut self, kind: TokenKind) -> ReadResult<SourceToken> {
        match self.take()? {
            token if token.kind == kind => Ok(token),
            _ => Err(UnsupportedText),
        }
    }

    fn text_of(&self, token: SourceToken) -> &'s str {
        token.slice(self.text)
    }

    /// `condition ? a : b`
    fn expr(&mut self) -> ReadResult<ReadOperand> {
        if self.depth >= DEEPEST {
            return Err(UnsupportedText);
        }
        self.depth += 1;
        let mut result = self.either(TokenKind::Or, "_||_")?;
        if self.kind() == TokenKind::Question {
            let operator = self.take()?;
            let then = self.either(TokenKind::Or, "_||_")?;
            self.expect(TokenKind::Colon)?;
            let otherwise = self.expr()?;
            let args = vec![result.id, then.id, otherwise.id];
            result = ReadOperand {
                id: self.builder.operation("_?_:_", args, operator.offset),
                height: 1 + result.height.max(then.height).max(otherwise.height),
            };
        }
        self.depth -= 1;
        Ok(result)
    }

    /// `a || b || c`, and below it `a && b && c`.
    fn either(&mut self, kind: TokenKind, operator: &'static str) -> ReadResult<ReadOperand> {
        let first = self.term(kind)?;
        if self.kind() != kind {
            return Ok(first);
        }
        let (mut terms, mut offsets, mut height) = (vec![first.id], Vec::new(), first.height);
        while self.kind() == kind {
            offsets.push(self.take()?.offset);
            let next = self.term(kind)?;
            terms.push(next.id);
            height = height.max(next.height);
        }
        let id = self.builder.balanced(operator, &terms, &offsets);
        Ok(ReadOperand { id, height })
    }

    fn term(&mut self, kind: TokenKind) -> ReadResult<ReadOperand> {
        match kind {
            TokenKind::Or => self.either(TokenKind::And, "_&&_"),
            _ => self.binary(0),
        }
    }

    /// Relations, sums and products, from the operators that bind at least as strongly as `strength`.
    fn binary(&mut self, strength: u8) -> ReadResult<ReadOperand> {
        let mut left = self.unary()?;
        loop {
            let kind = self.kind();
            let precedence = match kind {
                TokenKind::Star | TokenKind::Slash | TokenKind::Percent => 3,
                TokenKind::Plus | TokenKind::Minus => 2,
                _ if (TokenKind::EqualTo..=TokenKind::Greater).contains(&kind) => 1,
                _ => return Ok(left),
            };
            let Some(operator) = kind.operator().filter(|_| precedence >= strength) else {
                return Ok(left);
            };
            let offset = self.take()?.offset;
            let right = self.binary(precedence + 1)?;
            left = ReadOperand {
                id: self.builder.operation(operator, vec![left.id, right.id], offset),
                height: 1 + left.height.max(right.height),
            };
        }
    }

    /// `!a`, `-a`: an even number of signs is none.
    fn unary(&mut self) -> ReadResult<ReadOperand> {
        let sign = self.kind();
        let operator = match sign {
            TokenKind::Not => "!_",
            TokenKind::Minus if matches!(self.kind_ahead(1), TokenKind::Int | TokenKind::Float) => {
                return self.member();
            }
            TokenKind::Minus => "-_",
            _ => return self.member(),
        };
        let offset = self.take()?.offset;
        let mut odd = true;
        while self.take_if(sign) {
            odd = !odd;
        }
        let operand = self.member()?;
        if !odd {
            return Ok(operand);
        }
        Ok(ReadOperand {
            id: self.builder.operation(operator, vec![operand.id], offset),
            height: operand.height,
        })
    }

    /// Selections, calls and indices.
    fn member(&mut self) -> ReadResult<ReadOperand> {
        let mut operand = self.primary()?;
        loop {
            operand = match self.kind() {
                TokenKind::Dot => self.after_dot(operand)?,
                TokenKind::OpenBracket => self.index(operand)?,
                _ => return Ok(operand),
            };
            if operand.height > MOST_DEPTH {
                return Err(UnsupportedText);
            }
        }
    }

    fn after_dot(&mut self, operand: ReadOperand) -> ReadResult<ReadOperand> {
        let dot = self.take()?;
        let optional = self.take_if(TokenKind::Question);
        let name = self.take()?;
        if self.kind() == TokenKind::OpenParen && name.kind == TokenKind::Identifier && !optional {
            return self.call(self.text_of(name), Some(operand));
        }
        let field = self.field_name(name)?;
        let height = operand.height + 1;
        let id = if optional {
            let field = self
                .builder
                .add(Expr::Literal(Literal::String(field.into())), name.offset);
            self.builder
                .operation("_?._", vec![operand.id, field], dot.offset)
        } else {
            let select = Expr::Select {
                operand: operand.id,
                field: self.builder.name(field),
                test_only: false,
            };
            self.builder.add(select, dot.offset)
        };
        Ok(ReadOperand { id, height })
    }

    fn field_name(&self, token: SourceToken) -> ReadResult<&'s str> {
        let text = self.text_of(token);
        match token.kind {
            TokenKind::Identifier => Ok(text),
            TokenKind::Quoted if !self.builder.refuses_quoted_names => Ok(text.trim_matches('`')),
            _ => Err(UnsupportedText),
        }
    }

    /// A call, from its parenthesis on.
    fn call(&mut self, name: &str, target: Option<ReadOperand>) -> ReadResult<ReadOperand> {
        let open = self.expect(TokenKind::OpenParen)?;
        let mut height = target.map_or(0, |operand| operand.height);
        let mut args = Vec::new();
        if self.kind() != TokenKind::CloseParen {
            loop {
                let argument = self.expr()?;
                args.push(argument.id);
                height = height.max(argument.height);
                if !self.take_if(TokenKind::Comma) {
                    break;
                }
            }
        }
        self.expect(TokenKind::CloseParen)?;
        let made = self
            .builder
            .call(name, target.map(|operand| operand.id), args, open.offset);
        Ok(ReadOperand {
            id: made.map_err(|_| UnsupportedText)?,
            height: height + u32::from(target.is_some()),
        })
    }

    fn index(&mut self, operand: ReadOperand) -> ReadResult<ReadOperand> {
        let open = self.take()?;
        let operator = if self.take_if(TokenKind::Question) {
            "_[?_]"
        } else {
            "_[_]"
        };
        let index = self.expr()?;
        self.expect(TokenKind::CloseBracket)?;
        Ok(ReadOperand {
            id: self
                .builder
                .operation(operator, vec![operand.id, index.id], open.offset),
            height: 1 + operand.height.max(index.height),
        })
    }
}
