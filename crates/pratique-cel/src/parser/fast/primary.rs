//! Primary expressions: names, literals, lists, maps, structs, and expressions in parentheses.

use std::borrow::Cow;

use super::super::literal;
use super::super::token::{TokenKind, is_reserved};
use super::{FastReader, ReadOperand, ReadResult, UnsupportedText};
use crate::ast::{Expr, Literal, MapEntry, StructField};

impl FastReader<'_, '_, '_> {
    pub(super) fn primary(&mut self) -> ReadResult<ReadOperand> {
        match self.kind() {
            TokenKind::Identifier | TokenKind::Dot => self.named(),
            TokenKind::OpenParen => {
                self.take()?;
                let inner = self.expr()?;
                self.expect(TokenKind::CloseParen)?;
                Ok(inner)
            }
            TokenKind::OpenBracket => self.list(),
            TokenKind::OpenBrace => self.map(),
            _ => self.literal(),
        }
    }

    /// A name, the call of a function, or a struct.
    fn named(&mut self) -> ReadResult<ReadOperand> {
        let start = self.at;
        let rooted = self.take_if(TokenKind::Dot);
        let name = self.expect(TokenKind::Identifier)?;
        if let Some(brace) = self.brace_after_path() {
            return self.structure(start, brace);
        }
        let text = self.text_of(name);
        if is_reserved(text) {
            return Err(UnsupportedText);
        }
        let path = if rooted {
            Cow::Owned(format!(".{text}"))
        } else {
            Cow::Borrowed(text)
        };
        if self.kind() == TokenKind::OpenParen {
            return self.call(&path, None);
        }
        let ident = Expr::Ident(self.builder.name(&path));
        let id = self.builder.add(ident, name.offset);
        Ok(ReadOperand { id, height: 0 })
    }

    /// Where the `{` is that makes the name here, with further names after dots, that of a struct.
    fn brace_after_path(&self) -> Option<usize> {
        let mut ahead = 0;
        while self.kind_ahead(ahead) == TokenKind::Dot && self.kind_ahead(ahead + 1) == TokenKind::Identifier
        {
            ahead += 2;
        }
        (self.kind_ahead(ahead) == TokenKind::OpenBrace).then_some(self.at + ahead)
    }

    fn structure(&mut self, start: usize, brace: usize) -> ReadResult<ReadOperand> {
        let path = self.tokens.get(start..brace).unwrap_or_default();
        let type_name: String = path.iter().map(|token| token.slice(self.text)).collect();
        self.at = brace;
        let open = self.take()?;
        let (mut fields, mut height) = (Vec::new(), 0);
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::Comma) {
            let optional = self.take_if(TokenKind::Question);
            let name = self.take()?;
            let name = self.field_name(name)?.into();
            let offset = self.expect(TokenKind::Colon)?.offset;
            let value = self.expr()?;
            height = height.max(value.height);
            fields.push(StructField {
                offset,
                name,
                value: value.id,
                optional,
            });
            if !self.another(TokenKind::CloseBrace)? {
                break;
            }
        }
        self.close(TokenKind::CloseBrace)?;
        let type_name = type_name.into();
        let id = self.builder.add(Expr::Struct { type_name, fields }, open.offset);
        Ok(ReadOperand { id, height })
    }

    fn list(&mut self) -> ReadResult<ReadOperand> {
        let open = self.take()?;
        let (mut elements, mut optional, mut height) = (Vec::new(), Vec::new(), 0);
        while !matches!(self.kind(), TokenKind::CloseBracket | TokenKind::Comma) {
            if self.take_if(TokenKind::Question) {
                optional.push(elements.len() as u32);
            }
            let element = self.expr()?;
            elements.push(element.id);
            height = height.max(element.height);
            if !self.another(TokenKind::CloseBracket)? {
                break;
            }
        }
        self.close(TokenKind::CloseBracket)?;
        let id = self.builder.add(Expr::List { elements, optional }, open.offset);
        Ok(ReadOperand { id, height })
    }

    fn map(&mut self) -> ReadResult<ReadOperand> {
        let open = self.take()?;
        let (mut entries, mut height) = (Vec::new(), 0);
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::Comma) {
            let optional = self.take_if(TokenKind::Question);
            let key = self.expr()?;
            let offset = self.expect(TokenKind::Colon)?.offset;
            let value = self.expr()?;
            height = height.max(key.height).max(value.height);
            entries.push(MapEntry {
                offset,
                key: key.id,
                value: value.id,
                optional,
            });
            if !self.another(TokenKind::CloseBrace)? {
                break;
            }
        }
        self.close(TokenKind::CloseBrace)?;
        let id = self.builder.add(Expr::Map(entries), open.offset);
        Ok(ReadOperand { id, height })
    }

    /// Whether another element follows: takes the comma before it, but leaves one before the end.
    fn another(&mut self, close: TokenKind) -> ReadResult<bool> {
        match (self.kind(), self.kind_ahead(1)) {
            (TokenKind::Comma, after) if after == close => Ok(false),
            (TokenKind::Comma, TokenKind::Comma) => Err(UnsupportedText),
            (TokenKind::Comma, _) => {
                self.at += 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The end of a list, map or struct, with the comma that may stand before it.
    fn close(&mut self, close: TokenKind) -> ReadResult<()> {
        self.take_if(TokenKind::Comma);
        self.expect(close).map(drop)
    }

    fn literal(&mut self) -> ReadResult<ReadOperand> {
        let first = self.take()?;
        let negative = first.kind == TokenKind::Minus;
        let token = if negative { self.take()? } else { first };
        let text = self.text_of(token);
        let value = match token.kind {
            TokenKind::Int => literal::int(text, negative),
            TokenKind::Float => literal::double(text, negative),
            _ if negative => return Err(UnsupportedText),
            TokenKind::Uint => literal::uint(text),
            TokenKind::String => literal::string(text),
            TokenKind::Bytes => literal::bytes(text),
            TokenKind::True => Ok(Literal::Bool(true)),
            TokenKind::False => Ok(Literal::Bool(false)),
            TokenKind::Null => Ok(Literal::Null),
            _ => return Err(UnsupportedText),
        };
        let value = value.map_err(|_| UnsupportedText)?;
        let id = self.builder.add(Expr::Literal(value), first.offset);
        Ok(ReadOperand { id, height: 0 })
    }
}
