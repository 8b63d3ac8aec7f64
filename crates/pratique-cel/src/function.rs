//! Functions: their signatures, implementations and costs.

use std::fmt;
use std::sync::Arc;

use pratique_gotext::regexp::Regex;

use crate::arena::Arena;
use crate::context::Context;
use crate::cost::{self, CostFn, CostNeed, EstimateFn};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

/// A function or operator with its overloads.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name: `size`, `_+_`, `quantity` …
    pub name: Arc<str>,
    /// Its overloads, in the order the checker tries them.
    pub overloads: Vec<Overload>,
    /// One implementation for all overloads, which looks at the arguments itself.
    #[doc(hidden)]
    pub singleton: Option<Implementation>,
    /// The cost of calls whose overload has no cost of its own or is found at run time only; by default 1.
    pub cost: Option<CostFn>,
    /// The estimated cost of a call; by default that of its arguments and 1, or for the functions of this crate that of
    /// the reference.
    pub estimate: Option<EstimateFn>,
    /// The implementation for calls whose second argument, a regular expression, is a constant.
    #[doc(hidden)]
    pub with_pattern: Option<PatternFn>,
    /// The intrinsic by which the evaluator computes it.
    pub(crate) intrinsic: Option<Intrinsic>,
    /// Whether its cost is that of walking over all of its first argument, which may take long.
    pub(crate) traverses: bool,
}

/// Standard functions that the evaluator computes itself. All but the first are predicates of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    Not,
    StartsWith,
    EndsWith,
    Contains,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Matches,
}

/// One signature of a function.
#[derive(Clone, Debug)]
pub struct Overload {
    /// Its identity: `string_char_at_int` …
    pub id: Arc<str>,
    /// The types of the arguments; of a member function the receiver's first.
    pub params: Arc<[Type]>,
    /// The type of the result.
    pub result: Type,
    /// Whether it is called as `receiver.function(…)`.
    pub member: bool,
    /// The implementation; `None` where the function has one for all overloads, or the planner has a node for it.
    pub implementation: Option<Implementation>,
    /// The cost of calls whose overload is known from the types alone; by default the cost of the function.
    pub cost: Option<CostFn>,
    /// The argument that has to be of a type for the cost to be known; it is an internal error where it is not.
    #[doc(hidden)]
    pub cost_needs: Option<(usize, CostNeed)>,
    /// Whether an argument that is an error keeps the later ones from being evaluated and the call from being charged, as it
    /// does in all calls of more than two arguments.
    #[doc(hidden)]
    pub sequential: bool,
    /// Computes a call with a constant string while planning, where a string is all that it takes.
    #[doc(hidden)]
    pub with_text: Option<TextFn>,
    /// The names of the type parameters that it has, each once.
    pub(crate) type_params: Arc<[Arc<str>]>,
}

/// Code that computes a call from values: never called with an error among the arguments.
#[derive(Clone)]
pub enum Implementation {
    /// A plain function.
    Fn(CallFn),
    /// A closure of the host.
    Shared(Arc<SharedCallFn>),
}

/// A plain function behind a CEL function.
pub type CallFn = for<'a> fn(&Context<'a>, &[Value<'a>]) -> Evaluation<'a>;

/// A closure behind a CEL function.
pub type SharedCallFn = dyn for<'a> Fn(&Context<'a>, &[Value<'a>]) -> Evaluation<'a> + Send + Sync;

/// A call whose second argument was a constant pattern, compiled while planning.
pub type PatternFn = for<'a> fn(&Context<'a>, &Regex, &[Value<'a>]) -> Evaluation<'a>;

/// Computes a call whose only argument is a constant string, while planning; `None` where it gives an error.
pub type TextFn = fn(&str) -> Option<ConstantValue>;

/// A value that is computed while planning, and copied by each call: as keys of maps, values of abstract types do not equal
/// others with the same content.
#[derive(Clone)]
pub struct ConstantValue(Arc<CopyFn>);

type CopyFn = dyn for<'a> Fn(&'a Arena) -> Value<'a> + Send + Sync;

impl ConstantValue {
    /// A value by how it is copied.
    pub fn new(copy: impl for<'a> Fn(&'a Arena) -> Value<'a> + Send + Sync + 'static) -> Self {
        ConstantValue(Arc::new(copy))
    }

    /// A value of an abstract type, which is cloned.
    pub fn opaque<T: Opaque + Clone + Send + Sync>(value: T) -> Self {
        ConstantValue::new(move |arena| arena.opaque(value.clone()))
    }

    /// A copy.
    pub fn copy<'a>(&self, arena: &'a Arena) -> Value<'a> {
        (self.0)(arena)
    }
}

impl fmt::Debug for ConstantValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ConstantValue")
            .field(&self.copy(&Arena::new()))
            .finish()
    }
}

impl Implementation {
    /// Calls it.
    pub fn call<'a>(&self, context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
        match self {
            Implementation::Fn(call) => call(context, arguments),
            Implementation::Shared(call) => call(context, arguments),
        }
    }
}

