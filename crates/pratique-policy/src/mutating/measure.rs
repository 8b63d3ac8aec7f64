//! The size of values: patches are bounded before they are made.
//!
//! Values of expressions share what is equal: ten lists of ten lists, six times over, are sixty pointers here and a
//! million values in a patch.

use pratique_cel::value::{List, Map};
use pratique_cel::{Context, Interrupt, Value};
use pratique_json as json;

use super::patch_form;

/// How large all patches that one expression gives may be, in bytes: several times what an API server stores.
pub(super) const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The size of a value besides its text.
const VALUE: usize = 16;

/// How much is measured between two checks for an interruption.
const CHECK_INTERVAL: usize = 32 * 1024;

/// Why a value does not become a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SizeExcess {
    #[error("the expression gives more than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("interrupted")]
    Interrupted,
}

/// Adds up the sizes of values.
pub(super) struct SizeMeasure<'i> {
    bytes: usize,
    /// How many there were at the last check for an interruption.
    checked: usize,
    interrupt: Option<&'i Interrupt>,
}

impl<'i> SizeMeasure<'i> {
    pub(super) fn new(interrupt: Option<&'i Interrupt>) -> Self {
        SizeMeasure {
            bytes: 0,
            checked: 0,
            interrupt,
        }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// All values so far are too large together, or the caller interrupts.
    pub(super) fn add<'s>(&mut self, value: &Value<'s>, context: &Context<'s>) -> Result<(), SizeExcess> {
        match value {
            Value::String(text) => self.count(text.len()),
            Value::Bytes(bytes) => self.count(bytes.len()),
            Value::Optional(Some(value)) => self.add(value, context),
            Value::List(List::Json(elements) | List::Typed(elements)) => self.documents(elements.iter()),
            Value::List(list) => {
                self.count(0)?;
                list.iter().try_for_each(|element| self.add(&element, context))
            }
            Value::Map(Map::Json(object) | Map::Typed(object)) => self.members(object),
            Value::Map(map) => {
                self.count(0)?;
                map.iter().try_for_each(|(key, value)| {
                    self.add(&key, context)?;
                    self.add(&value, context)
                })
            }
            Value::Struct(object) if patch_form::is_object(*object) || object.type_name() == "JSONPatch" => {
                self.count(0)?;
                // A value without fields is refused when it is converted.
                let fields = object.fields(context).unwrap_or_default();
                fields.iter().try_for_each(|(name, value)| {
                    self.count(name.len())?;
                    self.add(value, context)
                })
            }
            _ => self.count(0),
        }
    }

    fn document(&mut self, value: &json::Value<'_>) -> Result<(), SizeExcess> {
        match value {
            json::Value::String(text) => self.count(text.len()),
            json::Value::Array(elements) => self.documents(elements.iter()),
            json::Value::Object(object) => self.members(object),
            _ => self.count(0),
        }
    }

    fn documents<'v, 'a: 'v>(
        &mut self,
        mut values: impl Iterator<Item = &'v json::Value<'a>>,
    ) -> Result<(), SizeExcess> {
        self.count(0)?;
        values.try_for_each(|value| self.document(value))
    }

    fn members(&mut self, object: &json::Object<'_>) -> Result<(), SizeExcess> {
        self.count(0)?;
        object.iter().try_for_each(|(key, value)| {
            self.count(key.len())?;
            self.document(value)
        })
    }

    fn count(&mut self, text: usize) -> Result<(), SizeExcess> {
        self.bytes += VALUE + text;
        if self.bytes > MAX_BYTES {
            return Err(SizeExcess::TooLarge);
        }
        if self.bytes - self.checked < CHECK_INTERVAL {
            return Ok(());
        }
        self.checked = self.bytes;
        if self.interrupt.is_some_and(Interrupt::is_set) {
            Err(SizeExcess::Interrupted)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::{Arena, Environment, library};

    use super::*;

    #[track_caller]
    fn check(expression: &str, interrupt: &Interrupt, expected: Result<usize, SizeExcess>) {
        let environment: Environment = Environment::kubernetes().with_library(library::mutation::library());
        let program = environment.compile(expression).unwrap();
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        let value = program.evaluate(&context, &environment.activation()).unwrap();
        let mut measure = SizeMeasure::new(Some(interrupt));
        let measured = measure.add(&value, &context).map(|()| measure.bytes);
        assert_eq!(measured, expected, "{expression}");
    }

    /// Ten times ten times … a text.
    fn nested(times: usize) -> String {
        (0..times).fold("'text'".to_owned(), |inner, at| {
            let list = vec![format!("x{at}"); 10].join(", ");
            format!("[{inner}].map(x{at}, [{list}])[0]")
        })
    }

    #[test]
    fn shared_values_count_each_time() {
        let never = Interrupt::never();
        check("'text'", &never, Ok(20));
        check("{'a': [1]}", &never, Ok(16 + 17 + 16 + 16));
        check("[b'ab']", &never, Ok(16 + 18));
        check("optional.of('x')", &never, Ok(17));
        check(
            "JSONPatch{op: 'add', path: '/a', value: Object{b: 'c'}}",
            &never,
            Ok(16 + 18 + 19 + 20 + 18 + 21 + 16 + 17 + 17),
        );
        check(&nested(2), &never, Ok(16 * 11 + 100 * 20));
        check(&nested(9), &never, Err(SizeExcess::TooLarge));
    }

    #[test]
    fn callers_interrupt() {
        let interrupt = Interrupt::new();
        interrupt.set();
        check(&nested(2), &interrupt, Ok(16 * 11 + 100 * 20));
        check(&nested(9), &interrupt, Err(SizeExcess::Interrupted));
    }
}
