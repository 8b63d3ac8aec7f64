//! The rules of the grammar, written much as grammars are.

use super::super::token::TokenKind;
use super::grammar::{GrammarRule, PartLabel, RULES, RuleVariant, WayChoice};

/// A part of a rule, as grammars are written.
pub(super) enum RulePart {
    Token(Vec<TokenKind>, PartLabel),
    Rule(GrammarRule, u8, PartLabel),
    Become(RuleVariant),
    Wrap(RuleVariant),
    /// `(…)?`
    Maybe(Vec<RulePart>),
    /// `(…)*`
    Repeat(WayChoice, Vec<RulePart>),
    /// `(…)+`
    Once(WayChoice, Vec<RulePart>),
    /// `(…|…)`
    OneOf(WayChoice, Vec<Vec<RulePart>>),
}

fn token(kind: TokenKind, label: PartLabel) -> RulePart {
    RulePart::Token(vec![kind], label)
}

fn rule(rule: GrammarRule, label: PartLabel) -> RulePart {
    RulePart::Rule(rule, 0, label)
}

/// The relations, all of one strength.
const RELATIONS: [TokenKind; 7] = [
    TokenKind::EqualTo,
    TokenKind::NotEqualTo,
    TokenKind::In,
    TokenKind::Less,
    TokenKind::LessEquals,
    TokenKind::GreaterEquals,
    TokenKind::Greater,
];

/// Every rule with its definition.
pub(super) fn rules() -> [(GrammarRule, Vec<RulePart>); RULES] {
    [
        (
            GrammarRule::Start,
            vec![
                rule(GrammarRule::Expr, PartLabel::First),
                token(TokenKind::End, PartLabel::None),
            ],
        ),
        (
            GrammarRule::Expr,
            vec![
                rule(GrammarRule::Or, PartLabel::First),
                RulePart::Maybe(vec![
                    token(TokenKind::Question, PartLabel::Op),
                    rule(GrammarRule::Or, PartLabel::Next),
                    token(TokenKind::Colon, PartLabel::None),
                    rule(GrammarRule::Expr, PartLabel::Last),
                ]),
            ],
        ),
        (
            GrammarRule::Or,
            chain(GrammarRule::And, TokenKind::Or, PartLabel::Op, PartLabel::Next),
        ),
        (
            GrammarRule::And,
            chain(
                GrammarRule::Relation,
                TokenKind::And,
                PartLabel::Op,
                PartLabel::Next,
            ),
        ),
        (GrammarRule::Relation, {
            let operation = operation(&RELATIONS, GrammarRule::Relation, 2);
            vec![
                rule(GrammarRule::Calc, PartLabel::First),
                RulePart::Repeat(WayChoice::Operator, operation),
            ]
        }),
        (GrammarRule::Calc, {
            let products = operation(
                &[TokenKind::Star, TokenKind::Slash, TokenKind::Percent],
                GrammarRule::Calc,
                3,
            );
            let sums = operation(&[TokenKind::Minus, TokenKind::Plus], GrammarRule::Calc, 2);
            let operations = vec![RulePart::OneOf(WayChoice::Alternative, vec![products, sums])];
            vec![
                rule(GrammarRule::Unary, PartLabel::First),
                RulePart::Repeat(WayChoice::Operator, operations),
            ]
        }),
        (
            GrammarRule::Unary,
            vec![RulePart::OneOf(
                WayChoice::Sign,
                vec![
                    vec![
                        RulePart::Become(RuleVariant::MemberExpr),
                        rule(GrammarRule::Member, PartLabel::First),
                    ],
                    signed(RuleVariant::Not, TokenKind::Not, WayChoice::Optional),
                    signed(RuleVariant::Negate, TokenKind::Minus, WayChoice::MoreSigns),
                ],
            )],
        ),
        (
            GrammarRule::Member,
            vec![
                RulePart::Become(RuleVariant::PrimaryExpr),
                rule(GrammarRule::Primary, PartLabel::First),
                RulePart::Repeat(
                    WayChoice::Optional,
                    vec![RulePart::OneOf(WayChoice::Suffix, suffixes())],
                ),
            ],
        ),
        (
            GrammarRule::Primary,
            vec![RulePart::OneOf(WayChoice::Primary, primaries())],
        ),
        (
            GrammarRule::ExprList,
            chain(
                GrammarRule::Expr,
                TokenKind::Comma,
                PartLabel::None,
                PartLabel::First,
            ),
        ),
        (
            GrammarRule::ListInit,
            elements(&|| vec![rule(GrammarRule::OptExpr, PartLabel::Key)]),
        ),
        (
            GrammarRule::FieldInits,
            elements(&|| entry(GrammarRule::OptField)),
        ),
        (GrammarRule::MapInits, elements(&|| entry(GrammarRule::OptExpr))),
        (
            GrammarRule::OptField,
            vec![
                maybe(TokenKind::Question, PartLabel::Optional),
                rule(GrammarRule::EscapeIdent, PartLabel::Id),
            ],
        ),
        (
            GrammarRule::OptExpr,
            vec![
                maybe(TokenKind::Question, PartLabel::Optional),
                rule(GrammarRule::Expr, PartLabel::First),
            ],
        ),
        (GrammarRule::EscapeIdent, {
            let name = |kind| vec![RulePart::Become(RuleVariant::Name), token(kind, PartLabel::Id)];
            vec![RulePart::OneOf(
                WayChoice::Alternative,
                vec![name(TokenKind::Identifier), name(TokenKind::Quoted)],
            )]
        }),
        (
            GrammarRule::Literal,
            vec![RulePart::OneOf(WayChoice::Number, literals())],
        ),
    ]
}

