//! The parts of timestamps, in UTC or in a time zone, and of durations.

use super::signature::member;
use crate::error::Fault;
use crate::function::{CallFn, Function, Overload};
use crate::time::{DurationField, TimestampField, Zone};
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// `getFullYear` and its like.
pub(super) fn functions() -> Vec<Function> {
    vec![
        full_year(),
        month(),
        day_of_year(),
        day_of_month(),
        date(),
        day_of_week(),
        hours(),
        minutes(),
        seconds(),
        milliseconds(),
    ]
}

fn full_year() -> Function {
    of_timestamp(
        "getFullYear",
        "timestamp_to_year",
        "timestamp_to_year_with_tz",
        |_, arguments| part(arguments, TimestampField::FullYear),
    )
}

fn month() -> Function {
    of_timestamp(
        "getMonth",
        "timestamp_to_month",
        "timestamp_to_month_with_tz",
        |_, arguments| part(arguments, TimestampField::Month),
    )
}

fn day_of_year() -> Function {
    let (utc, zoned) = ("timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz");
    of_timestamp("getDayOfYear", utc, zoned, |_, arguments| {
        part(arguments, TimestampField::DayOfYear)
    })
}

fn day_of_month() -> Function {
    let (utc, zoned) = ("timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz");
    of_timestamp("getDayOfMonth", utc, zoned, |_, arguments| {
        part(arguments, TimestampField::DayOfMonth)
    })
}

fn date() -> Function {
    let (utc, zoned) = (
        "timestamp_to_day_of_month_1_based",
        "timestamp_to_day_of_month_1_based_with_tz",
    );
    of_timestamp("getDate", utc, zoned, |_, arguments| {
        part(arguments, TimestampField::Date)
    })
}

fn day_of_week() -> Function {
    let (utc, zoned) = ("timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz");
    of_timestamp("getDayOfWeek", utc, zoned, |_, arguments| {
        part(arguments, TimestampField::DayOfWeek)
    })
}

fn hours() -> Function {
    of_timestamp(
        "getHours",
        "timestamp_to_hours",
        "timestamp_to_hours_with_tz",
        |_, arguments| part(arguments, TimestampField::Hours),
    )
    .with(of_duration("duration_to_hours", |_, arguments| {
        whole(arguments, DurationField::Hours)
    }))
}

fn minutes() -> Function {
    of_timestamp(
        "getMinutes",
        "timestamp_to_minutes",
        "timestamp_to_minutes_with_tz",
        |_, arguments| part(arguments, TimestampField::Minutes),
    )
    .with(of_duration("duration_to_minutes", |_, arguments| {
        whole(arguments, DurationField::Minutes)
    }))
}

fn seconds() -> Function {
    of_timestamp(
        "getSeconds",
        "timestamp_to_seconds",
        "timestamp_to_seconds_tz",
        |_, arguments| part(arguments, TimestampField::Seconds),
    )
    .with(of_duration("duration_to_seconds", |_, arguments| {
        whole(arguments, DurationField::Seconds)
    }))
}

fn milliseconds() -> Function {
    let (utc, zoned) = ("timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz");
    of_timestamp("getMilliseconds", utc, zoned, |_, arguments| {
        part(arguments, TimestampField::Milliseconds)
    })
    .with(of_duration("duration_to_milliseconds", |_, arguments| {
        whole(arguments, DurationField::Milliseconds)
    }))
}

fn of_timestamp(name: &str, utc: &str, zoned: &str, call: CallFn) -> Function {
    Function::new(name)
        .member(utc, &[Type::Timestamp], Type::Int, call)
        .member(zoned, &[Type::Timestamp, Type::String], Type::Int, call)
}

fn of_duration(id: &str, call: CallFn) -> Overload {
    member(id, &[Type::Duration], Type::Int).implemented(call)
}

fn part<'a>(arguments: &[Value<'a>], field: TimestampField) -> Evaluation<'a> {
    match arguments {
        [Value::Timestamp(timestamp)] => Ok(Value::Int(timestamp.field(field, 0))),
        [Value::Timestamp(timestamp), Value::String(zone)] => {
            let zone = Zone::parse(zone).map_err(|fault| Fault::error(fault.to_string()))?;
            Ok(Value::Int(zone.field(*timestamp, field)))
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn whole<'a>(arguments: &[Value<'a>], field: DurationField) -> Evaluation<'a> {
    match arguments {
        [Value::Duration(duration)] => Ok(Value::Int(duration.field(field))),
        _ => Err(Fault::no_such_overload()),
    }
}
