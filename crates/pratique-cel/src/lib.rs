//! The [Common Expression Language](https://cel.dev) with the semantics, messages and costs of Kubernetes: parser,
//! type checker, planner and evaluator, and every function library of an API server.
//!
//! # First example
//!
//! An [`Environment`] declares what expressions may use, and compiles them to [`Program`]s, which are immutable and
//! shared between threads. An evaluation takes an [`Arena`] for temporaries, a [`Context`] with its cost limit, and an
//! [`Activation`] with the values of the variables.
//!
//! ```
//! use pratique_cel::{Arena, Context, Environment, Type, Value, json};
//!
//! let environment = Environment::standard().with_variable("pod", Type::Dyn);
//! let program = environment.compile("pod.containers.all(c, c.image.startsWith('registry/'))")?;
//! let pod = program.slot("pod").ok_or("not declared")?;
//!
//! let document = json::parse(br#"{"containers": [{"image": "registry/app"}, {"image": "other/app"}]}"#)?;
//! let arena = Arena::new();
//! let context = Context::new(&arena, 1_000_000);
//! let mut activation = program.activation();
//! activation.set(pod, Value::from_json(&document));
//!
//! let result = program.evaluate(&context, &activation)?;
//! assert!(matches!(result, Value::Bool(false)));
//! assert_eq!(context.cost(), 15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where a copy of the result is good enough, [`Program::evaluate_json`] does all of that: JSON in, JSON out.
//!
//! # Declaring variables, types and extensions
//!
//! [`Environment::standard`] is the language of the CEL specification. [`library`] has the extensions that can be added
//! to it, and [`Environment::kubernetes`] is the environment of an API server, with its stricter checks of literals.
//! Variables have types: those of a variable of [`Type::Dyn`] are checked during evaluation, others when an expression
//! is compiled. Structured types are declared by a [`StructType`], or by a [`TypeProvider`] of the host.
//!
//! ```
//! use pratique_cel::{Environment, Type, library};
//!
//! let environment = Environment::standard()
//!     .with_library(library::strings())
//!     .with_variable("labels", Type::map(Type::String, Type::String));
//! let fault = environment.compile("labels.team.lowerAscii() == 1").map(|_| ()).unwrap_err();
//! assert_eq!(
//!     fault.to_string(),
//!     "ERROR: <input>:1:26: found no matching overload for '_==_' applied to '(string, int)'
//!  | labels.team.lowerAscii() == 1
//!  | .........................^",
//! );
//! ```
//!
//! # Custom functions
//!
//! A [`function::Function`] has overloads: their types, their implementation, and the cost of a call. An implementation
//! is a function or a closure; it is called with arguments of the declared types, and its errors are those of the
//! expression. A call without a declared cost costs 1.
//!
//! ```
//! use pratique_cel::function::Function;
//! use pratique_cel::library::arguments;
//! use pratique_cel::{Arena, Context, Environment, Type, Value, cost};
//!
//! let shout = Function::new("shout")
//!     .member("string_shout", &[Type::String], Type::String, |context, given| {
//!         let text = arguments::string(given, 0)?.to_uppercase();
//!         Ok(Value::String(context.arena.str(&text)))
//!     })
//!     .costing(cost::reads_first);
//! let environment = Environment::standard().with_function(shout);
//!
//! let program = environment.compile("'ahoy'.shout()")?;
//! let arena = Arena::new();
//! let result = program.evaluate(&Context::new(&arena, 10), &program.activation())?;
//! assert!(matches!(result, Value::String("AHOY")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! Expressions and data need not be trusted. Depth and size are bounded; each evaluation counts its [`cost`], in the
//! units of cel-go, and stops once that is more than the [`Context`] allows; an [`Interrupt`] stops it from another
//! thread or at a deadline, and a [`MemoryLimit`] bounds its [`Arena`]. No operator absorbs such a [`Stop`].
//!
//! Before an evaluation, [`estimate`](mod@estimate) bounds the cost from the sizes that a host declares, and a
//! [`Report`] also says what an expression reads and calls.
//!
//! ```
//! use pratique_cel::estimate::UnknownSizes;
//! use pratique_cel::{Arena, Context, Environment, FaultKind, Report, Stop, Type};
//!
//! let environment = Environment::standard();
//! let text = "[1, 2, 3].map(x, x * x).exists(x, x == 9) || true";
//! let checked = environment.check_types(environment.parse(text)?)?;
//! let report = Report::new(&environment, &checked, &UnknownSizes);
//! assert_eq!(report.result, Type::Bool);
//!
//! let program = environment.plan(&checked)?;
//! let arena = Arena::new();
//! let context = Context::new(&arena, report.cost.max);
//! assert!(program.evaluate(&context, &program.activation()).is_ok());
//! assert!(context.cost() <= report.cost.max);
//!
//! let context = Context::new(&arena, 20);
//! let fault = program.evaluate(&context, &program.activation()).map(|_| ()).unwrap_err();
//! assert_eq!(fault.kind(), &FaultKind::Stopped(Stop::CostLimit));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the host does not know yet
//!
//! Kubernetes' `authorizer` calls its host through the trait [`library::authz::Authorizer`]. While a host waits for an
//! answer, the evaluation ends as [pending](Stop::Pending), and is run again when the answer is there; the example
//! `authorizer` does that. A value of which only a part is known ([`value::Struct::unknown`]) ends an evaluation that
//! reads more of it as [unknown](UnknownValue).
//!
//! # Tools
//!
//! [`Environment::parse`] and [`Environment::check_types`] are the steps of compiling: an [`ast::Ast`], and the types and
//! [references](Reference) of its nodes. [`print`](mod@print) writes a tree as text again, and an [`EvaluationObserver`] is shown
//! the value of each node while a program runs.
//!
//! # Guarantees
//!
//! The crate knows no Kubernetes object: it sees JSON, declared types, and the traits that a host implements. It does
//! no I/O and starts no thread; it reads the clock only for the deadline of an [`Interrupt`].