fn maybe(kind: TokenKind, label: PartLabel) -> RulePart {
    RulePart::Maybe(vec![token(kind, label)])
}

/// `operand (separator operand)*`
fn chain(
    operand: GrammarRule,
    separator: TokenKind,
    separators: PartLabel,
    further: PartLabel,
) -> Vec<RulePart> {
    vec![
        rule(operand, PartLabel::First),
        RulePart::Repeat(
            WayChoice::Optional,
            vec![token(separator, separators), rule(operand, further)],
        ),
    ]
}

/// The rest after the left operand.
fn operation(operators: &[TokenKind], operand: GrammarRule, strength: u8) -> Vec<RulePart> {
    vec![
        RulePart::Wrap(RuleVariant::Operation),
        RulePart::Token(operators.to_vec(), PartLabel::Op),
        RulePart::Rule(operand, strength, PartLabel::Next),
    ]
}

fn signed(variant: RuleVariant, sign: TokenKind, choice: WayChoice) -> Vec<RulePart> {
    vec![
        RulePart::Become(variant),
        RulePart::Once(choice, vec![token(sign, PartLabel::Op)]),
        rule(GrammarRule::Member, PartLabel::First),
    ]
}

fn suffixes() -> Vec<Vec<RulePart>> {
    vec![
        vec![
            RulePart::Wrap(RuleVariant::Select),
            token(TokenKind::Dot, PartLabel::Op),
            maybe(TokenKind::Question, PartLabel::Optional),
            rule(GrammarRule::EscapeIdent, PartLabel::Id),
        ],
        vec![
            RulePart::Wrap(RuleVariant::MemberCall),
            token(TokenKind::Dot, PartLabel::Op),
            token(TokenKind::Identifier, PartLabel::Id),
            token(TokenKind::OpenParen, PartLabel::Open),
            RulePart::Maybe(vec![rule(GrammarRule::ExprList, PartLabel::Args)]),
            token(TokenKind::CloseParen, PartLabel::None),
        ],
        vec![
            RulePart::Wrap(RuleVariant::Index),
            token(TokenKind::OpenBracket, PartLabel::Op),
            maybe(TokenKind::Question, PartLabel::Optional),
            rule(GrammarRule::Expr, PartLabel::Next),
            token(TokenKind::CloseBracket, PartLabel::None),
        ],
    ]
}

