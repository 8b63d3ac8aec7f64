//! Calling a library's functions one by one in tests, without an expression around them.

use crate::arena::Arena;
use crate::context::Context;
use crate::environment::Library;
use crate::function::{Function, Overload};
use crate::value::{Evaluation, Value};

/// A library, and the memory for the results of its functions.
pub(super) struct Caller {
    library: Library,
    arena: Arena,
}

impl Caller {
    pub(super) fn new(library: Library) -> Self {
        Self {
            library,
            arena: Arena::new(),
        }
    }

    /// Calls an overload.
    pub(super) fn call<'a>(&'a self, id: &str, arguments: &[Value<'a>]) -> Evaluation<'a> {
        let context = Context::new(&self.arena, u64::MAX);
        let (function, overload) = self.find(id);
        let implementation = overload.implementation.as_ref().or(function.singleton.as_ref());
        implementation.expect(id).call(&context, arguments)
    }

    /// Calls an overload that makes a value of a string.
    pub(super) fn make<'a>(&'a self, id: &str, text: &'a str) -> Value<'a> {
        self.call(id, &[Value::String(text)]).expect(text)
    }

    /// Checks the result of a call, in short form, and its cost.
    pub(super) fn check<'a>(&'a self, id: &str, arguments: &[Value<'a>], expected: &str, cost: u64) {
        let result = self.call(id, arguments);
        let got = result.as_ref().map_or_else(ToString::to_string, short);
        assert_eq!(got, expected, "{id} {arguments:?}");
        let (function, overload) = self.find(id);
        let charged = overload
            .cost
            .or(function.cost)
            .map_or(1, |cost| cost(arguments, result.as_ref().ok()));
        assert_eq!(charged, cost, "cost of {id} {arguments:?}");
    }

    fn find(&self, id: &str) -> (&Function, &Overload) {
        let owners = self.library.functions.iter();
        owners
            .flat_map(|function| {
                function
                    .overloads
                    .iter()
                    .map(move |overload| (function, overload))
            })
            .find(|(_, overload)| *overload.id == *id)
            .expect(id)
    }
}

/// A value as a test wants to read it.
fn short(value: &Value<'_>) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::String(text) => format!("'{text}'"),
        Value::Opaque(opaque) => opaque.to_text(),
        Value::Optional(None) => "none".to_owned(),
        Value::Optional(Some(value)) => format!("some {}", short(value)),
        Value::List(list) => {
            let elements: Vec<String> = list.iter().map(|element| short(&element)).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::Map(map) => {
            let entry = |(key, value)| format!("{}: {}", short(&key), short(&value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}
