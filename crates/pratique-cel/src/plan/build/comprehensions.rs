//! Planning comprehensions: the expansions of macros are recognised, to be evaluated natively.

use super::ExpressionPlanner;
use crate::ast::{Ast, Comprehension, Expr, ExprId, Literal};
use crate::error::PlanError;
use crate::parser::ACCUMULATOR;
use crate::plan::node::{FoldKind, LIST_COST, LocalIndex, NodeId, PlanNode, PlannedFold};

impl ExpressionPlanner<'_> {
    pub(super) fn plan_comprehension(
        &mut self,
        id: ExprId,
        comprehension: &Comprehension,
    ) -> Result<NodeId, PlanError> {
        let ast = &self.checked.ast;
        if ast.is_binding(comprehension) {
            return self.plan_binding(id, comprehension);
        }
        let macro_call = ExpandedMacro::recognize(ast, comprehension);
        let init = match macro_call {
            Some(_) => None,
            None => Some(self.plan(comprehension.init)?),
        };
        let range = self.plan(comprehension.range)?;
        let outer = self.scope.len();
        let accumulator = self.new_local();
        let first = self.new_local();
        self.scope.extend([accumulator, first]);
        let second = comprehension.var2.is_some().then(|| self.new_local());
        self.scope.extend(second);
        let shape = match macro_call {
            Some(macro_call) => self.plan_macro(macro_call),
            None => self.plan_steps(comprehension, accumulator, init),
        };
        self.scope.truncate(outer);
        let fold = PlannedFold {
            range,
            first,
            second,
            shape: shape?,
        };
        Ok(self.add(id, PlanNode::Fold(Box::new(fold))))
    }

    /// A comprehension over an empty list names its initial value.
    fn plan_binding(&mut self, id: ExprId, comprehension: &Comprehension) -> Result<NodeId, PlanError> {
        let value = self.plan(comprehension.init)?;
        self.check_names_no_type(comprehension.step, &comprehension.accumulator)?;
        let local = self.new_local();
        self.scope.push(local);
        let body = self.plan(comprehension.result);
        self.scope.pop();
        let body = body?;
        Ok(self.add(id, PlanNode::Let { local, value, body }))
    }

    fn plan_macro(&mut self, macro_call: ExpandedMacro) -> Result<FoldKind, PlanError> {
        Ok(match macro_call {
            ExpandedMacro::All(predicate) => FoldKind::All(self.plan(predicate)?),
            ExpandedMacro::Exists(predicate) => FoldKind::Exists(self.plan(predicate)?),
            ExpandedMacro::ExistsOne(predicate) => FoldKind::ExistsOne(self.plan(predicate)?),
            ExpandedMacro::List { filter, element } => {
                let filter = self.plan_filter(filter)?;
                let element = self.plan(element)?;
                let list_cost = if self.constant(element).is_some() {
                    0
                } else {
                    LIST_COST
                };
                FoldKind::List {
                    filter,
                    element,
                    list_cost,
                }
            }
            ExpandedMacro::Map { filter, key, value } => {
                let filter = self.plan_filter(filter)?;
                if let Expr::Ident(name) = self.checked.ast.expr(key) {
                    self.check_names_no_type(key, name)?;
                }
                let value = self.plan(value)?;
                FoldKind::Map {
                    filter,
                    value,
                    by_key: true,
                }
            }
            ExpandedMacro::Entries { filter, value } => FoldKind::Map {
                by_key: false,
                filter: self.plan_filter(filter)?,
                value: self.plan(value)?,
            },
        })
    }

    fn plan_filter(&mut self, filter: Option<ExprId>) -> Result<Option<NodeId>, PlanError> {
        filter.map(|filter| self.plan(filter)).transpose()
    }

    fn plan_steps(
        &mut self,
        comprehension: &Comprehension,
        accumulator: LocalIndex,
        init: Option<NodeId>,
    ) -> Result<FoldKind, PlanError> {
        let init = match init {
            Some(init) => init,
            None => self.plan(comprehension.init)?,
        };
        let condition = self.plan(comprehension.condition)?;
        let step = self.plan(comprehension.step)?;
        // The result sees the accumulator only.
        let outer = self.scope.len() - if comprehension.var2.is_some() { 2 } else { 1 };
        self.scope.truncate(outer);
        let result = self.plan(comprehension.result)?;
        Ok(FoldKind::Generic {
            accumulator,
            init,
            condition,
            step,
            result,
        })
    }
}

/// A macro with the expressions that the user wrote.
enum ExpandedMacro {
    All(ExprId),
    Exists(ExprId),
    ExistsOne(ExprId),
    List {
        filter: Option<ExprId>,
        element: ExprId,
    },
    Map {
        filter: Option<ExprId>,
        key: ExprId,
        value: ExprId,
    },
    Entries {
        filter: Option<ExprId>,
        value: ExprId,
    },
}

