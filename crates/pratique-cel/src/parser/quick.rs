//! The quick way through an expression: recursive descent that builds the tree as it reads.
//!
//! It gives up at the first sign of a fault, and where nesting comes near the limits: the
//! [thorough](super::thorough) way then reads the expression anew and says what is wrong with it.

use std::borrow::Cow;

use super::builder::Builder;
use super::lexer::{Lexed, Lexer};
use super::token::{Kind, Token, is_reserved};
use super::{MOST_DEPTH, literal};
use crate::ast::{Expr, ExprId, Literal, MapEntry, StructField};

/// How deep expressions may nest here. No rule of the grammar nests more than three times as deep as
/// expressions do, so that what is read here is within the limit for every rule; and the stack stays small.
const DEEPEST: u32 = 80;

/// A way to say: this text needs the thorough way.
#[derive(Debug)]
pub(super) struct GivenUp;

type Read<T> = Result<T, GivenUp>;

/// An expression that was read, and how deep its chains of operators, selections and calls are.
#[derive(Clone, Copy)]
struct Operand {
    id: ExprId,
    height: u32,
}

/// Reads a text.
pub(super) fn read(text: &str, builder: &mut Builder<'_>) -> Read<ExprId> {
    let mut reader = Reader {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        builder,
    };
    let root = reader.expr()?;
    reader.expect(Kind::End)?;
    if root.height > MOST_DEPTH || reader.builder.is_full() {
        return Err(GivenUp);
    }
    Ok(root.id)
}

fn tokens(text: &str) -> Read<Vec<Token>> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::with_capacity(text.len() / 3 + 2);
    loop {
        match lexer.next() {
            Lexed::Token(token) => {
                tokens.push(token);
                if token.kind == Kind::End {
                    return Ok(tokens);
                }
            }
            Lexed::Unknown(_) => return Err(GivenUp),
        }
    }
}

struct Reader<'s, 'b, 'm> {
    text: &'s str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    builder: &'b mut Builder<'m>,
}

impl<'s> Reader<'s, '_, '_> {
    fn kind_ahead(&self, ahead: usize) -> Kind {
        self.tokens
            .get(self.at + ahead)
            .map_or(Kind::End, |token| token.kind)
    }

    fn kind(&self) -> Kind {
        self.kind_ahead(0)
    }

    fn take(&mut self) -> Read<Token> {
        let token = self.tokens.get(self.at).copied().ok_or(GivenUp)?;
        self.at += 1;
        Ok(token)
    }

    fn take_if(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, kind: Kind) -> Read<Token> {
        match self.take()? {
            token if token.kind == kind => Ok(token),
            _ => Err(GivenUp),
        }
    }

