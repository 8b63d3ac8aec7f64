//! The grammar as a network of steps, from which both the reading and the expected tokens of messages follow.

use std::sync::LazyLock;

use super::super::token::TokenKind;
use super::rules::{RulePart, rules};

/// The rules of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrammarRule {
    Start,
    Expr,
    Or,
    And,
    Relation,
    Calc,
    Unary,
    Member,
    Primary,
    ExprList,
    ListInit,
    FieldInits,
    OptField,
    MapInits,
    EscapeIdent,
    OptExpr,
    Literal,
}

/// How many rules there are.
pub(super) const RULES: usize = GrammarRule::Literal as usize + 1;

/// Which of a rule's alternatives a node of the parse tree is; `Plain` until one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleVariant {
    Plain,
    Operation,
    MemberExpr,
    Not,
    Negate,
    PrimaryExpr,
    Select,
    MemberCall,
    Index,
    Ident,
    GlobalCall,
    Nested,
    List,
    Map,
    Struct,
    Constant,
    Name,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    True,
    False,
    Null,
}

/// The role of a part of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartLabel {
    /// Punctuation.
    None,
    /// The operator or bracket at which the node is placed; all of them in chains.
    Op,
    /// The sole or first operand.
    First,
    /// The second operand, or all further ones in chains.
    Next,
    /// The last operand of three, the values of entries.
    Last,
    /// `?`
    Optional,
    /// A name.
    Id,
    /// The parenthesis of a call on a target.
    Open,
    /// Arguments, elements or entries.
    Args,
    /// A leading dot or a minus sign.
    Prefix,
    /// The keys, fields or elements in a list of them.
    Key,
}

/// A set of kinds of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenKinds(u64);

impl TokenKinds {
    pub(super) fn new(kinds: &[TokenKind]) -> Self {
        TokenKinds(kinds.iter().fold(0, |all, kind| all | 1 << *kind as u8))
    }

    pub(super) fn contains(self, kind: TokenKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    pub(super) fn and(self, other: TokenKinds) -> Self {
        TokenKinds(self.0 | other.0)
    }

    /// The kinds in the set, in order.
    pub(super) fn iter(self) -> impl Iterator<Item = TokenKind> {
        TokenKind::iter().filter(move |kind| self.contains(*kind))
    }
}

/// The index of a step in the network.
pub(super) type StepIndex = usize;

/// The step at a place of the grammar.
#[derive(Clone, Debug)]
pub(super) enum GrammarStep {
    /// Reads a token.
    Read {
        kinds: TokenKinds,
        label: PartLabel,
        then: StepIndex,
    },
    /// Reads by the definition of a rule. `strength` is how strongly operators must bind there.
    Call {
        rule: GrammarRule,
        strength: u8,
        label: PartLabel,
        then: StepIndex,
    },
    /// Records which alternative the node is.
    Become { variant: RuleVariant, then: StepIndex },
    /// Makes the node the first part of a new one of the same rule.
    Wrap { variant: RuleVariant, then: StepIndex },
    /// Takes one of several alternatives; of an optional or repeated body, the first enters it and the second passes it.
    Choose {
        choice: WayChoice,
        after_body: bool,
        ways: Vec<StepIndex>,
    },
    /// The end of the rule.
    End,
}

/// How to choose a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WayChoice {
    /// There is one way only.
    Only,
    /// The body where its first token follows, else past it.
    Optional,
    /// The body where an operator follows that binds strongly enough.
    Operator,
    /// The way that begins with the token.
    Alternative,
    /// A selection, a call or an index.
    Suffix,
    /// A minus sign before a number is part of the number.
    Sign,
    /// Another minus sign, if not part of a number.
    MoreSigns,
    /// A name, a call, a struct, or an operand that begins with another token.
    Primary,
    /// The body where a comma and then an element follow.
    MoreElements,
    /// The kind of literal, after its sign.
    Number,
}

/// The tokens that may come next at a place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextTokens {
    pub(super) kinds: TokenKinds,
    /// Whether the rule may end here.
    pub(super) end: bool,
}

/// The whole grammar.
#[derive(Debug)]
pub(super) struct GrammarNetwork {
    steps: Vec<GrammarStep>,
    next: Vec<NextTokens>,
    starts: [StepIndex; RULES],
}

