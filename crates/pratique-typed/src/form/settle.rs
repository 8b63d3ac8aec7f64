//! Giving an owned object the form of its kind, in place.

use std::borrow::Cow;

use pratique_json::{Object, Progress, Value};
use pratique_schema::{Field, Presence, Scalar, Schema, Shape, TypeId};

use super::{FormTyping, scalar};
use crate::decode::{self, ConvertError, DecodeError};
use crate::settled_form::{edited_settled, is_plain, settled};

/// Gives an object the form of a type of a schema, in place, as [`typed_as`](super::typed_as) does with one that cannot be
/// changed. Where it is not to go on, some of the object has the form.
pub fn settle_in(schema: &'static Schema, id: TypeId, object: &mut Object<'_>, progress: &Progress<'_>) {
    // Values that do not fit are left as they are.
    let _ = FormTyping::new(schema, progress).settle::<LENIENT>(id, object);
}

/// The same for an object that had the form before a few of its fields were set or removed.
// Row `validate-all` of `benches/`: mostly it has the form still, and to look takes half as long.
pub fn settle_again(schema: &'static Schema, id: TypeId, object: &mut Object<'_>, progress: &Progress<'_>) {
    if !settled(schema, id, object, progress) {
        settle_in(schema, id, object, progress);
    }
}

/// The same for an object that had the form before some of its members were changed, which `is_edited` tells.
pub fn settle_edited(
    schema: &'static Schema,
    id: TypeId,
    object: &mut Object<'_>,
    is_edited: &dyn Fn(&str) -> bool,
    progress: &Progress<'_>,
) {
    if !edited_settled(schema, id, object, is_edited, progress) {
        let _ = FormTyping::new(schema, progress).settle_members::<LENIENT>(id, object, is_edited);
    }
}

/// How an object was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledObject {
    /// It has the form of its type.
    Whole,
    /// It has the form of its type, but for empty lists and maps that are left out where the object is
    /// written: defaulting distinguishes them from absent ones.
    WithEmpty,
    /// It has unknown fields, or values that cannot be decoded; some of it has the form.
    Refused,
}

/// Decodes an object as a type of a schema in place, where strict decoding has nothing to report.
pub fn settle_strict(
    schema: &'static Schema,
    id: TypeId,
    object: &mut Object<'_>,
    progress: &Progress<'_>,
) -> SettledObject {
    let typing = FormTyping::new(schema, progress);
    match typing.settle::<STRICT>(id, object) {
        Err(_) => SettledObject::Refused,
        Ok(()) if progress.outcome().is_err() => SettledObject::Refused,
        Ok(()) => typing.settled(),
    }
}

/// Decodes an object as a type of a schema in place, as [`settle_in`], with empty lists and maps kept.
pub fn settle_keeping_empty(
    schema: &'static Schema,
    id: TypeId,
    object: &mut Object<'_>,
    progress: &Progress<'_>,
) -> SettledObject {
    // Rows `chain-*` and `validate-all` of `benches/`: what was decoded strictly has the form before it is defaulted, and to look takes
    // half as long. One that a person wrote lacks fields of its metadata already, which are looked at first.
    if settled(schema, id, object, progress) {
        return SettledObject::Whole;
    }
    let typing = FormTyping::new(schema, progress);
    let _ = typing.settle::<KEEPING>(id, object);
    typing.settled()
}

/// Values that do not fit are left as they are.
const LENIENT: u8 = 0;
/// All has to be [convertible](decode::convert()).
const FITTING: u8 = 1;
/// All has to be known and decodable; empty lists and maps stay.
const STRICT: u8 = 2;
/// As lenient; empty lists and maps stay.
const KEEPING: u8 = 3;

/// Gives an object the form of a type, unless it cannot be [converted](decode::convert()): then some of the
/// object has the form, and the error is that of the conversion.
pub(crate) fn settle_fitting(
    schema: &'static Schema,
    id: TypeId,
    object: &mut Object<'_>,
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let fitting = FormTyping::new(schema, progress).settle::<FITTING>(id, object);
    progress.outcome()?;
    fitting.map_err(DecodeError::from)
}

