//! The rules of the grammar, written much as grammars are.

use super::super::token::Kind;
use super::grammar::{Choice, Label, RULES, Rule, Variant};

/// A part of a rule, as grammars are written.
pub(super) enum Part {
    Token(Vec<Kind>, Label),
    Rule(Rule, u8, Label),
    Become(Variant),
    Wrap(Variant),
    /// `(…)?`
    Maybe(Vec<Part>),
    /// `(…)*`
    Repeat(Choice, Vec<Part>),
    /// `(…)+`
    Once(Choice, Vec<Part>),
    /// `(…|…)`
    OneOf(Choice, Vec<Vec<Part>>),
}

fn token(kind: Kind, label: Label) -> Part {
    Part::Token(vec![kind], label)
}

fn rule(rule: Rule, label: Label) -> Part {
    Part::Rule(rule, 0, label)
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
pub(super) fn rules() -> [(Rule, Vec<Part>); RULES] {
    [
        (
            Rule::Start,
            vec![rule(Rule::Expr, Label::First), token(Kind::End, Label::None)],
        ),
        (
            Rule::Expr,
            vec![
                rule(Rule::Or, Label::First),
                Part::Maybe(vec![
                    token(Kind::Question, Label::Op),
                    rule(Rule::Or, Label::Next),
                    token(Kind::Colon, Label::None),
                    rule(Rule::Expr, Label::Last),
                ]),
            ],
        ),
        (Rule::Or, chain(Rule::And, Kind::Or, Label::Op, Label::Next)),
        (
            Rule::And,
            chain(Rule::Relation, Kind::And, Label::Op, Label::Next),
        ),
        (Rule::Relation, {
            let operation = operation(&RELATIONS, Rule::Relation, 2);
            vec![
                rule(Rule::Calc, Label::First),
                Part::Repeat(Choice::Operator, operation),
            ]
        }),
        (Rule::Calc, {
            let products = operation(&[Kind::Star, Kind::Slash, Kind::Percent], Rule::Calc, 3);
            let sums = operation(&[Kind::Minus, Kind::Plus], Rule::Calc, 2);
            let operations = vec![Part::OneOf(Choice::Alternative, vec![products, sums])];
            vec![
                rule(Rule::Unary, Label::First),
                Part::Repeat(Choice::Operator, operations),
            ]
        }),
        (
            Rule::Unary,
            vec![Part::OneOf(
                Choice::Sign,
                vec![
                    vec![
                        Part::Become(Variant::MemberExpr),
                        rule(Rule::Member, Label::First),
                    ],
                    signed(Variant::Not, Kind::Not, Choice::Optional),
                    signed(Variant::Negate, Kind::Minus, Choice::MoreSigns),
                ],
            )],
        ),
        (
            Rule::Member,
            vec![
                Part::Become(Variant::PrimaryExpr),
                rule(Rule::Primary, Label::First),
                Part::Repeat(Choice::Optional, vec![Part::OneOf(Choice::Suffix, suffixes())]),
            ],
        ),
        (Rule::Primary, vec![Part::OneOf(Choice::Primary, primaries())]),
        (
            Rule::ExprList,
            chain(Rule::Expr, Kind::Comma, Label::None, Label::First),
        ),
        (
            Rule::ListInit,
            elements(&|| vec![rule(Rule::OptExpr, Label::Key)]),
        ),
        (Rule::FieldInits, elements(&|| entry(Rule::OptField))),
        (Rule::MapInits, elements(&|| entry(Rule::OptExpr))),
        (
            Rule::OptField,
            vec![
                maybe(Kind::Question, Label::Optional),
                rule(Rule::EscapeIdent, Label::Id),
            ],
        ),
        (
            Rule::OptExpr,
            vec![
                maybe(Kind::Question, Label::Optional),
                rule(Rule::Expr, Label::First),
            ],
        ),
        (Rule::EscapeIdent, {
            let name = |kind| vec![Part::Become(Variant::Name), token(kind, Label::Id)];
            vec![Part::OneOf(
                Choice::Alternative,
                vec![name(Kind::Identifier), name(Kind::Quoted)],
            )]
        }),
        (Rule::Literal, vec![Part::OneOf(Choice::Number, literals())]),
    ]
}

fn maybe(kind: Kind, label: Label) -> Part {
    Part::Maybe(vec![token(kind, label)])
}

/// `operand (separator operand)*`
fn chain(operand: Rule, separator: Kind, separators: Label, further: Label) -> Vec<Part> {
    vec![
        rule(operand, Label::First),
        Part::Repeat(
            Choice::Optional,
            vec![token(separator, separators), rule(operand, further)],
        ),
    ]
}

/// The rest after the left operand.
fn operation(operators: &[Kind], operand: Rule, strength: u8) -> Vec<Part> {
    vec![
        Part::Wrap(Variant::Operation),
        Part::Token(operators.to_vec(), Label::Op),
        Part::Rule(operand, strength, Label::Next),
    ]
}

fn signed(variant: Variant, sign: Kind, choice: Choice) -> Vec<Part> {
    vec![
        Part::Become(variant),
        Part::Once(choice, vec![token(sign, Label::Op)]),
        rule(Rule::Member, Label::First),
    ]
}

fn suffixes() -> Vec<Vec<Part>> {
    vec![
        vec![
            Part::Wrap(Variant::Select),
            token(Kind::Dot, Label::Op),
            maybe(Kind::Question, Label::Optional),
            rule(Rule::EscapeIdent, Label::Id),
        ],
        vec![
            Part::Wrap(Variant::MemberCall),
            token(Kind::Dot, Label::Op),
            token(Kind::Identifier, Label::Id),
            token(Kind::OpenParen, Label::Open),
            Part::Maybe(vec![rule(Rule::ExprList, Label::Args)]),
            token(Kind::CloseParen, Label::None),
        ],
        vec![
            Part::Wrap(Variant::Index),
            token(Kind::OpenBracket, Label::Op),
            maybe(Kind::Question, Label::Optional),
            rule(Rule::Expr, Label::Next),
            token(Kind::CloseBracket, Label::None),
        ],
    ]
}

fn primaries() -> Vec<Vec<Part>> {
    vec![
        vec![
            Part::Become(Variant::Ident),
            maybe(Kind::Dot, Label::Prefix),
            token(Kind::Identifier, Label::Id),
        ],
        vec![
            Part::Become(Variant::GlobalCall),
            maybe(Kind::Dot, Label::Prefix),
            token(Kind::Identifier, Label::Id),
            token(Kind::OpenParen, Label::Op),
            Part::Maybe(vec![rule(Rule::ExprList, Label::Args)]),
            token(Kind::CloseParen, Label::None),
        ],
        vec![
            Part::Become(Variant::Nested),
            token(Kind::OpenParen, Label::None),
            rule(Rule::Expr, Label::First),
            token(Kind::CloseParen, Label::None),
        ],
        bracketed(
            Variant::List,
            Kind::OpenBracket,
            Rule::ListInit,
            Kind::CloseBracket,
        ),
        bracketed(Variant::Map, Kind::OpenBrace, Rule::MapInits, Kind::CloseBrace),
        structure(),
        vec![Part::Become(Variant::Constant), rule(Rule::Literal, Label::First)],
    ]
}

fn bracketed(variant: Variant, open: Kind, inner: Rule, close: Kind) -> Vec<Part> {
    vec![
        Part::Become(variant),
        token(open, Label::Op),
        Part::Maybe(vec![rule(inner, Label::Args)]),
        maybe(Kind::Comma, Label::None),
        token(close, Label::None),
    ]
}

fn structure() -> Vec<Part> {
    let further = vec![token(Kind::Dot, Label::None), token(Kind::Identifier, Label::Id)];
    let mut parts = bracketed(
        Variant::Struct,
        Kind::OpenBrace,
        Rule::FieldInits,
        Kind::CloseBrace,
    );
    let name = [
        maybe(Kind::Dot, Label::Prefix),
        token(Kind::Identifier, Label::Id),
        Part::Repeat(Choice::Optional, further),
    ];
    parts.splice(1..1, name);
    parts
}

/// `element (',' element)*`, where a last comma may follow that belongs to the rule above.
fn elements(element: &dyn Fn() -> Vec<Part>) -> Vec<Part> {
    let mut further = vec![token(Kind::Comma, Label::None)];
    further.extend(element());
    let mut parts = element();
    parts.push(Part::Repeat(Choice::MoreElements, further));
    parts
}

fn entry(key: Rule) -> Vec<Part> {
    vec![
        rule(key, Label::Key),
        token(Kind::Colon, Label::Op),
        rule(Rule::Expr, Label::Last),
    ]
}

fn literals() -> Vec<Vec<Part>> {
    let plain = |variant, kind| vec![Part::Become(variant), token(kind, Label::Id)];
    let signed = |variant, kind| {
        vec![
            Part::Become(variant),
            maybe(Kind::Minus, Label::Prefix),
            token(kind, Label::Id),
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
