//! Functions: what the checker knows of them, what the evaluator calls, what they cost.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// A function or operator with its overloads.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name: `size`, `_+_`, `quantity` …
    pub name: Arc<str>,
    /// Its overloads, in the order the checker tries them.
    pub overloads: Vec<Overload>,
    /// One implementation for all overloads, which looks at the arguments itself.
    pub singleton: Option<Implementation>,
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
    /// What it does; `None` where the function has one implementation for all, or the planner a node of its own.
    pub implementation: Option<Implementation>,
    /// What a call costs where the overload is known from the types alone; by default 1.
    pub cost: Option<CostFn>,
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

/// The cost of a call from its arguments and its result; `result` is `None` where the call gave an error.
pub type CostFn = for<'a> fn(arguments: &[Value<'a>], result: Option<&Value<'a>>) -> u64;

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

    /// Gives all overloads one implementation.
    pub fn singleton(mut self, call: CallFn) -> Self {
        self.singleton = Some(Implementation::Fn(call));
        self
    }
}

impl Overload {
    /// A signature without implementation.
    pub fn new(id: &str, member: bool, params: &[Type], result: Type) -> Self {
        let (id, params) = (id.into(), params.into());
        Overload {
            id,
            params,
            result,
            member,
            implementation: None,
            cost: None,
        }
    }

    /// Sets what it does.
    pub fn implemented(mut self, call: CallFn) -> Self {
        self.implementation = Some(Implementation::Fn(call));
        self
    }

    /// Sets what it does to a closure of the host.
    pub fn shared(mut self, call: Arc<SharedCallFn>) -> Self {
        self.implementation = Some(Implementation::Shared(call));
        self
    }

    /// Sets what it costs.
    pub fn costing(mut self, cost: CostFn) -> Self {
        self.cost = Some(cost);
        self
    }
}
