//! Mutations by JSON Patch: operations made from what an expression gives, and applied.

use pratique_cel::library::mutation::check_type_names;
use pratique_cel::{Context, Value};
use pratique_json as json;
use pratique_merge::json_patch::{self, Operation};

use super::apply::Refusal;
use super::plain;
use super::version::Version;
use crate::request::borrow;
use crate::session::Session;
use crate::typed;

/// The object as a list of operations makes it; `None` where one of them tests the object and finds another.
pub(super) fn patched<'s>(
    value: &Value<'s>,
    version: &Version<'s>,
    session: &Session<'s>,
) -> Result<Option<&'s json::Value<'s>>, Refusal> {
    let operations = operations(value, session).map_err(Refusal::Policy)?;
    let document = borrow(version.object);
    let patched = match json_patch::apply(document, &operations) {
        Ok(patched) => patched,
        Err(json_patch::Error::TestFailed { .. }) => return Ok(None),
        Err(error) => return Err(Refusal::Policy(format!("JSON Patch: {error}"))),
    };
    let patched = session.keep(patched);
    if typed::is_builtin(version.kind) {
        return Ok(Some(session.typed(version.kind, patched)));
    }
    Ok(Some(
        typed::reread(patched).map_or(patched, |value| session.keep(value)),
    ))
}

fn operations<'s>(value: &Value<'s>, session: &Session<'s>) -> Result<Vec<Operation<'static>>, String> {
    let Value::List(list) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    list.iter().map(|element| operation(&element, session)).collect()
}

fn operation<'s>(element: &Value<'s>, session: &Session<'s>) -> Result<Operation<'static>, String> {
    const MISMATCH: &str = "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch";
    let Value::Struct(own) = element else {
        return Err(MISMATCH.to_owned());
    };
    let context = Context::new(session.arena(), u64::MAX);
    let fields = own.fields(&context).map_err(|_| MISMATCH)?;
    let mut operation = Operation {
        path: Some(String::new()),
        ..Operation::default()
    };
    for (name, value) in fields {
        match (name, value) {
            ("op", Value::String(text)) => operation.op = text.to_owned(),
            ("path", Value::String(text)) => operation.path = Some(text.to_owned()),
            ("from", Value::String(text)) => operation.from = Some(text.to_owned()),
            ("value", value) => {
                check_type_names(&value).map_err(|error| format!("type mismatch: {error}"))?;
                operation.value = Some(plain::json(&value).map_err(|error| {
                    format!(
                        "JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}"
                    )
                })?);
            }
            _ => {}
        }
    }
    Ok(operation)
}
