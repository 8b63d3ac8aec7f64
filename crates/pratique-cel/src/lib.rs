//! CEL as Kubernetes speaks it: parser, type checker, planner, evaluator and cost, with the Kubernetes function libraries.
//!
//! The crate knows no Kubernetes object: it sees JSON, the types a host declares, and the traits a host implements.
//! It does no I/O, starts no thread and waits for nothing; it reads the clock only where a caller's [`Interrupt`] has a
//! deadline.
//!
//! # Compile once, evaluate many times
//!
//! An [`Environment`] says what expressions may use. It compiles them to [`Program`]s, which are immutable and shared
//! between threads. What one evaluation needs is made for it: an [`Arena`] for temporaries, a [`Context`] with the
//! limit of its cost, an [`Activation`] with the values of the variables.
//!
//! ```
//! use pratique_cel::{Arena, Context, Environment, Type, Value, json};
//!
//! let environment = Environment::standard().with_variable("pod", Type::Dyn);
//! let program = environment.compile("pod.containers.all(c, c.image.startsWith('registry/'))")?;
//! let pod = environment.slot("pod").ok_or("not declared")?;
//!
//! let document = json::parse(br#"{"containers": [{"image": "registry/app"}, {"image": "other/app"}]}"#)?;
//! let arena = Arena::new();
//! let context = Context::new(&arena, 1_000_000);
//! let mut activation = environment.activation();
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
//! # What expressions may use
//!
//! [`Environment::standard`] is the language of the CEL specification; the functions of [`library`] give extensions to
//! add to it. [`library::kubernetes`] is all that a Kubernetes API server has, with its stricter literals.
//! Variables have types: with [`Type::Dyn`] all is left to the evaluation, with others faults are found before.
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
//! # Functions of one's own
//!
//! A [`function::Function`] has overloads: types, code, and how much a call costs. Code is a plain function or a
//! closure; it is called with arguments of the declared types, and its errors are those of the expression. What calls
//! cost is 1 where nothing else is said.
//!
//! ```
//! use pratique_cel::function::Function;
//! use pratique_cel::{cost, library::arguments};
//! use pratique_cel::{Arena, Context, Environment, Type, Value};
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
//! let result = program.evaluate(&Context::new(&arena, 10), &environment.activation())?;
//! assert!(matches!(result, Value::String("AHOY")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Costs
//!
//! Each evaluation counts what it costs, in the units of the reference, and stops once that is more than the
//! [`Context`] allows: no operator absorbs it. Before an evaluation, [`estimate`](mod@estimate) bounds the cost from
//! the sizes that a host declares, and a [`Report`] also says what an expression reads and calls.
//!
//! ```
//! use pratique_cel::estimate::UnknownSizes;
//! use pratique_cel::{Arena, Context, Environment, FaultKind, Report, Stop, Type};
//!
//! let environment = Environment::standard();
//! let text = "[1, 2, 3].map(x, x * x).exists(x, x == 9) || true";
//! let checked = environment.check(environment.parse(text)?)?;
//! let report = Report::new(&environment, &checked, &UnknownSizes);
//! assert_eq!(report.result, Type::Bool);
//!
//! let program = environment.plan(&checked)?;
//! let arena = Arena::new();
//! let context = Context::new(&arena, report.cost.max);
//! assert!(program.evaluate(&context, &environment.activation()).is_ok());
//! assert!(context.cost() <= report.cost.max);
//!
//! let context = Context::new(&arena, 20);
//! let fault = program.evaluate(&context, &environment.activation()).map(|_| ()).unwrap_err();
//! assert_eq!(fault.kind(), &FaultKind::Stopped(Stop::CostLimit));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Authorization checks
//!
//! Kubernetes' `authorizer` asks its host through a trait, [`library::authz::Authorizer`]. A host that does not know
//! an answer yet says so; the evaluation ends as [pending](Stop::Pending), and is begun again when the answer is there.
//! The example `authorizer` does that.

mod arena;
pub mod ast;
pub mod checker;
mod compile;
mod constant;
mod context;
pub mod cost;
mod environment;
mod error;
pub mod estimate;
mod evaluate_json;
mod exact;
pub mod function;
mod interned;
mod interrupt;
pub mod library;
mod memory;
mod meter;
pub mod ops;
pub mod parser;
pub mod plan;
pub mod print;
pub mod regex;
mod report;
mod snippet;
mod source;
pub mod text;
pub mod time;
mod types;
mod unknown;
pub mod value;

pub use arena::Arena;
pub use constant::Constant;
pub use context::Context;
pub use environment::{Activation, Environment, Slot, StructType, TypeProvider};
pub use error::{CompileError, Fault, FaultKind, Issue, Stop};
pub use evaluate_json::EvaluateJsonError;
pub use exact::exact;
pub use interned::Interned;
pub use interrupt::Interrupt;
pub use memory::{HeldMemory, MemoryBudget, MemoryLimit, OutOfMemory};
pub use plan::{Observer, Program, Unobserved};
pub use report::Report;
pub use source::{Position, Source};
pub use types::Type;
pub use unknown::Unknown;
pub use value::Value;

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The JSON documents that expressions read without copying them.
pub use pratique_json as json;
