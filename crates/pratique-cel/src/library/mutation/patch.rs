//! Values of `JSONPatch`: the operations of JSON patches.

use super::go_types::{JSON_PATCH, native_type};
use crate::arena::Arena;
use crate::context::Context;
use crate::error::Fault;
use crate::ops;
use crate::value::{Evaluation, Struct, Value};

/// An operation. Whether it can be applied is for the patch to say.
#[derive(Clone, Copy, Debug, Default)]
struct JsonPatch<'v> {
    op: &'v str,
    path: &'v str,
    from: &'v str,
    value: Option<Value<'v>>,
}

/// Makes an operation.
pub(super) fn construct<'a>(context: &Context<'a>, fields: &[(&'a str, Value<'a>)]) -> Evaluation<'a> {
    let mut patch = JsonPatch::default();
    for (name, value) in fields {
        match *name {
            "op" => patch.op = text_of_field(name, value)?,
            "path" => patch.path = text_of_field(name, value)?,
            "from" => patch.from = text_of_field(name, value)?,
            "value" => patch.value = Some(*value),
            other => return Err(Fault::error(format!("unexpected JSONPatchType field: {other}"))),
        }
    }
    let patch: &'a JsonPatch<'a> = context.arena.value(patch);
    Ok(Value::Struct(patch))
}

fn text_of_field<'a>(field: &str, value: &Value<'a>) -> Result<&'a str, Fault> {
    match value {
        Value::String(text) | Value::Type(text) | Value::Optional(Some(Value::String(text))) => Ok(text),
        other => {
            let native = native_type(other);
            let message = format!("unexpected type {native} for JSONPatchType '{field}' field");
            Err(Fault::error(message))
        }
    }
}

impl Struct for JsonPatch<'_> {
    fn type_name(&self) -> &str {
        JSON_PATCH
    }

    fn get<'a>(&'a self, _: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        Ok(Some(match field {
            "op" => Value::String(self.op),
            "path" => Value::String(self.path),
            "from" => Value::String(self.from),
            "value" => self.value.unwrap_or(Value::Null),
            other => return Err(Fault::error(format!("unsupported indexer: {other}"))),
        }))
    }

    fn has(&self, _: &Context<'_>, field: &str) -> Result<bool, Fault> {
        Ok(match field {
            "op" => !self.op.is_empty(),
            "path" => !self.path.is_empty(),
            "from" => !self.from.is_empty(),
            "value" => self.value.is_some(),
            other => return Err(Fault::error(format!("unsupported field: {other}"))),
        })
    }

    fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        let texts = [("op", self.op), ("path", self.path), ("from", self.from)];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(name, text)| (name, Value::String(text)));
        Ok(texts.chain(self.value.map(|value| ("value", value))).collect())
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        let Value::Struct(other) = other else {
            return Ok(false);
        };
        if other.type_name() != JSON_PATCH {
            return Ok(false);
        }
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        let (fields, others) = (self.fields(&context)?, other.fields(&context)?);
        if fields.len() != others.len()
            || fields
                .iter()
                .zip(&others)
                .any(|(field, other)| field.0 != other.0)
        {
            return Ok(false);
        }
        let mut pairs = fields.iter().zip(&others);
        pairs.try_fold(true, |so_far, (field, other)| {
            Ok(so_far && ops::equal(&field.1, &other.1)?)
        })
    }

    fn is_iterable(&self) -> bool {
        false
    }

    /// The reference has a form for texts only.
    fn unfit_index(&self, index: &Value<'_>) -> Fault {
        let (of, index_text) = (ops::go_type(index), ops::format_value(index));
        Fault::error(format!("unsupported indexer: %!s({of}={index_text})"))
    }

    fn runtime_type(&self) -> &str {
        "type"
    }
}
