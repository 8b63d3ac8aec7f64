//! Scalars in their canonical form.

use pratique_gotext::quantity::Quantity;
use pratique_gotext::time::{Duration, ParsedTime, TimeLayout, Timestamp, parse};
use pratique_json::{Value, base64};
use pratique_schema::Scalar;

use crate::settled_form::is_canonical_quantity;

/// The canonical form of a scalar; `None` where it has it, or where no API server would have taken it.
pub(crate) fn canonical<'a>(scalar: Scalar, value: &Value<'_>) -> Option<Value<'a>> {
    match (scalar, value) {
        (Scalar::Quantity, Value::String(text)) if is_canonical_quantity(text.as_bytes()) => None,
        (Scalar::Quantity, Value::String(text)) => {
            changed(text, Quantity::parse(text.trim()).ok()?.to_string())
        }
        (Scalar::Quantity, Value::Int(_) | Value::Float(_)) => {
            Some(Quantity::parse(&value.to_string()).ok()?.to_string().into())
        }
        (Scalar::Bytes, Value::Array(bytes)) => {
            let bytes = bytes
                .iter()
                .map(|byte| u8::try_from(byte.as_int().unwrap_or_default()));
            Some(base64::encode(&bytes.collect::<Result<Vec<_>, _>>().ok()?).into())
        }
        (Scalar::Bytes, Value::String(text)) => changed(text, base64::encode(&base64::decode(text).ok()?)),
        (Scalar::Time, Value::String(text)) => match parse(text, TimeLayout::Rfc3339).ok()? {
            time if is_zero(&time) => Some(Value::Null),
            _ => changed(text, in_seconds(text)?),
        },
        (Scalar::MicroTime, Value::String(text)) => match parse(text, TimeLayout::Rfc3339Micro).ok()? {
            time if is_zero(&time) => Some(Value::Null),
            _ => changed(text, in_microseconds(text)?),
        },
        (Scalar::Duration, Value::String(text)) => changed(text, Duration::parse(text).ok()?.in_messages()),
        (Scalar::Int32, Value::Int(number)) if i32::try_from(*number).is_err() => {
            Some(Value::Int(i64::from(*number as i32)))
        }
        (Scalar::Int32, Value::Float(number)) => Some(Value::Int(i64::from(truncated(*number)? as i32))),
        (Scalar::Int64 | Scalar::IntOrString, Value::Float(number)) => Some(Value::Int(truncated(*number)?)),
        (Scalar::Float, Value::Int(number)) => Some(Value::Float(*number as f64)),
        _ => None,
    }
}

/// Whether a time is Go's zero time, which is written as null.
// Upstream: apimachinery/pkg/apis/meta/v1/time.go, Time.MarshalJSON
fn is_zero(time: &ParsedTime) -> bool {
    /// The first second of the year 1.
    const FIRST: i64 = -62_135_596_800;
    time.seconds == FIRST && time.nanos == 0
}

/// The zero value of a scalar.
pub(crate) fn zero<'a>(scalar: Scalar) -> Value<'a> {
    match scalar {
        Scalar::Bool => Value::Bool(false),
        Scalar::Int32 | Scalar::Int64 | Scalar::IntOrString => Value::Int(0),
        Scalar::Float => Value::Float(0.0),
        Scalar::String => Value::from(""),
        Scalar::Quantity => Value::from("0"),
        Scalar::Duration => Value::from("0s"),
        Scalar::Bytes | Scalar::Time | Scalar::MicroTime | Scalar::Json => Value::Null,
    }
}

/// A float without fraction as an integer, as amd64 processors convert it: the least integer for all that are
/// out of range.
fn truncated(number: f64) -> Option<i64> {
    const RANGE: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    let is_whole = number.is_infinite() || number.fract() == 0.0;
    is_whole.then_some(if RANGE.contains(&number) {
        number as i64
    } else {
        i64::MIN
    })
}

fn changed<'a>(text: &str, canonical: String) -> Option<Value<'a>> {
    (text != canonical).then(|| canonical.into())
}

fn in_seconds(text: &str) -> Option<String> {
    let time = parse(text, TimeLayout::Rfc3339).ok()?;
    Some(Timestamp::of_message(time.seconds, 0).to_string())
}

fn in_microseconds(text: &str) -> Option<String> {
    let time = parse(text, TimeLayout::Rfc3339Micro).ok()?;
    let seconds = Timestamp::of_message(time.seconds, 0).to_string();
    let seconds = seconds.trim_end_matches('Z');
    Some(format!("{seconds}.{:06}Z", time.nanos / 1000))
}
