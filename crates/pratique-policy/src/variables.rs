//! The variables of a policy: evaluated when they are first read, and once.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::sync::atomic::AtomicBool;

use pratique_cel::value::{Evaluation, Struct};
use pratique_cel::{Activation, Arena, Context, Fault, FaultKind, Stop, Value, quote};
use pratique_expression::{VARIABLES_TYPE, slots};

use crate::compiled::Compiled;
use crate::evaluate::CALL_LIMIT;
use crate::session::{Inputs, Session};
use crate::trace::{self, Part, Trace};

/// The variables of a policy in one round of its expressions.
pub(crate) struct Variables<'s> {
    compiled: &'s [(String, Compiled)],
    states: Vec<RefCell<State<'s>>>,
    activation: Activation<'s>,
    arena: &'s Arena,
    interrupt: Option<&'s AtomicBool>,
    trace: Option<&'s dyn Trace>,
    /// What evaluations cost that nobody has accounted for yet.
    cost: Cell<u64>,
    /// How many evaluations wait for another one.
    nesting: Cell<usize>,
    own: OnceCell<&'s Variables<'s>>,
}

enum State<'s> {
    Untouched,
    /// It is being evaluated, so it depends on itself if it is read now.
    Running,
    Done(Evaluation<'s>),
}

/// How long a chain of variables that need each other may be: each takes its part of the stack.
const MAX_NESTING: usize = 100;

impl<'s> Variables<'s> {
    /// Variables without values yet, kept by the session; the activation gets what they read.
    pub(crate) fn new(
        session: &Session<'s>,
        compiled: &'s [(String, Compiled)],
        inputs: &Inputs<'s>,
        activation: &mut Activation<'s>,
    ) -> &'s Self {
        for (_, expression) in compiled {
            if let Ok(expression) = expression {
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
            arena: session.arena(),
            interrupt: session.surroundings.interrupt,
            trace: session.trace(),
            cost: Cell::new(0),
            nesting: Cell::new(0),
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

    /// The value of a variable; of two with the same name the later.
    fn read(&self, name: &str) -> Result<Option<Value<'s>>, Fault> {
        let Some(name) = unescaped(name) else {
            return Ok(None);
        };
        let at = self.compiled.iter().rposition(|(own, _)| *own == name);
        let Some((state, (name, compiled))) =
            at.and_then(|at| Some((self.states.get(at)?, self.compiled.get(at)?)))
        else {
            return Ok(None);
        };
        match &*state.borrow() {
            State::Done(evaluation) => return evaluation.clone().map(Some),
            State::Running => return Err(fails(name, "it refers to itself")),
            State::Untouched => {}
        }
        *state.borrow_mut() = State::Running;
        let evaluation = self.evaluate(name, compiled);
        *state.borrow_mut() = State::Done(evaluation.clone());
        evaluation.map(Some)
    }

    fn evaluate(&self, name: &str, compiled: &'s Compiled) -> Evaluation<'s> {
        let expression = compiled.as_ref().map_err(|error| {
            let quoted = quote::quoted(name);
            let error = format!("composited variable {quoted} fails to compile: {error}");
            self.trace
                .inspect(|trace| trace.broken(Part::Variable(name), &error));
            Fault::error(error)
        })?;
        if self.nesting.get() >= MAX_NESTING {
            return Err(fails(name, "too many variables need each other"));
        }
        let mut activation = self.activation.clone();
        if let Some(own) = self.own.get() {
            activation.set(slots().variables, Value::Struct(*own));
        }
        let mut context = Context::new(self.arena, CALL_LIMIT);
        if let Some(flag) = self.interrupt {
            context = context.with_interrupt(flag);
        }
        self.nesting.set(self.nesting.get() + 1);
        self.trace
            .inspect(|trace| trace.begin(Part::Variable(name), expression.text()));
        let evaluation = trace::evaluate(expression.program(), &context, &activation, self.trace);
        self.nesting.set(self.nesting.get() - 1);
        self.cost.set(self.cost.get().saturating_add(context.cost()));
        evaluation.map_err(|fault| match fault.kind() {
            FaultKind::Stopped(Stop::Pending | Stop::Interrupted) => fault,
            _ => fails(name, &fault.to_string()),
        })
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
        let names = self.compiled.iter().map(|(name, _)| name.as_str()).enumerate();
        let first = |(at, name): &(usize, &str)| !self.compiled.iter().take(*at).any(|(own, _)| own == name);
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
fn unescaped(field: &str) -> Option<Cow<'_, str>> {
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
    let name = quote::quoted(name);
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
