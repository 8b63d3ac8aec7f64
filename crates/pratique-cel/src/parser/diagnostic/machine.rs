//! The state machine that walks the network: iterative, so that no text exhausts the stack of the thread.

use super::super::limits::MOST_DEPTH;
use super::super::token::{SourceToken, TokenKind};
use super::grammar::{
    GrammarNetwork, GrammarRule, GrammarStep, PartLabel, RULES, RuleVariant, StepIndex, WayChoice,
};
use super::input::TokenInput;
use super::recovery::{RecoveryState, RuleFault};
use super::tree::{NodeId, ParseTree};
use crate::error::Issue;
use crate::source::{Position, Source};

/// Why reading ended before the end of the text. Errors that were reported until then stay reported.
#[derive(Debug)]
pub(super) struct AbortedReading;

/// A reading under way.
pub(super) struct ParseMachine<'s> {
    pub(super) network: &'static GrammarNetwork,
    pub(super) input: TokenInput<'s>,
    pub(super) frames: Vec<RuleFrame>,
    pub(super) at: StepIndex,
    pub(super) recovery: RecoveryState,
    pub(super) tree: ParseTree,
    pub(super) issues: Vec<Issue>,
    pub(super) source: &'s Source,
    /// How many times each rule is being read.
    depths: [u32; RULES],
}

/// A rule being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleFrame {
    pub(super) rule: GrammarRule,
    pub(super) node: NodeId,
    pub(super) strength: u8,
    /// The step that called the rule; the first rule has none.
    pub(super) caller: Option<StepIndex>,
}

impl<'s> ParseMachine<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        ParseMachine {
            network: GrammarNetwork::cel(),
            input: TokenInput::new(source.as_str()),
            frames: Vec::new(),
            at: 0,
            recovery: RecoveryState::default(),
            tree: ParseTree::default(),
            issues: Vec::new(),
            source,
            depths: [0; RULES],
        }
    }

    /// Reads the whole text: the node of it.
    pub(super) fn run(&mut self) -> Result<NodeId, AbortedReading> {
        self.enter(GrammarRule::Start, 0, None)?;
        let mut last = 0;
        while let Some(frame) = self.frames.last().copied() {
            last = frame.node;
            self.step(frame)?;
        }
        Ok(last)
    }

    fn enter(
        &mut self,
        rule: GrammarRule,
        strength: u8,
        caller: Option<StepIndex>,
    ) -> Result<(), AbortedReading> {
        let offset = self.token(0)?.offset;
        let node = self.tree.add(rule, RuleVariant::Plain, offset);
        self.frames.push(RuleFrame {
            rule,
            node,
            strength,
            caller,
        });
        self.at = self.network.start(rule);
        if let Some(depth) = self.depths.get_mut(rule as usize) {
            *depth += 1;
            if *depth > MOST_DEPTH {
                return Err(self.abort(format!("expression recursion limit exceeded: {MOST_DEPTH}")));
            }
        }
        Ok(())
    }

    /// Ends the current rule, and continues where it was called.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if let Some(depth) = self.depths.get_mut(frame.rule as usize) {
            *depth -= 1;
        }
        if let Some(caller) = frame.caller
            && let GrammarStep::Call { label, then, .. } = self.network.step(caller)
            && let Some(above) = self.frames.last()
        {
            self.tree.add_node(above.node, *label, frame.node);
            self.at = *then;
        }
    }

    fn step(&mut self, frame: RuleFrame) -> Result<(), AbortedReading> {
        let network = self.network;
        match network.step(self.at) {
            GrammarStep::Read { kinds, label, then } => {
                let token = self.token(0)?;
                let token_or_fault = if kinds.contains(token.kind) {
                    self.recovery.matched();
                    self.consume()?;
                    Ok(token)
                } else {
                    self.recover_inline()?
                };
                match token_or_fault {
                    Ok(token) => {
                        self.tree.add_token(frame.node, *label, token);
                        self.at = *then;
                    }
                    Err(fault) => self.fail(fault)?,
                }
            }
            GrammarStep::Call { rule, strength, .. } => self.enter(*rule, *strength, Some(self.at))?,
            GrammarStep::Become { variant, then } => {
                self.tree.set_variant(frame.node, *variant);
                self.at = *then;
            }
            GrammarStep::Wrap { variant, then } => {
                self.wrap(*variant);
                self.at = *then;
            }
            GrammarStep::Choose {
                choice,
                after_body,
                ways,
            } => match self.choose(*choice, *after_body, ways, frame.strength)? {
                Ok(way) => self.at = way,
                Err(fault) => self.fail(fault)?,
            },
            GrammarStep::End => self.leave(),
        }
        Ok(())
    }

    /// Makes the node of the rule that is being read the first part of a new one.
    fn wrap(&mut self, variant: RuleVariant) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let offset = self.tree.get(frame.node).map_or(0, |node| node.offset);
        let outer = self.tree.add(frame.rule, variant, offset);
        self.tree.add_node(outer, PartLabel::First, frame.node);
        frame.node = outer;
    }

    fn choose(
        &mut self,
        choice: WayChoice,
        after_body: bool,
        ways: &[StepIndex],
        strength: u8,
    ) -> Result<Result<StepIndex, RuleFault>, AbortedReading> {
        if let Err(fault) = self.synchronize(after_body)? {
            return Ok(Err(fault));
        }
        self.predict(choice, ways, strength)
    }

    /// Reports a fault, skips tokens that cannot follow, and leaves the rule.
    fn fail(&mut self, fault: RuleFault) -> Result<(), AbortedReading> {
        self.report(fault)?;
        self.recover()?;
        self.leave();
        Ok(())
    }

    /// The token some places ahead; reports lexical errors before it.
    pub(super) fn token(&mut self, ahead: usize) -> Result<SourceToken, AbortedReading> {
        let token = self.input.token(ahead);
        while let Some(unknown) = self.input.take_unknown() {
            let text = self.input.token_text(unknown);
            self.syntax_error(unknown.offset, format!("token recognition error at: '{text}'"))?;
        }
        Ok(token)
    }

    /// The kind of the token some places ahead.
    pub(super) fn kind(&mut self, ahead: usize) -> Result<TokenKind, AbortedReading> {
        Ok(self.token(ahead)?.kind)
    }

    /// Goes past the next token.
    pub(super) fn consume(&mut self) -> Result<(), AbortedReading> {
        self.input.consume();
        self.token(0).map(drop)
    }

    /// Ends the reading with a fault that has no place.
    pub(super) fn abort(&mut self, message: String) -> AbortedReading {
        self.issues.push(Issue::new(Position::NOWHERE, message));
        AbortedReading
    }

    /// Reports a fault of syntax; after too many of them the reading ends.
    pub(super) fn syntax_error(&mut self, offset: u32, message: String) -> Result<(), AbortedReading> {
        const MOST_REPORTS: usize = 100;
        let many = self.issues.len() >= MOST_REPORTS;
        let message = if many {
            format!("More than {MOST_REPORTS} syntax errors")
        } else {
            message
        };
        let mut position = self.source.position(offset);
        if self.source.as_str().is_empty() {
            // The reference places the end of nothing before its beginning.
            position.column -= 1;
        }
        self.issues
            .push(Issue::new(position, format!("Syntax error: {message}")));
        if many { Err(AbortedReading) } else { Ok(()) }
    }
}
