//! The rules of the grammar, written much as grammars are.

use super::super::token::Kind;
use super::grammar::{Choice, PartLabel, RULES, Rule, Variant};

/// A part of a rule, as grammars are written.
pub(super) enum RulePart {
    Token(Vec<Kind>, PartLabel),
    Rule(Rule, u8, PartLabel),
    Become(Variant),
    Wrap(Variant),
    /// `(…)?`
    Maybe(Vec<RulePart>),
    /// `(…)*`
    Repeat(Choice, Vec<RulePart>),
    /// `(…)+`
    Once(Choice, Vec<RulePart>),
    /// `(…|…)`
    OneOf(Choice, Vec<Vec<RulePart>>),
}

fn token(kind: Kind, label: PartLabel) -> RulePart {
    RulePart::Token(vec![kind], label)
}

fn rule(rule: Rule, label: PartLabel) -> RulePart {
    RulePart::Rule(rule, 0, label)
}

/// The relations, all of one strength.
const RELATIONS: [Kind; 7] = [
    Kind::EqualTo,
    Kind::NotEqualTo,
    Kind::In,
    Kind::Less,
    Kind::LessEquals,
    Kind::GreaterEquals,
    Kind::Greater,
];

/// Every rule with its definition.
pub(super) fn rules() -> [(Rule, Vec<RulePart>); RULES] {
    [
        (
            Rule::Start,
            vec![
                rule(Rule::Expr, PartLabel::First),
                token(Kind::End, PartLabel::None),
            ],
        ),
        (
            Rule::Expr,
            vec![
                rule(Rule::Or, PartLabel::First),
                RulePart::Maybe(vec![
                    token(Kind::Question, PartLabel::Op),
                    rule(Rule::Or, PartLabel::Next),
                    token(Kind::Colon, PartLabel::None),
                    rule(Rule::Expr, PartLabel::Last),
                ]),
            ],
        ),
        (
            Rule::Or,
            chain(Rule::And, Kind::Or, PartLabel::Op, PartLabel::Next),
        ),
        (
            Rule::And,
            chain(Rule::Relation, Kind::And, PartLabel::Op, PartLabel::Next),
        ),
        (Rule::Relation, {
            let operation = operation(&RELATIONS, Rule::Relation, 2);
            vec![
                rule(Rule::Calc, PartLabel::First),
                RulePart::Repeat(Choice::Operator, operation),
            ]
        }),
        (Rule::Calc, {
            let products = operation(&[Kind::Star, Kind::Slash, Kind::Percent], Rule::Calc, 3);
            let sums = operation(&[Kind::Minus, Kind::Plus], Rule::Calc, 2);
            let operations = vec![RulePart::OneOf(Choice::Alternative, vec![products, sums])];
            vec![
                rule(Rule::Unary, PartLabel::First),
                RulePart::Repeat(Choice::Operator, operations),
            ]
        }),
        (
            Rule::Unary,
            vec![RulePart::OneOf(
                Choice::Sign,
                vec![
                    vec![
                        RulePart::Become(Variant::MemberExpr),
                        rule(Rule::Member, PartLabel::First),
                    ],
                    signed(Variant::Not, Kind::Not, Choice::Optional),
                    signed(Variant::Negate, Kind::Minus, Choice::MoreSigns),
                ],
            )],
        ),
        (
            Rule::Member,
            vec![
                RulePart::Become(Variant::PrimaryExpr),
                rule(Rule::Primary, PartLabel::First),
                RulePart::Repeat(
                    Choice::Optional,
                    vec![RulePart::OneOf(Choice::Suffix, suffixes())],
                ),
            ],
        ),
        (Rule::Primary, vec![RulePart::OneOf(Choice::Primary, primaries())]),
        (
            Rule::ExprList,
            chain(Rule::Expr, Kind::Comma, PartLabel::None, PartLabel::First),
        ),
        (
            Rule::ListInit,
            elements(&|| vec![rule(Rule::OptExpr, PartLabel::Key)]),
        ),
        (Rule::FieldInits, elements(&|| entry(Rule::OptField))),
        (Rule::MapInits, elements(&|| entry(Rule::OptExpr))),
        (
            Rule::OptField,
            vec![
                maybe(Kind::Question, PartLabel::Optional),
                rule(Rule::EscapeIdent, PartLabel::Id),
            ],
        ),
        (
            Rule::OptExpr,
            vec![
                maybe(Kind::Question, PartLabel::Optional),
                rule(Rule::Expr, PartLabel::First),
            ],
        ),
        (Rule::EscapeIdent, {
            let name = |kind| vec![RulePart::Become(Variant::Name), token(kind, PartLabel::Id)];
            vec![RulePart::OneOf(
                Choice::Alternative,
                vec![name(Kind::Identifier), name(Kind::Quoted)],
            )]
        }),
        (Rule::Literal, vec![RulePart::OneOf(Choice::Number, literals())]),
    ]
}

fn maybe(kind: Kind, label: PartLabel) -> RulePart {
    RulePart::Maybe(vec![token(kind, label)])
}

/// `operand (separator operand)*`
fn chain(operand: Rule, separator: Kind, separators: PartLabel, further: PartLabel) -> Vec<RulePart> {
    vec![
        rule(operand, PartLabel::First),
        RulePart::Repeat(
            Choice::Optional,
            vec![token(separator, separators), rule(operand, further)],
        ),
    ]
}

