//! What to say of a fault, and how to go on after it: by leaving out one token, by assuming one that is
//! missing, or by skipping to one that can follow.

use super::grammar::{GrammarStep, StepIndex, TokenKinds};
use super::machine::{AbortedReading, ParseMachine};
use crate::parser::token::{SourceToken, TokenKind};

/// A fault that ends the current rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum RuleFault {
    /// The next token is none of those expected.
    Mismatch,
    /// No alternative fits the tokens from `first` to `last`.
    NoWay { first: SourceToken, last: SourceToken },
}

/// The state of recovery, on which the report of the next fault depends.
#[derive(Debug, Default)]
pub(super) struct RecoveryState {
    /// From a fault to the next token that was expected: nothing is reported in between.
    silent: bool,
    /// The token and the places of the faults since then: a second fault there must not stand still.
    last_token: Option<usize>,
    last_places: Vec<StepIndex>,
    attempts: usize,
}

impl RecoveryState {
    /// An expected token ends the consequences of a fault.
    pub(super) fn matched(&mut self) {
        self.silent = false;
        self.last_token = None;
        self.last_places.clear();
    }
}

/// How often a reading may recover.
const MOST_ATTEMPTS: usize = 30;

/// How many tokens one recovery may skip.
const MOST_SKIPPED: usize = 256;