mod arena;
pub mod ast;
mod authorization;
mod boxed_slice;
mod checker;
mod compile;
mod constant;
mod context;
pub mod cost;
mod environment;
mod error;
pub mod estimate;
mod evaluate_json;
pub mod function;
mod interning;
mod interrupt;
pub mod library;
mod memory;
mod meter;
mod object_types;
mod ops;
mod parser;
mod plan;
pub mod print;
mod report;
mod snippet;
mod source;
mod text;
pub mod time;
mod types;
mod unknown_value;
pub mod value;

// Compiling.
pub use checker::{CheckedAst, Reference};
pub use environment::{Environment, StructType, TypeProvider};
pub use error::{CompileError, Issue};
pub use parser::comments;
pub use report::Report;
pub use source::{Position, Source};
pub use types::Type;

// Evaluating.
pub use arena::Arena;
pub use constant::Constant;
pub use context::Context;
pub use environment::{Activation, Slot};
pub use error::{Fault, FaultKind, PlanError, Stop};
pub use evaluate_json::EvaluateJsonError;
pub use interrupt::Interrupt;
pub use memory::{HeldMemory, MemoryBudget, MemoryLimit, OutOfMemory};
pub use object_types::ObjectTypes;
pub use plan::{EvaluationObserver, Program, UnobservedRun};
pub use unknown_value::UnknownValue;
pub use value::Value;

/// What the other crates of the project share with this one: not part of what it promises.
#[doc(hidden)]
pub mod internal {
    pub use crate::boxed_slice::into_boxed_exact;
    pub use crate::interning::InternedValues;
    pub use crate::ops::{format_value as go_format, go_type};
}

/// Macros: calls that the parser replaces by other expressions, for [libraries](library::Library) of a host.
pub mod macros {
    pub use crate::parser::{ACCUMULATOR, Expander, Macro, MacroError, MacroExpansion};
}

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The JSON documents that expressions read without copying them.
pub use pratique_json as json;
