//! The parts of timestamps, in UTC or in a time zone, and of durations.

use super::signature::member;
use crate::error::Fault;
use crate::function::Function;
use crate::time::{DurationField, TimestampField, Zone};
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// `getFullYear` and its like.
pub(super) fn functions() -> Vec<Function> {
    use TimestampField as Field;
    vec![
        of_timestamp("getFullYear", "year", Field::FullYear),
        of_timestamp("getMonth", "month", Field::Month),
        of_timestamp("getDayOfYear", "day_of_year", Field::DayOfYear),
        of_timestamp("getDayOfMonth", "day_of_month", Field::DayOfMonth),
        of_timestamp("getDate", "day_of_month_1_based", Field::Date),
        of_timestamp("getDayOfWeek", "day_of_week", Field::DayOfWeek),
        of_both("getHours", "hours", Field::Hours, DurationField::Hours),
        of_both("getMinutes", "minutes", Field::Minutes, DurationField::Minutes),
        of_both("getSeconds", "seconds", Field::Seconds, DurationField::Seconds),
        of_both(
            "getMilliseconds",
            "milliseconds",
            Field::Milliseconds,
            DurationField::Milliseconds,
        ),
    ]
}

fn of_timestamp(name: &str, id: &str, field: TimestampField) -> Function {
    // The one that cel-go names unlike the others.
    let zoned = if id == "seconds" { "tz" } else { "with_tz" };
    let overload = |id: String, params: &[Type]| {
        member(&id, params, Type::Int).shared(move |_, arguments| part(arguments, field))
    };
    Function::new(name)
        .with(overload(format!("timestamp_to_{id}"), &[Type::Timestamp]))
        .with(overload(
            format!("timestamp_to_{id}_{zoned}"),
            &[Type::Timestamp, Type::String],
        ))
}

fn of_both(name: &str, id: &str, field: TimestampField, of_duration: DurationField) -> Function {
    let overload = member(&format!("duration_to_{id}"), &[Type::Duration], Type::Int);
    of_timestamp(name, id, field).with(overload.shared(move |_, arguments| match arguments {
        [Value::Duration(duration)] => Ok(Value::Int(duration.field(of_duration))),
        _ => Err(Fault::no_such_overload()),
    }))
}

fn part<'a>(arguments: &[Value<'a>], field: TimestampField) -> Evaluation<'a> {
    match arguments {
        [Value::Timestamp(timestamp)] => Ok(Value::Int(timestamp.field(field, 0))),
        [Value::Timestamp(timestamp), Value::String(zone)] => {
            let zone = Zone::parse(zone).map_err(Fault::from_display)?;
            Ok(Value::Int(zone.field(*timestamp, field)))
        }
        _ => Err(Fault::no_such_overload()),
    }
}
