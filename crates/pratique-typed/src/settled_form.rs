//! Whether an object has the form of its kind already: most have, as an API server wrote them.
//!
//! Checking that is a fraction of the work of reading an object. Where the check cannot decide, the answer is
//! no.

use pratique_json::{Object, Progress, Value};
use pratique_schema::{Field, Presence, Scalar, Schema, Shape, TypeId};

use crate::decode;
use crate::form::canonical;

/// Whether an API server reads an object of a type without a fault, and as it is. `false` means no more than that it
/// has to be read.
pub(crate) fn settled(
    schema: &'static Schema,
    id: TypeId,
    object: &Object<'_>,
    progress: &Progress<'_>,
) -> bool {
    structure((schema, progress), id, object, |_| true)
}

/// The same of an object of which only those members may be without the form that `is_edited` tells of.
pub(crate) fn edited_settled(
    schema: &'static Schema,
    id: TypeId,
    object: &Object<'_>,
    is_edited: &dyn Fn(&str) -> bool,
    progress: &Progress<'_>,
) -> bool {
    structure((schema, progress), id, object, is_edited)
}

/// The context of the check.
type CheckContext<'p> = (&'static Schema, &'p Progress<'p>);

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema.
fn structure(
    check: CheckContext<'_>,
    id: TypeId,
    object: &Object<'_>,
    is_looked_at: impl Fn(&str) -> bool,
) -> bool {
    let (schema, progress) = check;
    if !progress.nodes(object.len()) {
        return false;
    }
    let of = schema.get(id);
    let mut walk = of.fields.walk();
    let mut always = 0;
    for (name, value) in object.members() {
        let Some(of) = walk.field(name) else {
            return false;
        };
        if is_looked_at(name) && !field(check, of, value) {
            return false;
        }
        always += usize::from(of.is_always());
    }
    always == of.fields.always_count()
}

#[inline]
fn field(check: CheckContext<'_>, field: &'static Field, of: &Value<'_>) -> bool {
    // Most are plain texts and numbers, which are looked at in place.
    if let Shape::Scalar(kind) = field.shape
        && is_plain(kind, of)
    {
        return field.presence != Presence::UnlessEmpty || !of.is_empty();
    }
    match field.presence {
        Presence::UnlessNull if of.is_null() => false,
        Presence::UnlessEmpty if of.is_empty() => false,
        Presence::Nullable if of.is_null() => true,
        _ => value(check, &field.shape, of),
    }
}

fn value(check: CheckContext<'_>, shape: &'static Shape, value: &Value<'_>) -> bool {
    let goes_on = |count| check.1.nodes(count);
    match (shape, value) {
        (Shape::Scalar(kind), of) => scalar(*kind, of),
        (Shape::Struct(id), Value::Object(object)) => structure(check, *id, object, |_| true),
        (Shape::List(element), Value::Array(elements)) => {
            goes_on(elements.len()) && elements.iter().all(|item| self::value(check, element, item))
        }
        (Shape::Map(of), Value::Object(object)) => {
            let mut members = object.members().iter();
            goes_on(object.len()) && members.all(|(_, item)| self::value(check, of, item))
        }
        (Shape::List(_) | Shape::Map(_), Value::Null) => true,
        _ => false,
    }
}

/// Whether a scalar obviously fits and has its canonical form, as most do.
#[inline]
pub(crate) fn is_plain(kind: Scalar, value: &Value<'_>) -> bool {
    match (kind, value) {
        (Scalar::String, Value::String(_))
        | (Scalar::Bool, Value::Bool(_))
        | (Scalar::Int64, Value::Int(_)) => true,
        (Scalar::Int32 | Scalar::IntOrString, Value::Int(number)) => i32::try_from(*number).is_ok(),
        (Scalar::Quantity, Value::String(text)) => is_canonical_quantity(text.as_bytes()),
        (Scalar::Time, Value::String(text)) => is_canonical_time(text.as_bytes()),
        _ => false,
    }
}

#[inline]
fn scalar(kind: Scalar, value: &Value<'_>) -> bool {
    match (kind, value) {
        _ if is_plain(kind, value) => true,
        (Scalar::String | Scalar::Bool | Scalar::Int64 | Scalar::Int32, _) => false,
        (Scalar::Json | Scalar::Time | Scalar::MicroTime | Scalar::Bytes, Value::Null) => true,
        (_, Value::Null) => false,
        _ => read(kind, value),
    }
}

/// Whether a scalar that is not [plain](is_plain()) fits and has its canonical form.
fn read(kind: Scalar, value: &Value<'_>) -> bool {
    decode::reads(kind, value) && canonical(kind, value).is_none()
}

/// Whether a text is a whole number with a suffix, in the form that quantities are written in: no larger unit fits it.
pub(crate) fn is_canonical_quantity(text: &[u8]) -> bool {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some((digits, suffix)) = text.split_at_checked(count) else {
        return false;
    };
    // Larger numbers may not fit the largest units.
    if !(1..=6).contains(&count) || digits.first() == Some(&b'0') {
        return false;
    }
    let number = digits
        .iter()
        .fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'));
    match suffix {
        b"" | b"m" | b"k" | b"M" | b"G" => number % 1000 != 0,
        b"Ki" | b"Mi" | b"Gi" => number % 1024 != 0,
        _ => false,
    }
}