/// The rest after the left operand.
fn operation(operators: &[Kind], operand: Rule, strength: u8) -> Vec<RulePart> {
    vec![
        RulePart::Wrap(Variant::Operation),
        RulePart::Token(operators.to_vec(), PartLabel::Op),
        RulePart::Rule(operand, strength, PartLabel::Next),
    ]
}

fn signed(variant: Variant, sign: Kind, choice: Choice) -> Vec<RulePart> {
    vec![
        RulePart::Become(variant),
        RulePart::Once(choice, vec![token(sign, PartLabel::Op)]),
        rule(Rule::Member, PartLabel::First),
    ]
}

fn suffixes() -> Vec<Vec<RulePart>> {
    vec![
        vec![
            RulePart::Wrap(Variant::Select),
            token(Kind::Dot, PartLabel::Op),
            maybe(Kind::Question, PartLabel::Optional),
            rule(Rule::EscapeIdent, PartLabel::Id),
        ],
        vec![
            RulePart::Wrap(Variant::MemberCall),
            token(Kind::Dot, PartLabel::Op),
            token(Kind::Identifier, PartLabel::Id),
            token(Kind::OpenParen, PartLabel::Open),
            RulePart::Maybe(vec![rule(Rule::ExprList, PartLabel::Args)]),
            token(Kind::CloseParen, PartLabel::None),
        ],
        vec![
            RulePart::Wrap(Variant::Index),
            token(Kind::OpenBracket, PartLabel::Op),
            maybe(Kind::Question, PartLabel::Optional),
            rule(Rule::Expr, PartLabel::Next),
            token(Kind::CloseBracket, PartLabel::None),
        ],
    ]
}

fn primaries() -> Vec<Vec<RulePart>> {
    vec![
        vec![
            RulePart::Become(Variant::Ident),
            maybe(Kind::Dot, PartLabel::Prefix),
            token(Kind::Identifier, PartLabel::Id),
        ],
        vec![
            RulePart::Become(Variant::GlobalCall),
            maybe(Kind::Dot, PartLabel::Prefix),
            token(Kind::Identifier, PartLabel::Id),
            token(Kind::OpenParen, PartLabel::Op),
            RulePart::Maybe(vec![rule(Rule::ExprList, PartLabel::Args)]),
            token(Kind::CloseParen, PartLabel::None),
        ],
        vec![
            RulePart::Become(Variant::Nested),
            token(Kind::OpenParen, PartLabel::None),
            rule(Rule::Expr, PartLabel::First),
            token(Kind::CloseParen, PartLabel::None),
        ],
        bracketed(
            Variant::List,
            Kind::OpenBracket,
            Rule::ListInit,
            Kind::CloseBracket,
        ),
        bracketed(Variant::Map, Kind::OpenBrace, Rule::MapInits, Kind::CloseBrace),
        structure(),
        vec![
            RulePart::Become(Variant::Constant),
            rule(Rule::Literal, PartLabel::First),
        ],
    ]
}

fn bracketed(variant: Variant, open: Kind, inner: Rule, close: Kind) -> Vec<RulePart> {
    vec![
        RulePart::Become(variant),
        token(open, PartLabel::Op),
        RulePart::Maybe(vec![rule(inner, PartLabel::Args)]),
        maybe(Kind::Comma, PartLabel::None),
        token(close, PartLabel::None),
    ]
}

fn structure() -> Vec<RulePart> {
    let further = vec![
        token(Kind::Dot, PartLabel::None),
        token(Kind::Identifier, PartLabel::Id),
    ];
    let mut parts = bracketed(
        Variant::Struct,
        Kind::OpenBrace,
        Rule::FieldInits,
        Kind::CloseBrace,
    );
    let name = [
        maybe(Kind::Dot, PartLabel::Prefix),
        token(Kind::Identifier, PartLabel::Id),
        RulePart::Repeat(Choice::Optional, further),
    ];
    parts.splice(1..1, name);
    parts
}

/// `element (',' element)*`, where a last comma may follow that belongs to the rule above.
fn elements(element: &dyn Fn() -> Vec<RulePart>) -> Vec<RulePart> {
    let mut further = vec![token(Kind::Comma, PartLabel::None)];
    further.extend(element());
    let mut parts = element();
    parts.push(RulePart::Repeat(Choice::MoreElements, further));
    parts
}

fn entry(key: Rule) -> Vec<RulePart> {
    vec![
        rule(key, PartLabel::Key),
        token(Kind::Colon, PartLabel::Op),
        rule(Rule::Expr, PartLabel::Last),
    ]
}

fn literals() -> Vec<Vec<RulePart>> {
    let plain = |variant, kind| vec![RulePart::Become(variant), token(kind, PartLabel::Id)];
    let signed = |variant, kind| {
        vec![
            RulePart::Become(variant),
            maybe(Kind::Minus, PartLabel::Prefix),
            token(kind, PartLabel::Id),
        ]
    };
    vec![
        signed(Variant::Int, Kind::Int),
        plain(Variant::Uint, Kind::Uint),
        signed(Variant::Double, Kind::Float),
        plain(Variant::String, Kind::String),
        plain(Variant::Bytes, Kind::Bytes),
        plain(Variant::True, Kind::True),
        plain(Variant::False, Kind::False),
        plain(Variant::Null, Kind::Null),
    ]
}
