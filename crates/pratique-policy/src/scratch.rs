//! The context of an evaluation besides a program and its variables.

use pratique_cel::value::Evaluation;
use pratique_cel::{Activation, Context, Interrupt, Program};
use pratique_types::cel_limits::PER_CALL_LIMIT;

use crate::arena::RequestArena;
use crate::trace::{self, PolicyTrace};

/// The context that the evaluations of a request share.
#[derive(Clone, Copy)]
pub(crate) struct EvalScratch<'s> {
    pub(crate) arena: &'s RequestArena<'s>,
    pub(crate) interrupt: Option<&'s Interrupt>,
    pub(crate) trace: Option<&'s dyn PolicyTrace>,
}

impl<'s> EvalScratch<'s> {
    /// The context of one evaluation.
    pub(crate) fn context(&self) -> Context<'s> {
        let context = Context::new(&self.arena.arena, PER_CALL_LIMIT).with_types(&self.arena.typed_roots);
        match self.interrupt {
            Some(interrupt) => context.with_interrupt(interrupt),
            None => context,
        }
    }

    /// Evaluates a program; gives its result and its cost.
    #[inline]
    pub(crate) fn evaluate(
        &self,
        program: &'s Program,
        activation: &Activation<'s>,
    ) -> (Evaluation<'s>, u64) {
        let context = self.context();
        let evaluation = match self.trace {
            None => program.evaluate(&context, activation),
            Some(_) => trace::evaluate(program, &context, activation, self.trace),
        };
        (evaluation, context.cost())
    }
}
