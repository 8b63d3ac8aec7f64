//! The variables of a policy: evaluated when they are first read, and once.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::sync::Arc;

use pratique_cel::value::{Evaluation, Struct};
use pratique_cel::{Activation, Context, Fault, Value};
use pratique_expression::{Closed, Expression, VARIABLES_TYPE, slots};
use pratique_gotext::strconv::quote;

use crate::compiled::{Compiled, Variable};
use crate::memo::{Frame, Key, Known, is_open};
use crate::outcome::Unfinished;
use crate::session::{Inputs, Session, Workplace};
use crate::trace::{self, Part};

/// The variables of a policy in one round of its expressions.
pub(crate) struct Variables<'s> {
    compiled: &'s [Variable],
    states: Vec<RefCell<State<'s>>>,
    activation: Activation<'s>,
    workplace: Workplace<'s>,
    frame: Frame,
    /// What evaluations cost that nobody has accounted for yet.
    cost: Cell<u64>,
    /// How many evaluations wait for another one.
    nesting: Cell<usize>,
    /// Which variables the expression reads that is being evaluated.
    note: Cell<Note<'s>>,
    own: OnceCell<&'s Variables<'s>>,
}

enum State<'s> {
    Untouched,
    /// It is being evaluated, so it depends on itself if it is read now.
    Running,
    Done(Evaluation<'s>),
}

/// Takes down which of the variables that a closed expression names it reads.
#[derive(Clone, Copy, Default)]
pub(crate) struct Note<'s> {
    closed: Option<&'s Closed>,
    reads: u64,
}

/// How long a chain of variables that need each other may be: each takes its part of the stack.
pub(crate) const MAX_NESTING: usize = 100;

impl<'s> Variables<'s> {
    /// Variables without values yet, kept by the session; the activation gets what they read.
    pub(crate) fn new(
        session: &Session<'s>,
        compiled: &'s [Variable],
        inputs: &Inputs<'s>,
        activation: &mut Activation<'s>,
    ) -> &'s Self {
        for (_, variable) in compiled {
            if let Ok(expression) = &variable.expression {
                session.supply(activation, inputs, expression.program());
            }
        }
        let variables = session.keep_variables(Variables {
            compiled,
            states: compiled.iter().map(|_| RefCell::new(State::Untouched)).collect(),
            activation: match compiled {
                [] => Activation::default(),
                _ => activation.clone(),
            },
            workplace: session.workplace(),
            frame: inputs.frame,
            cost: Cell::new(0),
            nesting: Cell::new(0),
            note: Cell::default(),
            own: OnceCell::new(),
        });
        // It was empty a moment ago.
        let _ = variables.own.set(variables);
        variables
    }

    /// What evaluations have cost since the last call.
    pub(crate) fn take_cost(&self) -> u64 {
        self.cost.take()
    }

    /// Begins to take down what an expression reads; gives what was taken down until now.
    pub(crate) fn note(&self, closed: Option<&'s Closed>) -> Note<'s> {
        self.note.replace(Note { closed, reads: 0 })
    }

    /// What the expression read; goes on with what was taken down before it.
    pub(crate) fn noted(&self, before: Note<'s>) -> u64 {
        self.note.replace(before).reads
    }

    /// Reads the variables that an expression read when somebody else evaluated it: what they cost is due here as well.
    /// The error is that of an interruption.
    pub(crate) fn replay(&self, closed: &Closed, reads: u64) -> Result<(), Fault> {
        // These are not read by the expression that is being evaluated, if one is.
        let before = self.note.take();
        let mut left = reads;
        let mut replayed = Ok(());
        while left != 0 && replayed.is_ok() {
            let position = left.trailing_zeros();
            left &= left - 1;
            let evaluation = closed.variable(position).map(|field| self.read(field));
            if let Some(Err(fault)) = evaluation
                && Unfinished::from_fault(&fault).is_some()
            {
                replayed = Err(fault);
            }
        }
        self.note.set(before);
        replayed
    }

    /// The value of a variable; of two with the same name the later.
    fn read(&self, field: &str) -> Result<Option<Value<'s>>, Fault> {
        let Some(name) = unescaped(field) else {
            return Ok(None);
        };
        let at = self.compiled.iter().rposition(|(own, _)| **own == *name);
        let Some((state, (name, compiled))) =
            at.and_then(|at| Some((self.states.get(at)?, self.compiled.get(at)?)))
        else {
            return Ok(None);
        };
        self.take_down(field);
        match &*state.borrow() {
            State::Done(evaluation) => return evaluation.clone().map(Some),
            State::Running => return Err(fails(name, "it refers to itself")),
            State::Untouched => {}
        }
        *state.borrow_mut() = State::Running;
        let evaluation = self.value(name, compiled);
        *state.borrow_mut() = State::Done(evaluation.clone());
        evaluation.map(Some)
    }

    fn take_down(&self, field: &str) {
        let note = self.note.get();
        if let Some(closed) = note.closed
            && let Some(position) = closed.position(field)
        {
            let reads = note.reads | 1 << position;
            self.note.set(Note { reads, ..note });
        }
    }

    /// What a variable gives, known or not.
    fn value(&self, name: &str, compiled: &'s Compiled) -> Evaluation<'s> {
        let expression = compiled.expression.as_ref().map_err(|error| {
            let quoted = quote(name);
            let error = format!("composited variable {quoted} fails to compile: {error}");
            self.workplace
                .trace
                .inspect(|trace| trace.broken(Part::Variable(name), &error));
            Fault::error(error)
        })?;
        if self.nesting.get() >= MAX_NESTING {
            return Err(fails(name, "too many variables need each other"));
        }
        let Known { evaluation, cost, .. } = self.known_or_evaluated(name, compiled, expression)?;
        self.cost.set(self.cost.get().saturating_add(cost));
        evaluation.map_err(|fault| match is_open(&fault) {
            true => fault,
            false => fails(name, &fault.to_string()),
        })
    }

    fn known_or_evaluated(
        &self,
        name: &str,
        compiled: &'s Compiled,
        expression: &'s Arc<Expression>,
    ) -> Result<Known<'s>, Fault> {
        let closed = compiled
            .closed
            .as_ref()
            .filter(|_| self.workplace.trace.is_none());
        let key = closed.and_then(|closed| Key::new(closed, self.frame));
        if let (Some(closed), Some(key)) = (closed, key)
            && let Some(known) = self.workplace.memo.get(key)
        {
            self.replay(closed, known.reads)?;
            return Ok(known);
        }
        let note = self.note(compiled.closed.as_deref());
        let (evaluation, cost) = self.evaluate(name, expression);
        let known = Known {
            evaluation,
            cost,
            reads: self.noted(note),
        };
        if let Some(key) = key {
            self.workplace.memo.set(key, known.clone());
        }
        Ok(known)
    }

    fn evaluate(&self, name: &str, expression: &'s Expression) -> (Evaluation<'s>, u64) {
        let mut activation = self.activation.clone();
        if let Some(own) = self.own.get() {
            activation.set(slots().variables, Value::Struct(*own));
        }
        let context = self.workplace.context();
        let trace = self.workplace.trace;
        self.nesting.set(self.nesting.get() + 1);
        trace.inspect(|trace| trace.begin(Part::Variable(name), expression.text()));
        let evaluation = trace::evaluate(expression.program(), &context, &activation, trace);
        self.nesting.set(self.nesting.get() - 1);
        (evaluation, context.cost())
    }
}

