//! Reports on expressions, for tools: result type, cost, the variables and fields read, the functions called.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use crate::ast::{Comprehension, Expr, ExprId};
use crate::checker::{CheckedAst, Reference};
use crate::cost::Range;
use crate::environment::Environment;
use crate::estimate::{Sizes, estimate};
use crate::types::Type;

/// The variables, functions and macros that a checked expression uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The type of its result.
    pub result: Type,
    /// The range of its cost.
    pub cost: Range,
    /// The variables of the environment that it reads.
    pub variables: BTreeSet<String>,
    /// What it reads of them: `object.spec.containers[].image`, where `[]` stands for any element, value or index
    /// that is not a constant string. Only the longest of paths that start alike.
    pub paths: BTreeSet<String>,
    /// The functions that it calls, those included that macros expand to: `startsWith`, `optional.none` …
    pub functions: BTreeSet<String>,
    /// The operators that it uses, those included that macros expand to: `_+_`, `_?_:_` …
    pub operators: BTreeSet<String>,
    /// The macros that it uses: `has`, `all` …
    pub macros: BTreeSet<String>,
}

impl Report {
    /// Looks through an expression that was checked in an environment; `sizes` bound its cost.
    pub fn new(environment: &Environment, checked: &CheckedAst, sizes: &dyn Sizes) -> Self {
        let mut walk = ReportWalk {
            environment,
            checked,
            locals: Vec::new(),
            variables: BTreeSet::new(),
            paths: BTreeSet::new(),
            functions: BTreeSet::new(),
            operators: BTreeSet::new(),
        };
        walk.visit(checked.ast.root);
        let macros = checked.ast.macro_calls.values().filter_map(|call| match call {
            Expr::Call { function, .. } => Some(function.as_ref().to_owned()),
            _ => None,
        });
        Report {
            result: checked.result_type().clone(),
            cost: estimate(checked, sizes),
            paths: longest(walk.paths),
            variables: walk.variables,
            functions: walk.functions,
            operators: walk.operators,
            macros: macros.collect(),
        }
    }
}

/// One line for each part that is not empty, the type and the cost first.
impl Display for Report {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "result: {}\ncost: {}", self.result, self.cost)?;
        for (label, names) in [
            ("variables", &self.variables),
            ("reads", &self.paths),
            ("functions", &self.functions),
            ("operators", &self.operators),
            ("macros", &self.macros),
        ] {
            for (index, name) in names.iter().enumerate() {
                match index {
                    0 => write!(formatter, "\n{label}: {name}")?,
                    _ => write!(formatter, ", {name}")?,
                }
            }
        }
        Ok(())
    }
}

struct ReportWalk<'r> {
    environment: &'r Environment,
    checked: &'r CheckedAst,
    /// For each variable of the comprehensions around the node: the path of its value, where it has one.
    locals: Vec<Option<String>>,
    variables: BTreeSet<String>,
    paths: BTreeSet<String>,
    functions: BTreeSet<String>,
    operators: BTreeSet<String>,
}

/// The longest path that is followed; the rest of a longer one is left out.
const LONGEST_PATH: usize = 1_000;

impl<'r> ReportWalk<'r> {
    /// Visits a node and all below it; the path that its value has, if any.
    fn visit(&mut self, id: ExprId) -> Option<String> {
        let path = self.path(id);
        if let Some(path) = &path {
            self.paths.insert(path.clone());
        }
        path
    }

    fn path(&mut self, id: ExprId) -> Option<String> {
        let checked = self.checked;
        match checked.ast.expr(id) {
            Expr::Ident(_) => self.name(id),
            Expr::Select { operand, field, .. } => {
                let path = self.path(*operand)?;
                Some(extended(path, &format!(".{field}")))
            }
            Expr::Call {
                function,
                target,
                args,
            } => self.call(function, *target, args),
            Expr::Comprehension(comprehension) => {
                self.comprehension(comprehension);
                None
            }
            other => {
                other.for_each_child(|child| drop(self.visit(child)));
                None
            }
        }
    }

    fn name(&mut self, id: ExprId) -> Option<String> {
        match self.checked.reference(id)? {
            Reference::Variable(slot) => {
                let name = self.environment.variable_name(*slot)?;
                self.variables.insert(name.to_owned());
                Some(name.to_owned())
            }
            Reference::Local(place) => self.locals.get(*place as usize)?.clone(),
            _ => None,
        }
    }

    fn call(&mut self, function: &str, target: Option<ExprId>, args: &'r [ExprId]) -> Option<String> {
        let is_operator = function.contains('_') && !function.contains(|c: char| c.is_alphanumeric());
        match function {
            "@in" => self.operators.insert("_in_".to_owned()),
            // Functions that only macros can call are not reported.
            _ if function.contains('@') => false,
            _ if is_operator || matches!(function, "!_" | "-_") => self.operators.insert(function.to_owned()),
            _ => self.functions.insert(function.to_owned()),
        };
        match (function, target, args) {
            ("_?._" | "_[_]" | "_[?_]", None, [operand, key]) => {
                let path = self.path(*operand);
                self.visit(*key);
                let step = match self.checked.ast.expr(*key) {
                    Expr::Literal(crate::ast::Literal::String(name)) => format!(".{name}"),
                    _ => "[]".to_owned(),
                };
                path.map(|path| extended(path, &step))
            }
            ("value" | "orValue" | "or", Some(target), args) => {
                args.iter().for_each(|arg| drop(self.visit(*arg)));
                self.path(target)
            }
            ("dyn", None, [only]) => self.path(*only),
            _ => {
                let operands = target.iter().chain(args);
                operands.for_each(|operand| drop(self.visit(*operand)));
                None
            }
        }
    }

