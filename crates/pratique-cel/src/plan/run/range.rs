//! Ranges of comprehensions.

use super::PlanEvaluator;
use crate::error::Fault;
use crate::ops;
use crate::plan::node::PlannedFold;
use crate::plan::observe::EvaluationObserver;
use crate::value::{List, Map, Value};

/// A list or map.
#[derive(Clone, Copy, Debug)]
pub(super) enum FoldRange<'a> {
    List(List<'a>),
    Map(Map<'a>),
}

impl<'a> FoldRange<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            FoldRange::List(list) => list.len(),
            FoldRange::Map(map) => map.len(),
        }
    }

    /// The key and value of an iteration, or the index and element.
    pub(super) fn entry(&self, iteration: usize) -> (Value<'a>, Value<'a>) {
        match self {
            FoldRange::List(list) => (
                Value::Int(i64::try_from(iteration).unwrap_or(i64::MAX)),
                list.get(iteration).unwrap_or(Value::Null),
            ),
            FoldRange::Map(map) => map.entry(iteration).unwrap_or((Value::Null, Value::Null)),
        }
    }

    /// Whether its keys or indices are known to be distinct.
    pub(super) fn has_distinct_keys(&self) -> bool {
        matches!(
            self,
            FoldRange::List(_) | FoldRange::Map(Map::Json(_) | Map::Typed(_))
        )
    }
}

impl<'a, O: EvaluationObserver> PlanEvaluator<'_, 'a, O> {
    pub(super) fn range(&mut self, fold: &PlannedFold) -> Result<FoldRange<'a>, Fault> {
        match self.evaluate(fold.range)? {
            Value::List(list) => Ok(FoldRange::List(list)),
            Value::Map(map) => Ok(FoldRange::Map(map)),
            Value::Struct(value) if value.is_iterable() => {
                let mut entries = Vec::new();
                for (name, value) in value.fields(self.context)? {
                    entries.push((Value::String(name), value));
                }
                Ok(FoldRange::Map(Map::Entries(self.context.arena.slice(&entries))))
            }
            // Upstream: interpreter/interpretable.go of cel-go 0.33, evalFold, which does not look what is empty.
            Value::String("") | Value::Bytes([]) if self.program.is_of_cel_go_0_33 => {
                Ok(FoldRange::List(List::Values(&[])))
            }
            other => Err(not_iterable(&other, fold.second.is_some())),
        }
    }

    /// Binds the variables for an iteration.
    #[inline]
    pub(super) fn bind_iteration(&mut self, fold: &PlannedFold, range: &FoldRange<'a>, iteration: usize) {
        match (fold.second, range) {
            (None, FoldRange::List(list)) => {
                if let Some(element) = list.get(iteration) {
                    self.bind(fold.first, element);
                }
            }
            (None, FoldRange::Map(map)) => {
                if let Some((key, _)) = map.entry(iteration) {
                    self.bind(fold.first, key);
                }
            }
            (Some(second), range) => {
                let (key, value) = range.entry(iteration);
                self.bind(fold.first, key);
                self.bind(second, value);
            }
        }
    }
}

#[cold]
fn not_iterable(value: &Value<'_>, two_variables: bool) -> Fault {
    let name = ops::go_type(value);
    Fault::error(if two_variables {
        format!("unsupported comprehension range type: {name}")
    } else {
        format!("got '{name}', expected iterable type")
    })
}
