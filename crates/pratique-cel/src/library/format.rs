//! Named formats: `format.dns1123Label().validate(object.metadata.name)`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/format.go

use super::arguments::{equal_opaque, opaque, string};
use super::named_format::{FORMATS, NamedFormat};
use super::results;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{Function, Overload};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

const TYPE: &str = "kubernetes.NamedFormat";

/// Functions that give formats, and one that checks a string against a format:
/// `format.dns1123Label().validate('a-b').hasValue()`. Needs [`optionals`](super::optionals).
pub fn library() -> Library {
    let ty = || Type::named(TYPE);
    let problems = Type::optional(Type::list(Type::String));
    let mut functions = vec![
        Function::new("validate")
            .member("format-validate", &[ty(), Type::String], problems, validate)
            .costing_always(validating),
        Function::new("format.named").global("format-named", &[Type::String], Type::optional(ty()), named),
    ];
    functions.extend(FORMATS.map(|format| {
        let name = format!("format.{}", format.name);
        Function::new(&name).with(
            Overload::new(&name, false, &[], ty()).shared(move |context, _| Ok(context.arena.opaque(format))),
        )
    }));
    Library::from_functions(functions)
}

impl Opaque for NamedFormat {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        equal_opaque(self, other)
    }

    fn to_text(&self) -> String {
        self.title.to_owned()
    }
}

fn named<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let format = NamedFormat::by_name(string(arguments, 0)?);
    let value = format.map(|format| context.arena.value(context.arena.opaque(format)));
    Ok(Value::Optional(value))
}

fn validate<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let arena = context.arena;
    let format: &NamedFormat = opaque(arguments, 0)?;
    let problems = (format.validate)(string(arguments, 1)?);
    if problems.is_empty() {
        return Ok(Value::Optional(None));
    }
    let problems = problems.iter().map(|problem| arena.str(problem));
    let list = results::texts(context, problems)?;
    Ok(Value::Optional(Some(arena.value(list))))
}

/// As if the format were a regular expression.
fn validating(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    match opaque::<NamedFormat>(arguments, 0) {
        Ok(format) => cost::regex(cost::size_at(arguments, 1), format.regex_size),
        Err(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn formats() {
        let caller = Caller::new(library());
        caller.check("format-named", &[Value::String("uri")], "some URI", 1);
        caller.check("format-named", &[Value::String("URI")], "none", 1);
        let date = caller.call("format.date", &[]).unwrap();
        caller.check(
            "format-validate",
            &[date, Value::String("2024-01-01")],
            "none",
            36,
        );
        caller.check(
            "format-validate",
            &[date, Value::String("x")],
            "some ['invalid date']",
            18,
        );
    }
}