impl Struct for Variables<'_> {
    fn type_name(&self) -> &str {
        VARIABLES_TYPE
    }

    fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        self.read(field)
    }

    /// A variable is there if it has a value; to know, it is evaluated.
    fn has(&self, _: &Context<'_>, field: &str) -> Result<bool, Fault> {
        Ok(self.read(field)?.is_some())
    }

    fn size(&self) -> u64 {
        self.names().count() as u64
    }

    fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        let fields = self
            .names()
            .map(|name| Ok(self.read(name)?.map(|value| (name, value))));
        fields.filter_map(Result::transpose).collect()
    }
}

impl Variables<'_> {
    /// The names, each once.
    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.compiled.iter().map(|(name, _)| &**name).enumerate();
        let first =
            |(at, name): &(usize, &str)| !self.compiled.iter().take(*at).any(|(own, _)| **own == **name);
        names.filter(first).map(|(_, name)| name)
    }
}

impl fmt::Debug for Variables<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.compiled.iter().map(|(name, _)| name);
        formatter.debug_set().entries(names).finish()
    }
}

/// The name that a field stands for: an API server reads fields of variables as if they were escaped names, though it
/// declares them as they are. `None` for what is no escape.
pub(crate) fn unescaped(field: &str) -> Option<Cow<'_, str>> {
    // Most have none, and are read often.
    if !field.bytes().any(|byte| byte == b'_') {
        return Some(Cow::Borrowed(field));
    }
    let mut name = Cow::Borrowed("");
    let mut rest = field;
    while let Some((before, word, after)) = first_escape(rest) {
        let stands_for = match word {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            _ => return None,
        };
        name = Cow::Owned(format!("{name}{before}{stands_for}"));
        rest = after;
    }
    Some(name + rest)
}

/// Splits at the first `__word__`.
fn first_escape(field: &str) -> Option<(&str, &str, &str)> {
    let starts = field.match_indices("__").map(|(at, _)| at);
    // Of three underscores in a row the last two may be the start.
    let starts = starts.flat_map(|at| [at, at + 1]);
    starts.into_iter().find_map(|at| {
        let (before, rest) = field.split_at_checked(at)?;
        let (word, after) = rest.strip_prefix("__")?.split_once("__")?;
        (!word.is_empty() && !word.contains('_')).then_some((before, word, after))
    })
}

fn fails(name: &str, why: &str) -> Fault {
    let name = quote(name);
    Fault::error(format!("composited variable {name} fails to evaluate: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_escaped() {
        for (field, name) in [
            ("plain", Some("plain")),
            ("a__b", Some("a__b")),
            ("a__dot__b", Some("a.b")),
            ("a___dash__b", Some("a_-b")),
            ("__underscores__", Some("__")),
            ("a__other__b", None),
        ] {
            assert_eq!(unescaped(field).as_deref(), name, "{field}");
        }
    }
}