/// Whether a text is a second in the form that times are written in, of a day that every month has: `2024-01-02T03:04:05Z`.
fn is_canonical_time(text: &[u8]) -> bool {
    let number = |tens: u8, ones: u8| match (tens, ones) {
        (b'0'..=b'9', b'0'..=b'9') => 10 * (tens - b'0') + ones - b'0',
        _ => u8::MAX,
    };
    let [
        c,
        d,
        y,
        z,
        b'-',
        m,
        n,
        b'-',
        e,
        f,
        b'T',
        h,
        i,
        b':',
        k,
        l,
        b':',
        s,
        t,
        b'Z',
    ] = *text
    else {
        return false;
    };
    // None is Go's zero time, which is in the year 1.
    (10..=99).contains(&number(c, d))
        && number(y, z) <= 99
        && (1..=12).contains(&number(m, n))
        && (1..=28).contains(&number(e, f))
        && number(h, i) <= 23
        && number(k, l) <= 59
        && number(s, t) <= 59
}

#[cfg(test)]
pub(crate) mod tests {
    use pratique_gotext::quantity::Quantity;
    use pratique_schema::Release;

    use super::*;

    /// Scalars of all kinds that are [plain](is_plain()).
    pub(crate) fn plain_scalars() -> Vec<(Scalar, Value<'static>)> {
        let kinds = [
            Scalar::Bool,
            Scalar::Int32,
            Scalar::Int64,
            Scalar::Float,
            Scalar::String,
            Scalar::Bytes,
            Scalar::Quantity,
            Scalar::IntOrString,
            Scalar::Time,
            Scalar::MicroTime,
            Scalar::Duration,
            Scalar::Json,
        ];
        let texts = [
            "", "a", "1", "500m", "1024Mi", "1000m", "x", "yes", "5s", "YQ==", "YQ",
        ];
        let times = ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z", "2024-01-01"];
        let numbers = [0, 1, -1, 2_147_483_647, 2_147_483_648, -2_147_483_649, i64::MAX];
        let texts = texts.into_iter().chain(times).map(Value::from);
        let others = [
            Value::Null,
            true.into(),
            false.into(),
            Value::Float(1.0),
            Value::Float(1.5),
        ];
        let lists = [Value::Array(Vec::new()), Value::Object(Object::new())];
        let values = texts.chain(numbers.map(Value::Int)).chain(others).chain(lists);
        let pairs = values.flat_map(|value| kinds.map(|kind| (kind, value.clone())));
        pairs.filter(|(kind, value)| is_plain(*kind, value)).collect()
    }

    #[test]
    fn plain_scalars_fit_and_stay() {
        let plain = plain_scalars();
        for (kind, value) in &plain {
            assert!(decode::reads(*kind, value), "{kind:?} {value}");
            assert_eq!(canonical(*kind, value), None, "{kind:?} {value}");
            let fits = decode::fits(
                Release::latest().schema(),
                &Shape::Scalar(*kind),
                value,
                &String::new,
                &Progress::unwatched(),
            );
            assert_eq!(fits, Ok(()), "{kind:?} {value}");
        }
        for kind in [
            Scalar::Bool,
            Scalar::Int32,
            Scalar::Int64,
            Scalar::String,
            Scalar::Quantity,
            Scalar::Time,
        ] {
            assert!(plain.iter().any(|(known, _)| *known == kind), "{kind:?}");
        }
    }

    #[test]
    fn canonical_times() {
        for text in [
            "1000-01-01T00:00:00Z",
            "2024-02-28T23:59:59Z",
            "9999-12-28T19:09:09Z",
        ] {
            assert!(is_canonical_time(text.as_bytes()), "{text}");
            assert_eq!(canonical(Scalar::Time, &text.into()), None, "{text}");
        }
        for text in [
            "0001-01-01T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T00:00:00.5Z",
            "2024-01-01T00:00:00+00:00",
            "2024-01-01t00:00:00z",
            "2024-01-01T00:00:0:Z",
            "",
        ] {
            assert!(!is_canonical_time(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn canonical_quantities() {
        for suffix in ["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "n", "e3", "i", "Pi"] {
            for number in (0..3000).chain([999_999, 102_400, 123_456, 1_000_000]) {
                let text = format!("{number}{suffix}");
                if is_canonical_quantity(text.as_bytes()) {
                    assert_eq!(Quantity::parse(&text).unwrap().to_string(), text);
                }
            }
        }
        for (text, expected) in [
            ("500m", true),
            ("128Mi", true),
            ("1024Mi", false),
            ("1000m", false),
            ("0", false),
            ("01", false),
            ("-1", false),
            ("", false),
            ("1.5Gi", false),
        ] {
            assert_eq!(is_canonical_quantity(text.as_bytes()), expected, "{text}");
        }
    }
}
