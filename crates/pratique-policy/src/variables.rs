//! The variables of a policy: evaluated when they are first read, and once.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use pratique_cel::value::{Evaluation, Struct};
use pratique_cel::{Activation, Context, Fault, Value};
use pratique_expression::{BoundExpression, Expression, VARIABLES_TYPE, slots};
use pratique_gotext::strconv::quote;

use crate::compiled_expressions::{CompiledExpression, MAX_NESTING, NamedVariable};
use crate::few::InlineList;
use crate::inputs::InputKey;
use crate::memo::{MemoEntry, MemoKey, ResultRetention, is_incomplete};
use crate::scratch::EvalScratch;
use crate::trace::ExpressionId;
use crate::variable_names::unescaped;
use pratique_core::UnfinishedEvaluation;

/// The variables of a policy, for expressions over the same inputs.
pub(crate) struct RoundVariables<'s> {
    compiled: &'s [NamedVariable],
    states: InlineList<RefCell<VariableState<'s>>>,
    /// The activation of variables, other variables included; set by [`set_place`](Self::set_place).
    activation: RefCell<Activation<'s>>,
    scratch: EvalScratch<'s>,
    inputs: InputKey,
    /// The cost of evaluations that was not taken yet.
    cost: Cell<u64>,
    /// The depth of nested evaluations.
    nesting: Cell<usize>,
    /// The variables that the current expression has read.
    reading: Cell<ReadSet<'s>>,
}

enum VariableState<'s> {
    Untouched,
    /// Its evaluation is running: it depends on itself if it is read now.
    Running,
    Done(Evaluation<'s>),
}

/// Records which variables an expression read, of those that it names.
#[derive(Clone, Copy, Default)]
struct ReadSet<'s> {
    expression: Option<&'s Arc<BoundExpression>>,
    reads: u64,
}

/// The evaluation of an expression, with the variables that it reads.
pub(crate) struct VariableReading<'v, 's> {
    variables: &'v RoundVariables<'s>,
    /// The variables that the outer expression has read, if there is one.
    before: ReadSet<'s>,
}

impl VariableReading<'_, '_> {
    /// The variables that the expression read, a bit for each that it names.
    pub(crate) fn end(self) -> u64 {
        self.variables.reading.replace(self.before).reads
    }
}

impl<'s> RoundVariables<'s> {
    /// Variables without values yet, nor an [activation](Self::set_place).
    pub(crate) fn new(compiled: &'s [NamedVariable], inputs: InputKey, scratch: EvalScratch<'s>) -> Self {
        RoundVariables {
            compiled,
            states: compiled
                .iter()
                .map(|_| RefCell::new(VariableState::Untouched))
                .collect(),
            activation: RefCell::default(),
            scratch,
            inputs,
            cost: Cell::new(0),
            nesting: Cell::new(0),
            reading: Cell::default(),
        }
    }

    /// Sets the activation of the variables, with these variables themselves, which must not move any more.
    pub(crate) fn set_place(&'s self, activation: &Activation<'s>) {
        if !self.compiled.is_empty() {
            let mut place = self.activation.borrow_mut();
            place.clone_from(activation);
            place.set(slots().variables, Value::Struct(self));
        }
    }

    /// The cost of evaluations since the last call.
    pub(crate) fn take_cost(&self) -> u64 {
        self.cost.take()
    }