impl GrammarNetwork {
    /// The network of CEL.
    pub(super) fn cel() -> &'static GrammarNetwork {
        static NETWORK: LazyLock<GrammarNetwork> = LazyLock::new(GrammarNetwork::build);
        &NETWORK
    }

    /// The step at a place.
    pub(super) fn step(&self, at: StepIndex) -> &GrammarStep {
        self.steps.get(at).unwrap_or(&GrammarStep::End)
    }

    /// The tokens that may come next at a place.
    pub(super) fn next(&self, at: StepIndex) -> NextTokens {
        self.next.get(at).copied().unwrap_or_default()
    }

    /// Where a rule starts.
    pub(super) fn start(&self, rule: GrammarRule) -> StepIndex {
        self.starts.get(rule as usize).copied().unwrap_or_default()
    }

    fn build() -> GrammarNetwork {
        let mut network = GrammarNetwork {
            steps: Vec::new(),
            next: Vec::new(),
            starts: [0; RULES],
        };
        for (rule, parts) in rules() {
            let end = network.push(GrammarStep::End);
            let start = network.sequence(&parts, end);
            if let Some(place) = network.starts.get_mut(rule as usize) {
                *place = start;
            }
        }
        network.next = (0..network.steps.len()).map(|at| network.look(at)).collect();
        network
    }

    fn push(&mut self, step: GrammarStep) -> StepIndex {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// The place of the first of some parts that `then` follows.
    fn sequence(&mut self, parts: &[RulePart], then: StepIndex) -> StepIndex {
        parts.iter().rev().fold(then, |then, part| self.part(part, then))
    }

    fn part(&mut self, part: &RulePart, then: StepIndex) -> StepIndex {
        match part {
            RulePart::Token(kinds, label) => self.push(GrammarStep::Read {
                kinds: TokenKinds::new(kinds),
                label: *label,
                then,
            }),
            RulePart::Rule(rule, strength, label) => self.push(GrammarStep::Call {
                rule: *rule,
                strength: *strength,
                label: *label,
                then,
            }),
            RulePart::Become(variant) => self.push(GrammarStep::Become {
                variant: *variant,
                then,
            }),
            RulePart::Wrap(variant) => self.push(GrammarStep::Wrap {
                variant: *variant,
                then,
            }),
            RulePart::Maybe(parts) => {
                let body = self.sequence(parts, then);
                self.choose(WayChoice::Optional, false, vec![body, then])
            }
            RulePart::Repeat(choice, parts) => {
                let (again, body) = self.repetition(*choice, parts, then);
                let _ = again;
                self.choose(*choice, false, vec![body, then])
            }
            RulePart::Once(choice, parts) => {
                let (_, body) = self.repetition(*choice, parts, then);
                self.choose(WayChoice::Only, false, vec![body])
            }
            RulePart::OneOf(choice, alternatives) => {
                let ways = alternatives
                    .iter()
                    .map(|parts| self.sequence(parts, then))
                    .collect();
                self.choose(*choice, false, ways)
            }
        }
    }

    fn choose(&mut self, choice: WayChoice, after_body: bool, ways: Vec<StepIndex>) -> StepIndex {
        self.push(GrammarStep::Choose {
            choice,
            after_body,
            ways,
        })
    }

    /// A body that leads to a choice between itself and the rest: the places of the choice and the body.
    fn repetition(
        &mut self,
        choice: WayChoice,
        parts: &[RulePart],
        then: StepIndex,
    ) -> (StepIndex, StepIndex) {
        let again = self.push(GrammarStep::End);
        let body = self.sequence(parts, again);
        if let Some(step) = self.steps.get_mut(again) {
            *step = GrammarStep::Choose {
                choice,
                after_body: true,
                ways: vec![body, then],
            };
        }
        (again, body)
    }

    /// Finds the tokens that may come next. It ends because every rule and every repeated body reads a token.
    fn look(&self, at: StepIndex) -> NextTokens {
        match self.step(at) {
            GrammarStep::Read { kinds, .. } => NextTokens {
                kinds: *kinds,
                end: false,
            },
            GrammarStep::Call { rule, .. } => self.look(self.start(*rule)),
            GrammarStep::Become { then, .. } | GrammarStep::Wrap { then, .. } => self.look(*then),
            GrammarStep::Choose { ways, .. } => ways.iter().fold(NextTokens::default(), |all, way| {
                let way = self.look(*way);
                NextTokens {
                    kinds: all.kinds.and(way.kinds),
                    end: all.end || way.end,
                }
            }),
            GrammarStep::End => NextTokens {
                kinds: TokenKinds::default(),
                end: true,
            },
        }
    }
}
