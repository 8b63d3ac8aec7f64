//! The parts of timestamps, in UTC or in a time zone, and of durations.

use super::member;
use crate::function::Function;
use crate::types::Type;

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
    of_timestamp("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz")
}

fn month() -> Function {
    of_timestamp("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz")
}

fn day_of_year() -> Function {
    let (utc, zoned) = ("timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz");
    of_timestamp("getDayOfYear", utc, zoned)
}

fn day_of_month() -> Function {
    let (utc, zoned) = ("timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz");
    of_timestamp("getDayOfMonth", utc, zoned)
}

fn date() -> Function {
    let (utc, zoned) = (
        "timestamp_to_day_of_month_1_based",
        "timestamp_to_day_of_month_1_based_with_tz",
    );
    of_timestamp("getDate", utc, zoned)
}

fn day_of_week() -> Function {
    let (utc, zoned) = ("timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz");
    of_timestamp("getDayOfWeek", utc, zoned)
}

fn hours() -> Function {
    of_timestamp("getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz")
        .with(of_duration("duration_to_hours"))
}

fn minutes() -> Function {
    of_timestamp(
        "getMinutes",
        "timestamp_to_minutes",
        "timestamp_to_minutes_with_tz",
    )
    .with(of_duration("duration_to_minutes"))
}

fn seconds() -> Function {
    of_timestamp("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz")
        .with(of_duration("duration_to_seconds"))
}

fn milliseconds() -> Function {
    let (utc, zoned) = ("timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz");
    of_timestamp("getMilliseconds", utc, zoned).with(of_duration("duration_to_milliseconds"))
}

fn of_timestamp(name: &str, utc: &str, zoned: &str) -> Function {
    Function::new(name)
        .with(member(utc, &[Type::Timestamp], Type::Int))
        .with(member(zoned, &[Type::Timestamp, Type::String], Type::Int))
}

fn of_duration(id: &str) -> crate::function::Overload {
    member(id, &[Type::Duration], Type::Int)
}
