//! Giving an owned object the form of its kind, in place.

use std::borrow::Cow;

use pratique_json::{Object, Progress, Value};
use pratique_schema::{Field, Presence, Scalar, Shape, TypeId};

use super::{Typing, scalar};
use crate::decode::{self, ConvertError, DecodeError};
use crate::settled::is_plain;

/// Gives an object the form of a type, as [`typed_as`](super::typed_as) does with one that cannot be changed. Where it is
/// not to go on, some of the object has the form.
pub(crate) fn settle(id: TypeId, object: &mut Object<'_>, progress: &Progress<'_>) {
    // What does not fit is left as it is.
    let _ = Typing::new(progress).settle::<false>(id, object);
}

/// The same, unless the object cannot be [converted](decode::convert()): the error is that of the conversion, and some of
/// the object has the form then.
pub(crate) fn settle_fitting(
    id: TypeId,
    object: &mut Object<'_>,
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let fitting = Typing::new(progress).settle::<true>(id, object);
    progress.outcome()?;
    fitting.map_err(DecodeError::from)
}

/// Says what Go calls the type of something.
type GoType<'g> = &'g dyn Fn() -> String;

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema's own structs.
/// If all has to fit (`FITS`), the first that does not ends it.
impl Typing<'_> {
    fn settle<const FITS: bool>(&self, id: TypeId, object: &mut Object<'_>) -> Result<(), Box<ConvertError>> {
        if !self.progress.nodes(object.len()) {
            return Ok(());
        }
        let of = self.schema.get(id);
        let mut walk = of.fields.walk();
        let mut always = 0;
        object.retain_known(|name, value| {
            let Some(field) = walk.field(name) else {
                return Ok(None);
            };
            self.settle_field::<FITS>(field, value).map(|stays| {
                always += usize::from(stays && field.is_always());
                stays.then_some(field.name)
            })
        })?;
        if always == of.fields.always_count() {
            return Ok(());
        }
        for field in of.fields.always() {
            if !object.contains_key(field.name) {
                object.insert(Cow::Borrowed(field.name), self.absent(field));
            }
        }
        Ok(())
    }

    /// Whether the field stays.
    #[inline]
    fn settle_field<const FITS: bool>(
        &self,
        field: &'static Field,
        value: &mut Value<'_>,
    ) -> Result<bool, Box<ConvertError>> {
        let go = || field.go_type(self.schema);
        match field.presence {
            Presence::UnlessNull if value.is_null() => Ok(false),
            Presence::UnlessEmpty if value.is_empty() => match FITS {
                true => decode::fits(&field.shape, value, &go, self.progress).map(|()| false),
                false => Ok(false),
            },
            Presence::Nullable if value.is_null() => Ok(true),
            _ => self.settle_value::<FITS>(&field.shape, value, &go).map(|()| true),
        }
    }

    #[inline]
    fn settle_value<const FITS: bool>(
        &self,
        shape: &'static Shape,
        value: &mut Value<'_>,
        go: GoType<'_>,
    ) -> Result<(), Box<ConvertError>> {
        match shape {
            Shape::Scalar(kind) if is_plain(*kind, value) => Ok(()),
            _ => self.settle_other::<FITS>(shape, value, go),
        }
    }

    fn settle_other<const FITS: bool>(
        &self,
        shape: &'static Shape,
        value: &mut Value<'_>,
        go: GoType<'_>,
    ) -> Result<(), Box<ConvertError>> {
        if !self.progress.nodes(1) {
            return Ok(());
        }
        match (shape, value) {
            (Shape::Struct(id), Value::Object(object)) => return self.settle::<FITS>(*id, object),
            (Shape::List(element), Value::Array(elements)) => {
                let go = || element.go_type(self.schema);
                let mut elements = elements.iter_mut();
                return elements.try_for_each(|item| self.settle_value::<FITS>(element, item, &go));
            }
            (Shape::Map(of), Value::Object(object)) => {
                let go = || of.go_type(self.schema);
                let mut values = object.values_mut();
                return values.try_for_each(|item| self.settle_value::<FITS>(of, item, &go));
            }
            (Shape::Scalar(Scalar::Json | Scalar::Time | Scalar::MicroTime | Scalar::Bytes), Value::Null)
            | (Shape::List(_) | Shape::Map(_), Value::Null) => {}
            (shape, value @ Value::Null) => *value = self.zero(shape),
            (shape, value) => {
                if FITS {
                    decode::fits(shape, value, go, self.progress)?;
                }
                // No API server would have taken anything but a scalar here.
                if let Shape::Scalar(kind) = shape
                    && let Some(canonical) = scalar::canonical(*kind, value)
                {
                    *value = canonical;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;
    use pratique_types::GroupVersionKind;

    use super::*;

    #[track_caller]
    fn check(kind: &str, text: &str) {
        let id = crate::id(&GroupVersionKind::new("", "v1", kind)).unwrap();
        let given = parse(text.as_bytes()).unwrap();
        let given = given.as_object().unwrap();
        let mut fitting = given.clone();
        let progress = Progress::unwatched();
        let ended = settle_fitting(id, &mut fitting, &progress);
        assert_eq!(ended, decode::convert(id, given, &progress), "{text}");
        if ended.is_ok() {
            let mut settled = given.clone();
            settle(id, &mut settled, &progress);
            assert_eq!(fitting, settled, "{text}");
        }
    }

    #[test]
    fn what_fits_is_settled_and_what_does_not_is_told() {
        for text in [
            r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"},{"name":"d","ports":[{"containerPort":80}]}]}}"#,
            r#"{"metadata":{"creationTimestamp":"2024-01-01T00:00:00.5Z","x":1},"spec":{"containers":null},"y":[]}"#,
            r#"{"metadata":{"labels":{"a":null}},"spec":{"containers":[{"resources":{"limits":{"cpu":1,"m":"1024Mi"}}}]}}"#,
            r#"{"metadata":{"labels":{"a":1}}}"#,
            r#"{"metadata":{"labels":[]}}"#,
            r#"{"metadata":"","spec":""}"#,
            r#"{"spec":{"hostNetwork":""}}"#,
            r#"{"spec":{"hostNetwork":"yes"}}"#,
            r#"{"spec":{"priority":1.5}}"#,
            r#"{"spec":{"priority":2.0}}"#,
            r#"{"spec":{"priority":4294967296}}"#,
            r#"{"spec":{"nodeName":0}}"#,
            r#"{"spec":{"nodeName":false}}"#,
            r#"{"spec":{"containers":{}}}"#,
            r#"{"spec":{"containers":[[]]}}"#,
            r#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}},{"name":1}]}}"#,
            r#"{"spec":{"activeDeadlineSeconds":"5"}}"#,
            r#"{"status":{"startTime":"yesterday"}}"#,
        ] {
            check("Pod", text);
        }
        check("Secret", r#"{"data":{"a":"!!!!"}}"#);
        check(
            "Secret",
            r#"{"data":{"a":"YQ=="},"stringData":{"b":""},"type":""}"#,
        );
    }
}
