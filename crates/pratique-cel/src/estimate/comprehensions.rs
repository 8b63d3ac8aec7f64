//! The cost of comprehensions: that of an iteration times the maximum size of the range.

use super::{CostEstimator, LocalEstimate, below};
use crate::ast::{Comprehension, Expr, ExprId};
use crate::cost::Range;
use crate::types::Type;

impl CostEstimator<'_> {
    pub(super) fn binding(&mut self, id: ExprId, comprehension: &Comprehension) -> Range {
        let range = self.cost(comprehension.range);
        let init = self.cost(comprehension.init);
        let outer = self.locals.len();
        self.push_accumulator(comprehension);
        let result = self.cost(comprehension.result);
        // The reference asks for the size when the name is gone: that of the name itself is known from its path only.
        let path = self.path(comprehension.result);
        self.locals.truncate(outer);
        self.set_path(comprehension.result, path);
        self.copy_size(id, comprehension.result);
        range.plus(init).plus(result)
    }

    pub(super) fn comprehension(&mut self, id: ExprId, comprehension: &Comprehension) -> Range {
        let range = self.cost(comprehension.range);
        let init = self.cost(comprehension.init);
        let outer = self.locals.len();
        self.push_accumulator(comprehension);
        self.push_variables(comprehension);
        let turn = self.cost(comprehension.condition);
        let turn = turn.plus(self.cost(comprehension.step));
        let step_entry = self.entry_size(comprehension.step);
        self.locals.truncate(outer + 1);
        let result = self.cost(comprehension.result);
        self.locals.truncate(outer);

        let turns = self.size_or_unknown(comprehension.range);
        match self.checked.ast.expr(comprehension.init) {
            Expr::Literal(_) => {
                let size = self.size(comprehension.init);
                self.set_size(id, size);
            }
            Expr::List { .. } | Expr::Map(_) => {
                self.set_size(id, Some(turns));
                self.set_entry(id, step_entry);
            }
            _ => {}
        }
        range.plus(init).plus(result).plus(turns.times(turn))
    }

    fn push_accumulator(&mut self, comprehension: &Comprehension) {
        let local = LocalEstimate {
            path: self.path(comprehension.init),
            size: self.size(comprehension.init),
            entry: self.entry_size(comprehension.init),
        };
        self.locals.push(local);
    }

    fn push_variables(&mut self, comprehension: &Comprehension) {
        let entry = self.entry_size(comprehension.range);
        let is_list = match entry {
            Some(entry) => entry.is_list,
            None => matches!(self.checked.type_of(comprehension.range), Type::List(_)),
        };
        let key = entry.map(|entry| entry.key);
        let value = entry.map(|entry| entry.value);
        let (keys, values) = if is_list {
            ("@indices", "@items")
        } else {
            ("@keys", "@values")
        };
        let variables = match (comprehension.var2.is_some(), is_list) {
            (true, _) => vec![(keys, key), (values, value)],
            (false, true) => vec![(values, value)],
            (false, false) => vec![(keys, key)],
        };
        let range = self.path(comprehension.range);
        for (step, size) in variables {
            let path = below(range.clone(), step);
            self.locals.push(LocalEstimate {
                path,
                size,
                entry: None,
            });
        }
    }
}
