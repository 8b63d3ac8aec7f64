//! The results of a batch for one request.

use pratique_cel::Value;

use super::expressions::{BatchExpressions, ExpressionRole};
use crate::inputs::InputKey;
use crate::memo::entry::{MemoEntry, MemoKey, is_incomplete};
use pratique_core::UnfinishedEvaluation;

/// The results of the expressions of a batch.
#[derive(Debug)]
pub(crate) struct BatchResults<'s> {
    expressions: &'s BatchExpressions,
    /// The inputs of match conditions, and those of all others.
    inputs: [InputKey; 2],
    /// By the indices of the expressions.
    results: Vec<BatchResult>,
    /// The results that are not simply true.
    others: Vec<MemoEntry<'s>>,
}

#[derive(Clone, Copy, Debug)]
struct BatchResult {
    truth: ExpressionTruth,
    cost: u64,
    /// The variables that it read, a bit for each that it names.
    reads: u64,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpressionTruth {
    /// It was not evaluated.
    Unknown,
    True,
    /// Anything else, by its index among these.
    Other(u32),
}

impl<'s> BatchResults<'s> {
    /// No results yet.
    pub(super) fn new(expressions: &'s BatchExpressions, inputs: [InputKey; 2]) -> Self {
        const UNKNOWN: BatchResult = BatchResult {
            truth: ExpressionTruth::Unknown,
            cost: 0,
            reads: 0,
        };
        BatchResults {
            expressions,
            inputs,
            results: vec![UNKNOWN; expressions.len()],
            others: Vec::new(),
        }
    }

    /// Takes all results out.
    pub(super) fn take(&mut self) -> Self {
        BatchResults {
            results: std::mem::take(&mut self.results),
            others: std::mem::take(&mut self.others),
            ..*self
        }
    }

    /// The value of the expression at an index.
    pub(super) fn truth(&self, index: u32) -> ExpressionTruth {
        let result = self.results.get(index as usize);
        result.map_or(ExpressionTruth::Unknown, |result| result.truth)
    }

    /// The cost of the expression at an index.
    pub(super) fn cost(&self, index: u32) -> u64 {
        self.results.get(index as usize).map_or(0, |result| result.cost)
    }

    /// Whether one of the others is false.
    pub(super) fn is_false(&self, other: u32) -> bool {
        let entry = self.others.get(other as usize);
        entry.is_some_and(|entry| matches!(entry.evaluation, Ok(Value::Bool(false))))
    }

    /// Adds a result. One that depends on missing input stays unknown: its policies report that.
    pub(super) fn add(
        &mut self,
        index: u32,
        entry: MemoEntry<'s>,
    ) -> Result<ExpressionTruth, UnfinishedEvaluation> {
        let MemoEntry { cost, reads, .. } = entry;
        if let Some(unfinished) = entry
            .evaluation
            .as_ref()
            .err()
            .and_then(UnfinishedEvaluation::from_fault)
        {
            return Err(unfinished);
        }
        if entry.evaluation.as_ref().is_err_and(is_incomplete) {
            return Ok(ExpressionTruth::Unknown);
        }
        let truth = match entry.evaluation {
            Ok(Value::Bool(true)) => ExpressionTruth::True,
            _ => {
                self.others.push(entry);
                ExpressionTruth::Other(self.others.len() as u32 - 1)
            }
        };
        if let Some(result) = self.results.get_mut(index as usize) {
            *result = BatchResult { truth, cost, reads };
        }
        Ok(truth)
    }

    /// The result under a key; `None` where the batch did not evaluate the expression with these inputs.
    pub(crate) fn get(&self, key: MemoKey) -> Option<MemoEntry<'s>> {
        let [conditions, others] = self.inputs;
        let find = |role, inputs| {
            let (index, expression) = self.expressions.find(key.expression(), role)?;
            let result = self.results.get(index as usize)?;
            let is_same = key.has_inputs(inputs, expression.bound.inputs());
            (is_same && result.truth != ExpressionTruth::Unknown).then_some(result)
        };
        let result =
            find(ExpressionRole::Other, others).or_else(|| find(ExpressionRole::Condition, conditions))?;
        match result.truth {
            ExpressionTruth::Unknown => None,
            ExpressionTruth::True => Some(MemoEntry {
                evaluation: Ok(Value::Bool(true)),
                cost: result.cost,
                reads: result.reads,
            }),
            ExpressionTruth::Other(index) => self.others.get(index as usize).cloned(),
        }
    }
}