    fn comprehension(&mut self, comprehension: &Comprehension) {
        let range = self.visit(comprehension.range);
        let is_map = matches!(self.checked.type_of(comprehension.range), Type::Map(..));
        let element = range.map(|path| extended(path, "[]"));
        let accumulator = self.visit(comprehension.init);
        let outer = self.locals.len();
        self.locals.push(accumulator);
        if comprehension.var2.is_some() {
            self.locals.extend([None, element])
        } else {
            self.locals.push(element.filter(|_| !is_map))
        }
        self.visit(comprehension.condition);
        self.visit(comprehension.step);
        self.locals.truncate(outer + 1);
        self.visit(comprehension.result);
        self.locals.truncate(outer);
    }
}

fn extended(mut path: String, step: &str) -> String {
    if path.len() + step.len() <= LONGEST_PATH {
        path.push_str(step);
    }
    path
}

/// The paths that are no prefix of another path.
fn longest(paths: BTreeSet<String>) -> BTreeSet<String> {
    let goes_on = |path: &String, other: &String| {
        other
            .strip_prefix(path.as_str())
            .is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    let kept = paths.iter().filter(|path| {
        let mut after =
            paths.range::<String, _>((std::ops::Bound::Excluded(*path), std::ops::Bound::Unbounded));
        !after
            .by_ref()
            .take_while(|other| other.starts_with(path.as_str()))
            .any(|other| goes_on(path, other))
    });
    kept.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::UnknownSizes;

    fn report(text: &str) -> Report {
        let environment = Environment::kubernetes()
            .with_variable("object", Type::Dyn)
            .with_variable("params", Type::Dyn)
            .with_variable("params.more", Type::Int);
        let checked = environment
            .parse(text)
            .and_then(|ast| environment.check_types(ast))
            .unwrap();
        Report::new(&environment, &checked, &UnknownSizes)
    }

    fn joined<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
        names.into_iter().cloned().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn paths() {
        let check = |text, expected: &str| assert_eq!(joined(&report(text).paths), expected, "{text}");
        check("object.spec.replicas > 1", "object.spec.replicas");
        check("has(object.a.b) ? object.a : 1", "object.a.b");
        check("object.a['b'][0].c", "object.a.b[].c");
        check("object.?a.?b.orValue(params.more)", "object.a.b params.more");
        check(
            "object.spec.containers.all(c, c.image.startsWith(params.registry))",
            "object.spec.containers[].image params.registry",
        );
        check("object.l.map(x, x.y.map(z, z.w))", "object.l[].y[].w");
        check("[1].exists(object, object == 1)", "");
        check("object.a.?b.optMap(b, b.c)", "object.a.b.c");
        check("object.m.all(k, v, v.x == k)", "object.m[].x");
    }

    #[test]
    fn variables() {
        let check = |text, expected: &str| assert_eq!(joined(&report(text).variables), expected, "{text}");
        check("true", "");
        check("object.a == params.more", "object params.more");
        check("[1].all(params, params == 1)", "");
        check("object[params.a.b]", "object params");
    }

    #[test]
    fn functions_operators_and_macros() {
        let check = |text, functions: &str, operators: &str, macros: &str| {
            let report = report(text);
            let found = [&report.functions, &report.operators, &report.macros].map(joined);
            assert_eq!(found, [functions, operators, macros], "{text}");
        };
        check("object.a > 1", "", "_>_", "");
        check(
            "-object.a in [1] ? 'a'.size() : size([])",
            "size",
            "-_ _?_:_ _in_",
            "",
        );
        check("has(object.a) && !object.a", "", "!_ _&&_", "has");
        check("[1].map(x, quantity('1').add(x))", "add quantity", "_+_", "map");
        check("{1: 2}.transformMap(k, v, v)", "", "", "transformMap");
        check(
            "object.?b.optMap(b, b)",
            "hasValue optional.none optional.of value",
            "_?._ _?_:_",
            "optMap",
        );
    }

    #[test]
    fn as_text() {
        assert_eq!(
            report("has(object.a) && 'x'.startsWith(object.b)").to_string(),
            "result: bool\ncost: at least 1\nvariables: object\nreads: object.a, object.b\n\
             functions: startsWith\noperators: _&&_\nmacros: has"
        );
        assert_eq!(
            report("[object]").to_string(),
            "result: list(dyn)\ncost: 11\nvariables: object\nreads: object"
        );
        assert!(report("object.all(o, o)").to_string().contains("cost: at least "));
    }
}
