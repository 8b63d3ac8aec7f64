//! Help for writing JSON patches: `'/metadata/labels/' + jsonpatch.escapeKey('example.com/a')`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/jsonpatch.go

use super::arguments::string;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::function::Function;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// Functions for expressions that make JSON patches, which only mutating policies have.
pub fn library() -> Library {
    let escape_key = Function::new("jsonpatch.escapeKey")
        .global(
            "string_jsonpatch_escapeKey_string",
            &[Type::String],
            Type::String,
            escape_key,
        )
        .costing_always(cost::reads_first);
    Library::from_functions(vec![escape_key])
}

/// Makes a key fit to stand in a JSON pointer (RFC 6901).
fn escape_key<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let key = string(arguments, 0)?;
    if !key.contains(['~', '/']) {
        return Ok(Value::String(key));
    }
    Ok(Value::String(
        context.arena.str(&key.replace('~', "~0").replace('/', "~1")),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn escaping() {
        let caller = Caller::new(library());
        caller.check(
            "string_jsonpatch_escapeKey_string",
            &[Value::String("plain")],
            "'plain'",
            1,
        );
        caller.check(
            "string_jsonpatch_escapeKey_string",
            &[Value::String("a/b~c~1")],
            "'a~1b~0c~01'",
            1,
        );
    }
}
