//! Tokens.

/// The kinds of tokens, numbered as the sets of expected tokens list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum TokenKind {
    End,
    EqualTo,
    NotEqualTo,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    And,
    Or,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    Dot,
    Comma,
    Minus,
    Not,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    Quoted,
}

/// A token of an expression, with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceToken {
    pub(super) kind: TokenKind,
    /// Where it starts, in code points.
    pub(super) offset: u32,
    /// Where it starts, in bytes.
    pub(super) start: u32,
    /// Where it ends, in bytes.
    pub(super) end: u32,
}

impl SourceToken {
    /// The text of the token in the source it was read from.
    pub(super) fn slice<'s>(&self, source: &'s str) -> &'s str {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

impl TokenKind {
    /// Every kind, in order, and how messages name it.
    const NAMED: [(TokenKind, &str); 36] = [
        (TokenKind::End, "<EOF>"),
        (TokenKind::EqualTo, "'=='"),
        (TokenKind::NotEqualTo, "'!='"),
        (TokenKind::In, "'in'"),
        (TokenKind::Less, "'<'"),
        (TokenKind::LessEquals, "'<='"),
        (TokenKind::GreaterEquals, "'>='"),
        (TokenKind::Greater, "'>'"),
        (TokenKind::And, "'&&'"),
        (TokenKind::Or, "'||'"),
        (TokenKind::OpenBracket, "'['"),
        (TokenKind::CloseBracket, "']'"),
        (TokenKind::OpenBrace, "'{'"),
        (TokenKind::CloseBrace, "'}'"),
        (TokenKind::OpenParen, "'('"),
        (TokenKind::CloseParen, "')'"),
        (TokenKind::Dot, "'.'"),
        (TokenKind::Comma, "','"),
        (TokenKind::Minus, "'-'"),
        (TokenKind::Not, "'!'"),
        (TokenKind::Question, "'?'"),
        (TokenKind::Colon, "':'"),
        (TokenKind::Plus, "'+'"),
        (TokenKind::Star, "'*'"),
        (TokenKind::Slash, "'/'"),
        (TokenKind::Percent, "'%'"),
        (TokenKind::True, "'true'"),
        (TokenKind::False, "'false'"),
        (TokenKind::Null, "'null'"),
        (TokenKind::Float, "NUM_FLOAT"),
        (TokenKind::Int, "NUM_INT"),
        (TokenKind::Uint, "NUM_UINT"),
        (TokenKind::String, "STRING"),
        (TokenKind::Bytes, "BYTES"),
        (TokenKind::Identifier, "IDENTIFIER"),
        (TokenKind::Quoted, "ESC_IDENTIFIER"),
    ];

    /// Every kind, in order.
    pub(super) fn iter() -> impl Iterator<Item = TokenKind> {
        Self::NAMED.into_iter().map(|(kind, _)| kind)
    }

    /// How messages name the kind.
    pub(super) fn display(self) -> &'static str {
        let named = Self::NAMED.into_iter().find(|(kind, _)| *kind == self);
        named.map_or("", |(_, name)| name)
    }

    /// The name of the operator between two operands.
    pub(super) fn operator(self) -> Option<&'static str> {
        Some(match self {
            TokenKind::EqualTo => "_==_",
            TokenKind::NotEqualTo => "_!=_",
            TokenKind::In => "@in",
            TokenKind::Less => "_<_",
            TokenKind::LessEquals => "_<=_",
            TokenKind::GreaterEquals => "_>=_",
            TokenKind::Greater => "_>_",
            TokenKind::And => "_&&_",
            TokenKind::Or => "_||_",
            TokenKind::Minus => "_-_",
            TokenKind::Plus => "_+_",
            TokenKind::Star => "_*_",
            TokenKind::Slash => "_/_",
            TokenKind::Percent => "_%_",
            _ => return None,
        })
    }
}

/// Names that may be fields, but neither variables nor functions.
pub(super) fn is_reserved(name: &str) -> bool {
    matches!(
        name,
        "as" | "break"
            | "const"
            | "continue"
            | "else"
            | "false"
            | "for"
            | "function"
            | "if"
            | "import"
            | "in"
            | "let"
            | "loop"
            | "package"
            | "namespace"
            | "null"
            | "return"
            | "true"
            | "var"
            | "void"
            | "while"
    )
}