/// Gives Go's name of a type.
type GoType<'g> = &'g dyn Fn() -> String;

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema's own structs.
/// In the modes in which all has to fit, the first that does not ends it.
impl FormTyping<'_> {
    fn settled(&self) -> SettledObject {
        if self.kept_empty.get() {
            SettledObject::WithEmpty
        } else {
            SettledObject::Whole
        }
    }

    fn settle<const MODE: u8>(&self, id: TypeId, object: &mut Object<'_>) -> Result<(), Box<ConvertError>> {
        self.settle_members::<MODE>(id, object, |_| true)
    }

    /// The same where only some members may be without the form.
    #[inline]
    fn settle_members<const MODE: u8>(
        &self,
        id: TypeId,
        object: &mut Object<'_>,
        is_edited: impl Fn(&str) -> bool,
    ) -> Result<(), Box<ConvertError>> {
        if !self.progress.nodes(object.len()) {
            return Ok(());
        }
        let of = self.schema.get(id);
        let mut walk = of.fields.walk();
        let mut always = 0;
        object.retain_known(|name, value| {
            let Some(field) = walk.field(name) else {
                return match MODE {
                    STRICT => Err(Box::new(ConvertError::Undecoded)),
                    _ => Ok(None),
                };
            };
            let stays = if is_edited(name) {
                self.settle_field::<MODE>(field, value)
            } else {
                Ok(true)
            };
            stays.map(|stays| {
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
    fn settle_field<const MODE: u8>(
        &self,
        field: &'static Field,
        value: &mut Value<'_>,
    ) -> Result<bool, Box<ConvertError>> {
        let go = || field.go_type(self.schema);
        match field.presence {
            Presence::UnlessNull if value.is_null() => Ok(false),
            Presence::UnlessEmpty if value.is_empty() => match MODE {
                FITTING => decode::fits(self.schema, &field.shape, value, &go, self.progress).map(|()| false),
                STRICT if !reads_empty(&field.shape, value) => Err(Box::new(ConvertError::Undecoded)),
                STRICT | KEEPING => {
                    let is_kept = is_empty_collection(&field.shape, value);
                    self.kept_empty.set(self.kept_empty.get() | is_kept);
                    Ok(is_kept)
                }
                _ => Ok(false),
            },
            Presence::Nullable if value.is_null() => Ok(true),
            _ => {
                self.settle_value::<MODE>(&field.shape, value, &go)?;
                // The zero time is null now.
                Ok(!value.is_null() || field.presence != Presence::UnlessEmpty)
            }
        }
    }

    #[inline]
    fn settle_value<const MODE: u8>(
        &self,
        shape: &'static Shape,
        value: &mut Value<'_>,
        go: GoType<'_>,
    ) -> Result<(), Box<ConvertError>> {
        match shape {
            Shape::Scalar(kind) if is_plain(*kind, value) => Ok(()),
            _ => self.settle_other::<MODE>(shape, value, go),
        }
    }

    fn settle_other<const MODE: u8>(
        &self,
        shape: &'static Shape,
        value: &mut Value<'_>,
        go: GoType<'_>,
    ) -> Result<(), Box<ConvertError>> {
        if !self.progress.nodes(1) {
            return Ok(());
        }
        match (shape, value) {
            (Shape::Struct(id), Value::Object(object)) => return self.settle::<MODE>(*id, object),
            (Shape::List(element), Value::Array(elements)) => {
                let go = || element.go_type(self.schema);
                let mut elements = elements.iter_mut();
                return elements.try_for_each(|item| self.settle_value::<MODE>(element, item, &go));
            }
            (Shape::Map(of), Value::Object(object)) => {
                let go = || of.go_type(self.schema);
                let mut values = object.values_mut();
                return values.try_for_each(|item| self.settle_value::<MODE>(of, item, &go));
            }
            (Shape::Scalar(Scalar::Json | Scalar::Time | Scalar::MicroTime | Scalar::Bytes), Value::Null)
            | (Shape::List(_) | Shape::Map(_), Value::Null) => {}
            (shape, value @ Value::Null) => *value = self.zero(shape),
            (shape, value) => {
                match (MODE, shape) {
                    (FITTING, _) => decode::fits(self.schema, shape, value, go, self.progress)?,
                    (STRICT, Shape::Scalar(kind)) if decode::decodes(*kind, value) => {}
                    (STRICT, _) => return Err(Box::new(ConvertError::Undecoded)),
                    _ => {}
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

/// Whether an empty value can be decoded as one of its shape.
fn reads_empty(shape: &Shape, value: &Value<'_>) -> bool {
    match (shape, value) {
        (_, Value::Null) | (Shape::Struct(_) | Shape::Map(_), Value::Object(_)) => true,
        (Shape::List(_), Value::Array(_)) => true,
        (Shape::Scalar(kind), value) => is_plain(*kind, value) || decode::decodes(*kind, value),
        _ => false,
    }
}

fn is_empty_collection(shape: &Shape, value: &Value<'_>) -> bool {
    matches!(
        (shape, value),
        (Shape::List(_), Value::Array(_)) | (Shape::Map(_), Value::Object(_))
    )
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;
    use pratique_schema::Release;
    use pratique_types::GroupVersionKind;

    use super::*;

    #[track_caller]
    fn check(kind: &str, text: &str) {
        let schema = Release::latest().schema();
        let id = schema.kind(&GroupVersionKind::new("", "v1", kind)).unwrap();
        let given = parse(text.as_bytes()).unwrap();
        let given = given.as_object().unwrap();
        let mut fitting = given.clone();
        let progress = Progress::unwatched();
        let ended = settle_fitting(schema, id, &mut fitting, &progress);
        assert_eq!(ended, decode::convert(schema, id, given, &progress), "{text}");
        if ended.is_ok() {
            let mut settled = given.clone();
            settle_in(schema, id, &mut settled, &progress);
            assert_eq!(fitting, settled, "{text}");
        }
    }

    #[test]
    fn only_edited_members_are_looked_at() {
        let schema = Release::latest().schema();
        let id = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).unwrap();
        let text = br#"{"metadata":{"labels":{}},"spec":{"containers":[],"nodeName":""}}"#;
        let mut pod = parse(text).unwrap();
        let Value::Object(members) = &mut pod else {
            panic!("{pod}");
        };
        let is_edited = |member: &str| member == "metadata";
        settle_edited(schema, id, members, &is_edited, &Progress::unwatched());
        // What is always there has come.
        let expected = r#"{"metadata":{},"spec":{"containers":[],"nodeName":""},"status":{}}"#;
        assert_eq!(pod.to_string(), expected);
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
