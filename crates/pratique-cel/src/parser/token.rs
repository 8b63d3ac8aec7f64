//! Tokens.

/// The kinds of tokens, numbered as the sets of expected tokens list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(super) enum Kind {
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
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Where it starts, in code points.
    pub(super) offset: u32,
    /// Where it starts, in bytes.
    pub(super) start: u32,
    /// Where it ends, in bytes.
    pub(super) end: u32,
}

impl Token {
    /// The text of the token in the source it was read from.
    pub(super) fn slice<'s>(&self, source: &'s str) -> &'s str {
        source
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

impl Kind {
    /// Every kind, in order, and how messages name it.
    const NAMED: [(Kind, &str); 36] = [
        (Kind::End, "<EOF>"),
        (Kind::EqualTo, "'=='"),
        (Kind::NotEqualTo, "'!='"),
        (Kind::In, "'in'"),
        (Kind::Less, "'<'"),
        (Kind::LessEquals, "'<='"),
        (Kind::GreaterEquals, "'>='"),
        (Kind::Greater, "'>'"),
        (Kind::And, "'&&'"),
        (Kind::Or, "'||'"),
        (Kind::OpenBracket, "'['"),
        (Kind::CloseBracket, "']'"),
        (Kind::OpenBrace, "'{'"),
        (Kind::CloseBrace, "'}'"),
        (Kind::OpenParen, "'('"),
        (Kind::CloseParen, "')'"),
        (Kind::Dot, "'.'"),
        (Kind::Comma, "','"),
        (Kind::Minus, "'-'"),
        (Kind::Not, "'!'"),
        (Kind::Question, "'?'"),
        (Kind::Colon, "':'"),
        (Kind::Plus, "'+'"),
        (Kind::Star, "'*'"),
        (Kind::Slash, "'/'"),
        (Kind::Percent, "'%'"),
        (Kind::True, "'true'"),
        (Kind::False, "'false'"),
        (Kind::Null, "'null'"),
        (Kind::Float, "NUM_FLOAT"),
        (Kind::Int, "NUM_INT"),
        (Kind::Uint, "NUM_UINT"),
        (Kind::String, "STRING"),
        (Kind::Bytes, "BYTES"),
        (Kind::Identifier, "IDENTIFIER"),
        (Kind::Quoted, "ESC_IDENTIFIER"),
    ];

    /// Every kind, in order.
    pub(super) fn iter() -> impl Iterator<Item = Kind> {
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
            Kind::EqualTo => "_==_",
            Kind::NotEqualTo => "_!=_",
            Kind::In => "@in",
            Kind::Less => "_<_",
            Kind::LessEquals => "_<=_",
            Kind::GreaterEquals => "_>=_",
            Kind::Greater => "_>_",
            Kind::And => "_&&_",
            Kind::Or => "_||_",
            Kind::Minus => "_-_",
            Kind::Plus => "_+_",
            Kind::Star => "_*_",
            Kind::Slash => "_/_",
            Kind::Percent => "_%_",
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
