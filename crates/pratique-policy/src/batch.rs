//! Evaluates the validations of many policies at once; a single policy is a batch of one.
//!
//! Most policies allow most requests, and many have expressions in common. A [`BatchEvaluator`] has the expressions of
//! the policies with equal match constraints, each once, and evaluates them as their policies need them. It decides on
//! every policy that does not apply or whose validations are all true. The others, and those whose decision depends on
//! more than that, are evaluated one by one, with the results of the batch.

mod evaluator;
mod expressions;
mod member;
mod parallel;
pub(crate) mod results;
mod run;

pub(crate) use evaluator::BatchEvaluator;