impl ParseMachine<'_> {
    /// The tokens that may come next, here and in the rules above.
    fn expected(&self, at: StepIndex) -> TokenKinds {
        let mut next = self.network.next(at);
        let mut kinds = next.kinds;
        for frame in self.frames.iter().rev() {
            let Some(caller) = frame.caller.filter(|_| next.end) else {
                break;
            };
            next = self.network.next(self.after_call(caller));
            kinds = kinds.and(next.kinds);
        }
        if next.end {
            kinds = kinds.and(TokenKinds::new(&[TokenKind::End]));
        }
        kinds
    }

    fn after_call(&self, caller: StepIndex) -> StepIndex {
        match self.network.step(caller) {
            GrammarStep::Call { then, .. } => *then,
            _ => caller,
        }
    }

    /// The tokens with which a calling rule can continue after this one.
    fn recovery_set(&self) -> TokenKinds {
        let callers = self.frames.iter().filter_map(|frame| frame.caller);
        callers.fold(TokenKinds::default(), |all, caller| {
            all.and(self.network.next(self.after_call(caller)).kinds)
        })
    }

    /// At a choice: makes sure that the next token can begin one of the ways, or can follow the rule.
    pub(super) fn synchronize(&mut self, after_body: bool) -> Result<Result<(), RuleFault>, AbortedReading> {
        let next = self.network.next(self.at);
        if self.recovery.silent || next.end || next.kinds.contains(self.kind(0)?) {
            return Ok(Ok(()));
        }
        if !after_body {
            return Ok(if self.leave_out_one(&mut 0)? {
                Ok(())
            } else {
                Err(RuleFault::Mismatch)
            });
        }
        self.report_unwanted()?;
        let until = self.expected(self.at).and(self.recovery_set());
        self.skip_to(until, &mut 0, usize::MAX)?;
        Ok(Ok(()))
    }

    /// Where a token was expected and another found: leaves that out, or assumes the expected one.
    pub(super) fn recover_inline(&mut self) -> Result<Result<SourceToken, RuleFault>, AbortedReading> {
        self.count_attempt()?;
        let mut skipped = 0;
        if self.leave_out_one(&mut skipped)? {
            let token = self.token(0)?;
            self.count_skipped(&mut skipped, MOST_SKIPPED)?;
            self.consume()?;
            return Ok(Ok(token));
        }
        let GrammarStep::Read { then, .. } = *self.network.step(self.at) else {
            return Ok(Err(RuleFault::Mismatch));
        };
        let current = self.token(0)?;
        if !self.expected(then).contains(current.kind) {
            return Ok(Err(RuleFault::Mismatch));
        }
        self.report_missing()?;
        let place = match self.input.before() {
            Some(previous_token) if current.kind == TokenKind::End => previous_token,
            _ => current,
        };
        Ok(Ok(SourceToken {
            kind: self.expected(self.at).iter().next().unwrap_or(TokenKind::End),
            ..place
        }))
    }

    /// Leaves out the next token where the one after it is expected.
    fn leave_out_one(&mut self, skipped: &mut usize) -> Result<bool, AbortedReading> {
        let after = self.kind(1)?;
        if !self.expected(self.at).contains(after) {
            return Ok(false);
        }
        self.report_unwanted()?;
        self.count_skipped(skipped, MOST_SKIPPED)?;
        self.consume()?;
        self.recovery.matched();
        Ok(true)
    }

    /// Skips to a token with which a calling rule can continue.
    pub(super) fn recover(&mut self) -> Result<(), AbortedReading> {
        self.count_attempt()?;
        let mut skipped = 0;
        let here = Some(self.input.at());
        if self.recovery.last_token == here && self.recovery.last_places.contains(&self.at) {
            self.count_skipped(&mut skipped, MOST_SKIPPED)?;
            self.consume()?;
        }
        self.recovery.last_token = Some(self.input.at());
        self.recovery.last_places.push(self.at);
        let until = self.recovery_set();
        self.skip_to(until, &mut skipped, MOST_SKIPPED)
    }

    fn skip_to(&mut self, until: TokenKinds, skipped: &mut usize, most: usize) -> Result<(), AbortedReading> {
        loop {
            let kind = self.kind(0)?;
            if kind == TokenKind::End || until.contains(kind) {
                return Ok(());
            }
            self.count_skipped(skipped, most)?;
            self.consume()?;
        }
    }

    fn count_skipped(&mut self, skipped: &mut usize, most: usize) -> Result<(), AbortedReading> {
        if *skipped >= most {
            return Err(self.abort(format!("error recovery token lookahead limit exceeded: {most}")));
        }
        *skipped += 1;
        Ok(())
    }

    fn count_attempt(&mut self) -> Result<(), AbortedReading> {
        if self.recovery.attempts == MOST_ATTEMPTS {
            let offset = self.token(0)?.offset;
            let message = format!("error recovery attempt limit exceeded: {MOST_ATTEMPTS}");
            self.syntax_error(offset, message)?;
            return Err(AbortedReading);
        }
        self.recovery.attempts += 1;
        Ok(())
    }

    /// Reports the fault that ends a rule.
    pub(super) fn report(&mut self, fault: RuleFault) -> Result<(), AbortedReading> {
        let current = self.token(0)?;
        match fault {
            RuleFault::Mismatch => {
                let message = format!(
                    "mismatched input {} expecting {}",
                    self.quote_token(current),
                    self.shown_expected()
                );
                self.say(current, message)
            }
            RuleFault::NoWay { first, last } => {
                let input = match first.kind {
                    TokenKind::End => "<EOF>".to_owned(),
                    _ => self.input.text_between(first, last),
                };
                self.say(last, no_way_message(&input))
            }
        }
    }

    fn report_unwanted(&mut self) -> Result<(), AbortedReading> {
        let current = self.token(0)?;
        let message = format!(
            "extraneous input {} expecting {}",
            self.quote_token(current),
            self.shown_expected()
        );
        self.say(current, message)
    }

    fn report_missing(&mut self) -> Result<(), AbortedReading> {
        let current = self.token(0)?;
        let message = format!(
            "missing {} at {}",
            self.shown_expected(),
            self.quote_token(current)
        );
        self.say(current, message)
    }

    /// Reports a message, unless it is a consequence of one before.
    fn say(&mut self, at: SourceToken, message: String) -> Result<(), AbortedReading> {
        if self.recovery.silent {
            return Ok(());
        }
        self.recovery.silent = true;
        self.syntax_error(at.offset, message)
    }

    fn quote_token(&self, token: SourceToken) -> String {
        match token.kind {
            TokenKind::End => "'<EOF>'".to_owned(),
            _ => quoted(self.input.token_text(token)),
        }
    }

    fn shown_expected(&self) -> String {
        let names: Vec<&str> = self.expected(self.at).iter().map(TokenKind::display).collect();
        match names.as_slice() {
            [one] => (*one).to_owned(),
            all => format!("{{{}}}", all.join(", ")),
        }
    }
}

/// Text between quotes, its blanks visible.
fn quoted(text: &str) -> String {
    let visible = text
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    format!("'{visible}'")
}

/// The message for input that fits no alternative. A word of the language in place of a name after some
/// other character is told apart.
fn no_way_message(input: &str) -> String {
    let mut characters = input.chars();
    let word = characters.next().map(|_| characters.as_str());
    match word {
        Some(word @ ("true" | "false" | "null")) => format!("mismatched input '{word}' expecting IDENTIFIER"),
        _ => format!("no viable alternative at input {}", quoted(input)),
    }
}