    /// Begins to record the variables that an expression reads.
    pub(crate) fn begin_reading<'v>(
        &'v self,
        expression: Option<&'s Arc<BoundExpression>>,
    ) -> VariableReading<'v, 's> {
        VariableReading {
            variables: self,
            before: self.reading.replace(ReadSet { expression, reads: 0 }),
        }
    }

    /// Reads the variables that an expression read when it was evaluated for another policy: their cost is due here as
    /// well. Fails when interrupted.
    pub(crate) fn replay(&self, expression: Option<&Arc<BoundExpression>>, reads: u64) -> Result<(), Fault> {
        // The current expression, if there is one, does not read these.
        let previous_reading = self.reading.take();
        let mut remaining = reads;
        let mut replayed = Ok(());
        while remaining != 0 && replayed.is_ok() {
            let position = remaining.trailing_zeros();
            remaining &= remaining - 1;
            let field = expression.and_then(|expression| expression.variable(position));
            if let Some(Err(fault)) = field.map(|field| self.read(field))
                && UnfinishedEvaluation::from_fault(&fault).is_some()
            {
                replayed = Err(fault);
            }
        }
        self.reading.set(previous_reading);
        replayed
    }

    /// The value of a variable; of two with the same name, the later one.
    fn read(&self, field: &str) -> Result<Option<Value<'s>>, Fault> {
        let Some(name) = unescaped(field) else {
            return Ok(None);
        };
        let at = self.compiled.iter().rposition(|(other, _)| **other == *name);
        let Some((state, (name, compiled))) =
            at.and_then(|at| Some((self.states.get(at)?, self.compiled.get(at)?)))
        else {
            return Ok(None);
        };
        self.record(field);
        match &*state.borrow() {
            VariableState::Done(evaluation) => return evaluation.clone().map(Some),
            VariableState::Running => return Err(fails(name, "it refers to itself")),
            VariableState::Untouched => {}
        }
        *state.borrow_mut() = VariableState::Running;
        let evaluation = self.evaluate(name, compiled);
        *state.borrow_mut() = VariableState::Done(evaluation.clone());
        evaluation.map(Some)
    }

    /// Records that the expression which is being evaluated reads a variable.
    fn record(&self, field: &str) {
        let reading = self.reading.get();
        if let Some(expression) = reading.expression
            && let Some(position) = expression.position(field)
        {
            let reads = reading.reads | 1 << position;
            self.reading.set(ReadSet { reads, ..reading });
        }
    }

    fn evaluate(&self, name: &str, compiled: &'s CompiledExpression) -> Evaluation<'s> {
        let trace = self.scratch.trace;
        let expression = compiled.expression.as_ref().map_err(|error| {
            let quoted = quote(name);
            let error = format!("composited variable {quoted} fails to compile: {error}");
            trace.inspect(|trace| trace.broken(ExpressionId::Variable(name), &error));
            Fault::error(error)
        })?;
        if self.nesting.get() >= MAX_NESTING {
            return Err(fails(name, "too many variables need each other"));
        }
        let bound = compiled.bound.as_ref();
        let key = match trace {
            None => bound.and_then(|bound| MemoKey::new(bound, self.inputs)),
            Some(_) => None,
        };
        let MemoEntry { evaluation, cost, .. } = self.scratch.arena.memo.get_or_evaluate(
            key,
            ResultRetention::Memo,
            self,
            |variables, reads| variables.replay(bound, reads),
            |variables| {
                let reading = variables.begin_reading(bound);
                let (evaluation, cost) = variables.evaluate_now(name, expression);
                MemoEntry {
                    evaluation,
                    cost,
                    reads: reading.end(),
                }
            },
        )?;
        self.cost.set(self.cost.get().saturating_add(cost));
        evaluation.map_err(|fault| {
            if is_incomplete(&fault) {
                fault
            } else {
                fails(name, &fault.to_string())
            }
        })
    }

    fn evaluate_now(&self, name: &str, expression: &'s Expression) -> (Evaluation<'s>, u64) {
        self.nesting.set(self.nesting.get() + 1);
        let trace = self.scratch.trace;
        trace.inspect(|trace| trace.begin(ExpressionId::Variable(name), expression.source_text()));
        let evaluated = self
            .scratch
            .evaluate(expression.program(), &self.activation.borrow());
        self.nesting.set(self.nesting.get() - 1);
        evaluated
    }
}

impl Struct for RoundVariables<'_> {
    fn type_name(&self) -> &str {
        VARIABLES_TYPE
    }

    fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        self.read(field)
    }

    /// A variable is present if it has a value, for which it is evaluated.
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

impl RoundVariables<'_> {
    /// The names, each once.
    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.compiled.iter().map(|(name, _)| &**name).enumerate();
        let first =
            |(at, name): &(usize, &str)| !self.compiled.iter().take(*at).any(|(other, _)| **other == **name);
        names.filter(first).map(|(_, name)| name)
    }
}

impl fmt::Debug for RoundVariables<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.compiled.iter().map(|(name, _)| name);
        formatter.debug_set().entries(names).finish()
    }
}

fn fails(name: &str, why: &str) -> Fault {
    let name = quote(name);
    Fault::error(format!("composited variable {name} fails to evaluate: {why}"))
}