impl ExpandedMacro {
    /// The macro that a comprehension is exactly the expansion of. Expressions of users cannot name its accumulator.
    fn recognize(ast: &Ast, comprehension: &Comprehension) -> Option<ExpandedMacro> {
        if *comprehension.accumulator != *ACCUMULATOR {
            return None;
        }
        match ast.expr(comprehension.init) {
            Expr::Literal(Literal::Bool(init)) => quantifier(ast, comprehension, *init),
            _ if *ast.expr(comprehension.condition) != Expr::Literal(Literal::Bool(true)) => None,
            Expr::Literal(Literal::Int(0)) => exists_one(ast, comprehension),
            _ if !is_accumulator(ast, comprehension.result) => None,
            Expr::List { .. } if ast.is_empty_list(comprehension.init) => collect_list(ast, comprehension),
            Expr::Map(entries) if entries.is_empty() => insert(ast, comprehension),
            _ => None,
        }
    }
}

fn quantifier(ast: &Ast, comprehension: &Comprehension, init: bool) -> Option<ExpandedMacro> {
    let [condition] = call(ast, comprehension.condition, "@not_strictly_false")?;
    let read = if init {
        condition
    } else {
        call::<1>(ast, condition, "!_")?[0]
    };
    let operator = if init { "_&&_" } else { "_||_" };
    let [so_far, predicate] = call(ast, comprehension.step, operator)?;
    let all_read = [read, so_far, comprehension.result];
    if !all_read.iter().all(|id| is_accumulator(ast, *id)) {
        return None;
    }
    Some(if init {
        ExpandedMacro::All(predicate)
    } else {
        ExpandedMacro::Exists(predicate)
    })
}

fn exists_one(ast: &Ast, comprehension: &Comprehension) -> Option<ExpandedMacro> {
    let is_one = |id: ExprId| *ast.expr(id) == Expr::Literal(Literal::Int(1));
    let [predicate, counted, unchanged] = call(ast, comprehension.step, "_?_:_")?;
    let [count, one] = call(ast, counted, "_+_")?;
    let [total, once] = call(ast, comprehension.result, "_==_")?;
    let all_read = [unchanged, count, total];
    let as_expected = all_read.iter().all(|id| is_accumulator(ast, *id)) && is_one(one) && is_one(once);
    as_expected.then_some(ExpandedMacro::ExistsOne(predicate))
}

fn collect_list(ast: &Ast, comprehension: &Comprehension) -> Option<ExpandedMacro> {
    let (filter, step) = filtered(ast, comprehension.step)?;
    let [so_far, more] = call(ast, step, "_+_")?;
    match ast.expr(more) {
        Expr::List { elements, optional } if is_accumulator(ast, so_far) && optional.is_empty() => {
            match **elements {
                [element] => Some(ExpandedMacro::List { filter, element }),
                _ => None,
            }
        }
        _ => None,
    }
}

fn insert(ast: &Ast, comprehension: &Comprehension) -> Option<ExpandedMacro> {
    let (filter, step) = filtered(ast, comprehension.step)?;
    if let Some([so_far, value]) = call(ast, step, "cel.@mapInsert") {
        return is_accumulator(ast, so_far).then_some(ExpandedMacro::Entries { filter, value });
    }
    let [so_far, key, value] = call(ast, step, "cel.@mapInsert")?;
    let by_key = is_name(ast, key, &comprehension.var);
    (is_accumulator(ast, so_far) && by_key).then_some(ExpandedMacro::Map { filter, key, value })
}

/// The filter of a step and the step itself; `None` if the step has another form.
fn filtered(ast: &Ast, step: ExprId) -> Option<(Option<ExprId>, ExprId)> {
    match call(ast, step, "_?_:_") {
        Some([filter, step, unchanged]) => is_accumulator(ast, unchanged).then_some((Some(filter), step)),
        None => Some((None, step)),
    }
}

fn call<const N: usize>(ast: &Ast, id: ExprId, name: &str) -> Option<[ExprId; N]> {
    match ast.expr(id) {
        Expr::Call {
            function,
            target: None,
            args,
        } if **function == *name => args.as_slice().try_into().ok(),
        _ => None,
    }
}

fn is_accumulator(ast: &Ast, id: ExprId) -> bool {
    is_name(ast, id, ACCUMULATOR)
}

fn is_name(ast: &Ast, id: ExprId, name: &str) -> bool {
    matches!(ast.expr(id), Expr::Ident(ident) if **ident == *name)
}