fn primaries() -> Vec<Vec<RulePart>> {
    vec![
        vec![
            RulePart::Become(RuleVariant::Ident),
            maybe(TokenKind::Dot, PartLabel::Prefix),
            token(TokenKind::Identifier, PartLabel::Id),
        ],
        vec![
            RulePart::Become(RuleVariant::GlobalCall),
            maybe(TokenKind::Dot, PartLabel::Prefix),
            token(TokenKind::Identifier, PartLabel::Id),
            token(TokenKind::OpenParen, PartLabel::Op),
            RulePart::Maybe(vec![rule(GrammarRule::ExprList, PartLabel::Args)]),
            token(TokenKind::CloseParen, PartLabel::None),
        ],
        vec![
            RulePart::Become(RuleVariant::Nested),
            token(TokenKind::OpenParen, PartLabel::None),
            rule(GrammarRule::Expr, PartLabel::First),
            token(TokenKind::CloseParen, PartLabel::None),
        ],
        bracketed(
            RuleVariant::List,
            TokenKind::OpenBracket,
            GrammarRule::ListInit,
            TokenKind::CloseBracket,
        ),
        bracketed(
            RuleVariant::Map,
            TokenKind::OpenBrace,
            GrammarRule::MapInits,
            TokenKind::CloseBrace,
        ),
        structure(),
        vec![
            RulePart::Become(RuleVariant::Constant),
            rule(GrammarRule::Literal, PartLabel::First),
        ],
    ]
}

fn bracketed(variant: RuleVariant, open: TokenKind, inner: GrammarRule, close: TokenKind) -> Vec<RulePart> {
    vec![
        RulePart::Become(variant),
        token(open, PartLabel::Op),
        RulePart::Maybe(vec![rule(inner, PartLabel::Args)]),
        maybe(TokenKind::Comma, PartLabel::None),
        token(close, PartLabel::None),
    ]
}

fn structure() -> Vec<RulePart> {
    let further = vec![
        token(TokenKind::Dot, PartLabel::None),
        token(TokenKind::Identifier, PartLabel::Id),
    ];
    let mut parts = bracketed(
        RuleVariant::Struct,
        TokenKind::OpenBrace,
        GrammarRule::FieldInits,
        TokenKind::CloseBrace,
    );
    let name = [
        maybe(TokenKind::Dot, PartLabel::Prefix),
        token(TokenKind::Identifier, PartLabel::Id),
        RulePart::Repeat(WayChoice::Optional, further),
    ];
    parts.splice(1..1, name);
    parts
}

/// `element (',' element)*`, where a last comma may follow that belongs to the rule above.
fn elements(element: &dyn Fn() -> Vec<RulePart>) -> Vec<RulePart> {
    let mut further = vec![token(TokenKind::Comma, PartLabel::None)];
    further.extend(element());
    let mut parts = element();
    parts.push(RulePart::Repeat(WayChoice::MoreElements, further));
    parts
}

fn entry(key: GrammarRule) -> Vec<RulePart> {
    vec![
        rule(key, PartLabel::Key),
        token(TokenKind::Colon, PartLabel::Op),
        rule(GrammarRule::Expr, PartLabel::Last),
    ]
}

fn literals() -> Vec<Vec<RulePart>> {
    let plain = |variant, kind| vec![RulePart::Become(variant), token(kind, PartLabel::Id)];
    let signed = |variant, kind| {
        vec![
            RulePart::Become(variant),
            maybe(TokenKind::Minus, PartLabel::Prefix),
            token(kind, PartLabel::Id),
        ]
    };
    vec![
        signed(RuleVariant::Int, TokenKind::Int),
        plain(RuleVariant::Uint, TokenKind::Uint),
        signed(RuleVariant::Double, TokenKind::Float),
        plain(RuleVariant::String, TokenKind::String),
        plain(RuleVariant::Bytes, TokenKind::Bytes),
        plain(RuleVariant::True, TokenKind::True),
        plain(RuleVariant::False, TokenKind::False),
        plain(RuleVariant::Null, TokenKind::Null),
    ]
}