impl fmt::Debug for Implementation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Implementation")
    }
}

impl Function {
    /// A function without overloads yet.
    pub fn new(name: &str) -> Self {
        Function {
            name: name.into(),
            overloads: Vec::new(),
            singleton: None,
            cost: None,
            estimate: None,
            with_pattern: None,
            intrinsic: None,
            traverses: false,
        }
    }

    /// Adds a global overload: `name(params…)`.
    pub fn global(self, id: &str, params: &[Type], result: Type, call: CallFn) -> Self {
        self.with(Overload::new(id, false, params, result).implemented(call))
    }

    /// Adds a member overload: `params[0].name(params[1..]…)`.
    pub fn member(self, id: &str, params: &[Type], result: Type, call: CallFn) -> Self {
        self.with(Overload::new(id, true, params, result).implemented(call))
    }

    /// Adds member overloads, each by its id and parameters, that have the same result and implementation.
    pub(crate) fn members(self, result: &Type, call: CallFn, overloads: &[(&str, &[Type])]) -> Self {
        overloads.iter().fold(self, |function, (id, params)| {
            function.member(id, params, result.clone(), call)
        })
    }

    /// Adds an overload.
    pub fn with(mut self, overload: Overload) -> Self {
        self.overloads.push(overload);
        self
    }

    /// Sets the cost of the overload added last.
    pub fn costing(mut self, cost: CostFn) -> Self {
        if let Some(overload) = self.overloads.last_mut() {
            overload.cost = Some(cost);
        }
        self
    }

    /// Sets the cost of calls to all overloads that have none of their own.
    pub fn costing_always(mut self, cost: CostFn) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Sets the cost of calls to that of walking over all of their first argument.
    pub(crate) fn traversing(self) -> Self {
        Function {
            traverses: true,
            ..self.costing_always(cost::traverses_first)
        }
    }

    /// Sets the estimated cost of calls by the sizes of their arguments.
    pub fn estimating(mut self, estimate: EstimateFn) -> Self {
        self.estimate = Some(estimate);
        self
    }

    /// Sets the implementation for calls whose second argument is a constant pattern.
    pub fn with_pattern(mut self, call: PatternFn) -> Self {
        self.with_pattern = Some(call);
        self
    }

    /// Sets how the overload added last is computed while planning, from a constant string.
    pub fn with_text(mut self, make: TextFn) -> Self {
        if let Some(overload) = self.overloads.last_mut() {
            overload.with_text = Some(make);
        }
        self
    }

    /// Sets the intrinsic by which the evaluator computes it.
    pub(crate) fn intrinsic(mut self, intrinsic: Intrinsic) -> Self {
        self.intrinsic = Some(intrinsic);
        self
    }

    /// Gives all overloads one implementation.
    pub fn singleton(mut self, call: CallFn) -> Self {
        self.singleton = Some(Implementation::Fn(call));
        self
    }
}

impl Overload {
    /// A signature without implementation.
    pub fn new(id: &str, member: bool, params: &[Type], result: Type) -> Self {
        let mut type_params = Vec::new();
        for of in std::iter::once(&result).chain(params) {
            collect_params(of, &mut type_params);
        }
        Overload {
            id: id.into(),
            params: params.into(),
            result,
            member,
            implementation: None,
            cost: None,
            cost_needs: None,
            sequential: false,
            with_text: None,
            type_params: type_params.into(),
        }
    }

    /// Sets the implementation.
    pub fn implemented(mut self, call: CallFn) -> Self {
        self.implementation = Some(Implementation::Fn(call));
        self
    }

    /// Sets the implementation to a closure, which may hold state of the host.
    pub fn shared<F>(mut self, call: F) -> Self
    where
        F: for<'a> Fn(&Context<'a>, &[Value<'a>]) -> Evaluation<'a> + Send + Sync + 'static,
    {
        self.implementation = Some(Implementation::Shared(Arc::new(call)));
        self
    }

    /// Sets the cost.
    pub fn costing(mut self, cost: CostFn) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Makes the first argument that is an error the result of a call.
    pub fn sequential(mut self) -> Self {
        self.sequential = true;
        self
    }

    /// Sets the cost, which is known only where an argument has a type.
    pub fn costing_by(mut self, index: usize, need: CostNeed, cost: CostFn) -> Self {
        self.cost_needs = Some((index, need));
        self.costing(cost)
    }
}

/// Adds the type parameters within a type to those found so far.
fn collect_params(of: &Type, names: &mut Vec<Arc<str>>) {
    match of {
        Type::Param(name) if !names.contains(name) => names.push(name.clone()),
        Type::Wrapper(inner) | Type::List(inner) | Type::Type(Some(inner)) => collect_params(inner, names),
        Type::Map(key, value) => {
            collect_params(key, names);
            collect_params(value, names);
        }
        Type::Opaque(_, params) => params.iter().for_each(|param| collect_params(param, names)),
        _ => {}
    }
}