    fn text_of(&self, token: Token) -> &'s str {
        token.text(self.text)
    }

    /// `condition ? a : b`
    fn expr(&mut self) -> Read<Operand> {
        if self.depth >= DEEPEST {
            return Err(GivenUp);
        }
        self.depth += 1;
        let mut result = self.either(Kind::Or, "_||_")?;
        if self.kind() == Kind::Question {
            let operator = self.take()?;
            let then = self.either(Kind::Or, "_||_")?;
            self.expect(Kind::Colon)?;
            let otherwise = self.expr()?;
            let args = vec![result.id, then.id, otherwise.id];
            result = Operand {
                id: self.builder.operation("_?_:_", args, operator.offset),
                height: 1 + result.height.max(then.height).max(otherwise.height),
            };
        }
        self.depth -= 1;
        Ok(result)
    }

    /// `a || b || c`, and below it `a && b && c`.
    fn either(&mut self, kind: Kind, operator: &'static str) -> Read<Operand> {
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
        Ok(Operand { id, height })
    }

    fn term(&mut self, kind: Kind) -> Read<Operand> {
        match kind {
            Kind::Or => self.either(Kind::And, "_&&_"),
            _ => self.binary(0),
        }
    }

    /// Relations, sums and products, from the operators that bind at least as strongly as `strength`.
    fn binary(&mut self, strength: u8) -> Read<Operand> {
        let mut left = self.unary()?;
        loop {
            let kind = self.kind();
            let own = match kind {
                Kind::Star | Kind::Slash | Kind::Percent => 3,
                Kind::Plus | Kind::Minus => 2,
                _ if (Kind::EqualTo..=Kind::Greater).contains(&kind) => 1,
                _ => return Ok(left),
            };
            let Some(operator) = kind.operator().filter(|_| own >= strength) else {
                return Ok(left);
            };
            let offset = self.take()?.offset;
            let right = self.binary(own + 1)?;
            left = Operand {
                id: self.builder.operation(operator, vec![left.id, right.id], offset),
                height: 1 + left.height.max(right.height),
            };
        }
    }

    /// `!a`, `-a`: an even number of signs is none.
    fn unary(&mut self) -> Read<Operand> {
        let sign = self.kind();
        let operator = match sign {
            Kind::Not => "!_",
            Kind::Minus if matches!(self.kind_ahead(1), Kind::Int | Kind::Float) => return self.member(),
            Kind::Minus => "-_",
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
        Ok(Operand {
            id: self.builder.operation(operator, vec![operand.id], offset),
            height: operand.height,
        })
    }

    /// Selections, calls and indices.
    fn member(&mut self) -> Read<Operand> {
        let mut operand = self.primary()?;
        loop {
            operand = match self.kind() {
                Kind::Dot => self.after_dot(operand)?,
                Kind::OpenBracket => self.index(operand)?,
                _ => return Ok(operand),
            };
            if operand.height > MOST_DEPTH {
                return Err(GivenUp);
            }
        }
    }

    fn after_dot(&mut self, operand: Operand) -> Read<Operand> {
        let dot = self.take()?;
        let optional = self.take_if(Kind::Question);
        let name = self.take()?;
        if self.kind() == Kind::OpenParen && name.kind == Kind::Identifier && !optional {
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
                field: field.into(),
                test_only: false,
            };
            self.builder.add(select, dot.offset)
        };
        Ok(Operand { id, height })
    }

    fn field_name(&self, token: Token) -> Read<&'s str> {
        let text = self.text_of(token);
        match token.kind {
            Kind::Identifier => Ok(text),
            Kind::Quoted => Ok(text.trim_matches('`')),
            _ => Err(GivenUp),
        }
    }

    /// A call, from its parenthesis on.
    fn call(&mut self, name: &str, target: Option<Operand>) -> Read<Operand> {
        let open = self.expect(Kind::OpenParen)?;
        let mut height = target.map_or(0, |own| own.height);
        let mut args = Vec::new();
        if self.kind() != Kind::CloseParen {
            loop {
                let argument = self.expr()?;
                args.push(argument.id);
                height = height.max(argument.height);
                if !self.take_if(Kind::Comma) {
                    break;
                }
            }
        }
        self.expect(Kind::CloseParen)?;
        let made = self
            .builder
            .call(name, target.map(|own| own.id), args, open.offset);
        Ok(Operand {
            id: made.map_err(|_| GivenUp)?,
            height: height + u32::from(target.is_some()),
        })
    }

    fn index(&mut self, operand: Operand) -> Read<Operand> {
        let open = self.take()?;
        let operator = match self.take_if(Kind::Question) {
            true => "_[?_]",
            false => "_[_]",
        };
        let index = self.expr()?;
        self.expect(Kind::CloseBracket)?;
        Ok(Operand {
            id: self
                .builder
                .operation(operator, vec![operand.id, index.id], open.offset),
            height: 1 + operand.height.max(index.height),
        })
    }

    fn primary(&mut self) -> Read<Operand> {
        match self.kind() {
            Kind::Identifier | Kind::Dot => self.named(),
            Kind::OpenParen => {
                self.take()?;
                let inner = self.expr()?;
                self.expect(Kind::CloseParen)?;
                Ok(inner)
            }
            Kind::OpenBracket => self.list(),
            Kind::OpenBrace => self.map(),
            _ => self.literal(),
        }
    }

    /// A name, the call of a function, or a struct.
    fn named(&mut self) -> Read<Operand> {
        let start = self.at;
        let rooted = self.take_if(Kind::Dot);
        let name = self.expect(Kind::Identifier)?;
        if let Some(brace) = self.brace_after_path() {
            return self.structure(start, brace);
        }
        let text = self.text_of(name);
        if is_reserved(text) {
            return Err(GivenUp);
        }
        let path = match rooted {
            true => Cow::Owned(format!(".{text}")),
            false => Cow::Borrowed(text),
        };
        if self.kind() == Kind::OpenParen {
            return self.call(&path, None);
        }
        let id = self.builder.add(Expr::Ident(path.into()), name.offset);
        Ok(Operand { id, height: 0 })
    }

    /// Where the `{` is that makes the name here, with further names after dots, that of a struct.
    fn brace_after_path(&self) -> Option<usize> {
        let mut ahead = 0;
        while self.kind_ahead(ahead) == Kind::Dot && self.kind_ahead(ahead + 1) == Kind::Identifier {
            ahead += 2;
        }
        (self.kind_ahead(ahead) == Kind::OpenBrace).then_some(self.at + ahead)
    }

    fn structure(&mut self, start: usize, brace: usize) -> Read<Operand> {
        let path = self.tokens.get(start..brace).unwrap_or_default();
        let type_name: String = path.iter().map(|token| token.text(self.text)).collect();
        self.at = brace;
        let open = self.take()?;
        let (mut fields, mut height) = (Vec::new(), 0);
        while !matches!(self.kind(), Kind::CloseBrace | Kind::Comma) {
            let optional = self.take_if(Kind::Question);
            let name = self.take()?;
            let name = self.field_name(name)?.into();
            let offset = self.expect(Kind::Colon)?.offset;
            let value = self.expr()?;
            height = height.max(value.height);
            fields.push(StructField {
                offset,
                name,
                value: value.id,
                optional,
            });
            if !self.another(Kind::CloseBrace)? {
                break;
            }
        }
        self.close(Kind::CloseBrace)?;
        let type_name = type_name.into();
        let id = self.builder.add(Expr::Struct { type_name, fields }, open.offset);
        Ok(Operand { id, height })
    }

    fn list(&mut self) -> Read<Operand> {
        let open = self.take()?;
        let (mut elements, mut optional, mut height) = (Vec::new(), Vec::new(), 0);
        while !matches!(self.kind(), Kind::CloseBracket | Kind::Comma) {
            if self.take_if(Kind::Question) {
                optional.push(elements.len() as u32);
            }
            let element = self.expr()?;
            elements.push(element.id);
            height = height.max(element.height);
            if !self.another(Kind::CloseBracket)? {
                break;
            }
        }
        self.close(Kind::CloseBracket)?;
        let id = self.builder.add(Expr::List { elements, optional }, open.offset);
        Ok(Operand { id, height })
    }

    fn map(&mut self) -> Read<Operand> {
        let open = self.take()?;
        let (mut entries, mut height) = (Vec::new(), 0);
        while !matches!(self.kind(), Kind::CloseBrace | Kind::Comma) {
            let optional = self.take_if(Kind::Question);
            let key = self.expr()?;
            let offset = self.expect(Kind::Colon)?.offset;
            let value = self.expr()?;
            height = height.max(key.height).max(value.height);
            entries.push(MapEntry {
                offset,
                key: key.id,
                value: value.id,
                optional,
            });
            if !self.another(Kind::CloseBrace)? {
                break;
            }
        }
        self.close(Kind::CloseBrace)?;
        let id = self.builder.add(Expr::Map(entries), open.offset);
        Ok(Operand { id, height })
    }

    /// Whether another element follows: takes the comma before it, but leaves one before the end.
    fn another(&mut self, close: Kind) -> Read<bool> {
        match (self.kind(), self.kind_ahead(1)) {
            (Kind::Comma, after) if after == close => Ok(false),
            (Kind::Comma, Kind::Comma) => Err(GivenUp),
            (Kind::Comma, _) => {
                self.at += 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The end of a list, map or struct, with the comma that may stand before it.
    fn close(&mut self, close: Kind) -> Read<()> {
        self.take_if(Kind::Comma);
        self.expect(close).map(drop)
    }

    fn literal(&mut self) -> Read<Operand> {
        let first = self.take()?;
        let negative = first.kind == Kind::Minus;
        let token = if negative { self.take()? } else { first };
        let text = self.text_of(token);
        let value = match token.kind {
            Kind::Int => literal::int(text, negative),
            Kind::Float => literal::double(text, negative),
            _ if negative => return Err(GivenUp),
            Kind::Uint => literal::uint(text),
            Kind::String => literal::string(text),
            Kind::Bytes => literal::bytes(text),
            Kind::True => Ok(Literal::Bool(true)),
            Kind::False => Ok(Literal::Bool(false)),
            Kind::Null => Ok(Literal::Null),
            _ => return Err(GivenUp),
        };
        let value = value.map_err(|_| GivenUp)?;
        let id = self.builder.add(Expr::Literal(value), first.offset);
        Ok(Operand { id, height: 0 })
    }
}
