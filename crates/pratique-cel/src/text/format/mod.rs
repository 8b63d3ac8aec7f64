//! The formatting of `string.format`: clauses such as `%s` and `%.2f` in a text, each for one argument.

mod argument;
mod clause;
mod english;
mod error;
mod nested;

pub(crate) use argument::{Argument, Shape};
pub(crate) use clause::Clause;
pub(crate) use error::{ArgumentError, FormatError};

/// Formats a text with arguments.
pub(crate) fn format<A: Argument>(text: &str, arguments: &[A]) -> Result<String, FormatError<ArgumentError>> {
    let mut formatted = String::with_capacity(text.len());
    interpolate(
        text,
        arguments.len(),
        &mut formatted,
        |clause, index, out| match arguments.get(index) {
            Some(argument) => argument::write(out, clause, argument),
            None => Ok(()),
        },
    )?;
    Ok(formatted)
}

/// Copies a text to `out`, and calls `write` with each clause and the index of its argument. Gives the number of clauses.
pub(crate) fn interpolate<E>(
    text: &str,
    arguments: usize,
    out: &mut String,
    mut write: impl FnMut(Clause, usize, &mut String) -> Result<(), E>,
) -> Result<usize, FormatError<E>> {
    let mut rest = text;
    let mut index = 0;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        if index >= arguments {
            return Err(FormatError::MissingArgument(index));
        }
        if after.is_empty() {
            return Err(FormatError::UnexpectedEnd);
        }
        let (clause, after) = Clause::parse(after)?;
        write(clause, index, out).map_err(FormatError::Argument)?;
        rest = after;
        index += 1;
    }
    out.push_str(rest);
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Duration, Timestamp};

    #[derive(Clone)]
    enum Sample {
        Null,
        Bool(bool),
        Int(i64),
        Uint(u64),
        Double(f64),
        String(&'static str),
        Bytes(&'static [u8]),
        Timestamp(&'static str),
        Duration(&'static str),
        Type(&'static str),
        List(Vec<Sample>),
        Map(Vec<(Sample, Sample)>),
        Opaque,
    }

    impl Argument for Sample {
        fn shape(&self) -> Shape<'_, Self> {
            match self {
                Sample::Null => Shape::Null,
                Sample::Bool(value) => Shape::Bool(*value),
                Sample::Int(value) => Shape::Int(*value),
                Sample::Uint(value) => Shape::Uint(*value),
                Sample::Double(value) => Shape::Double(*value),
                Sample::String(value) => Shape::String(value),
                Sample::Bytes(value) => Shape::Bytes(value),
                Sample::Timestamp(text) => Shape::Timestamp(Timestamp::parse(text).unwrap()),
                Sample::Duration(text) => Shape::Duration(Duration::parse(text).unwrap()),
                Sample::Type(name) => Shape::Type(name),
                Sample::List(elements) => Shape::List(elements.clone()),
                Sample::Map(entries) => Shape::Map(entries.clone()),
                Sample::Opaque => Shape::Other,
            }
        }

        fn type_name(&self) -> &str {
            match self {
                Sample::Double(_) => "double",
                Sample::String(_) => "string",
                Sample::List(_) => "list",
                _ => "sample",
            }
        }
    }

    use Sample as S;

    fn check(text: &str, arguments: &[Sample], expected: &str) {
        let formatted = format(text, arguments).unwrap_or_else(|error| format!("error: {error}"));
        assert_eq!(formatted, expected, "{text}");
    }

    #[test]
    fn clauses() {
        check("no clause, 100%%", &[], "no clause, 100%");
        check(
            "%s %s %s",
            &[S::String("a\"é"), S::Bytes("é".as_bytes()), S::Null],
            "a\"é é null",
        );
        check(
            "%s %s %s",
            &[S::Double(1e6), S::Bool(true), S::Type("int")],
            "1e+06 true int",
        );
        check(
            "%s",
            &[S::Timestamp("2023-01-01T00:00:00+02:00")],
            "2023-01-01T00:00:00+02:00",
        );
        check(
            "%d %d",
            &[S::Int(-7), S::Uint(u64::MAX)],
            "-7 18446744073709551615",
        );
        check(
            "%.3f|%f",
            &[S::Double(1_234.567_8), S::String("-Infinity")],
            "1,234.568|-∞",
        );
        check(
            "%e|%.9e",
            &[S::Double(1_234.567_8), S::String("NaN")],
            "1.234568×10⁰³|      NaN",
        );
        check("%b %b %b", &[S::Int(-5), S::Bool(true), S::Uint(5)], "-101 1 101");
        check(
            "%x %X %x %X",
            &[S::Int(-255), S::Uint(255), S::String("é"), S::Bytes(&[10, 255])],
            "-ff FF c3a9 0AFF",
        );
        check(
            "%o %.5s",
            &[S::Int(-9), S::String("precision is for numbers")],
            "-11 precision is for numbers",
        );
    }

    #[test]
    fn members_look_like_literals() {
        let list = S::List(vec![
            S::Int(1),
            S::Uint(2),
            S::Double(1.0 / 3.0),
            S::Double(f64::INFINITY),
            S::String("a\"\n"),
            S::Bytes(b"x"),
            S::Null,
            S::Bool(false),
            S::Type("list"),
            S::List(vec![]),
        ]);
        check(
            "%s",
            &[list],
            r#"[1, 2, 0.333333, "+Inf", "a\"\n", b"x", null, false, list, []]"#,
        );
        let list = S::List(vec![S::Timestamp("2023-01-01T00:00:00Z"), S::Duration("90m")]);
        check(
            "%s",
            &[list],
            r#"[timestamp("2023-01-01T00:00:00Z"), duration("5400s")]"#,
        );
        let map = S::Map(vec![
            (S::String("b"), S::Int(1)),
            (S::Int(10), S::String("x")),
            (S::Bool(true), S::Map(vec![])),
            (S::Int(9), S::Double(2.0)),
        ]);
        check("%s", &[map], r#"{"b":1, 10:"x", 9:2.000000, true:{}}"#);
    }

    #[test]
    fn errors() {
        check("%s %s", &[S::Null], "error: index 1 out of range");
        check("%", &[], "error: index 0 out of range");
        check("100%", &[S::Null], "error: unexpected end of string");
        check(
            "%q",
            &[S::Null],
            "error: could not parse formatting clause: unrecognized formatting clause \"q\"",
        );
        check(
            "%é",
            &[S::Null],
            "error: could not parse formatting clause: unrecognized formatting clause \"Ã\"",
        );
        check(
            "%.",
            &[S::Null],
            "error: could not parse formatting clause: error while parsing precision: could not find end of precision specifier",
        );
        check(
            "%.x",
            &[S::Null],
            "error: could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
        );
        check(
            "%d",
            &[S::Double(1.0)],
            "error: error during formatting: decimal clause can only be used on integers, was given double",
        );
        check(
            "%f",
            &[S::String("1")],
            "error: error during formatting: fixed-point clause can only be used on doubles, was given string",
        );
        check(
            "%x",
            &[S::List(vec![])],
            "error: error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given list",
        );
        check(
            "%s",
            &[S::Opaque],
            "error: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given sample",
        );
        check(
            "%s",
            &[S::List(vec![S::Opaque])],
            "error: error during formatting: no formatting function for sample",
        );
        check(
            "%s",
            &[S::Map(vec![(S::Double(1.0), S::Null)])],
            "error: error during formatting: no formatting function for map key of type double",
        );
        check(
            "%s",
            &[S::Bytes(&[255])],
            "error: error during formatting: could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string",
        );
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let mut list = S::List(vec![]);
        for _ in 0..900 {
            list = S::List(vec![list]);
        }
        assert!(format("%s", &[list]).is_err());
    }
}
