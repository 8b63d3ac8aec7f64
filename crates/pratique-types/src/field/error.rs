//! One error of a field.

use std::fmt::{self, Display, Formatter};

use pratique_gotext::strconv::quote;

use super::{BadValue, ErrorKind};
use crate::status::StatusCause;

/// An error of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    /// Why the field is refused.
    pub kind: ErrorKind,
    /// The path of the field: `spec.list[0].name`; `<nil>` for the object itself.
    pub field: String,
    /// The message without the path: `Required value`, `Invalid value: 3: must be …`
    pub body: String,
    /// The values that would be taken, where the value is none of an enumeration.
    pub supported: Vec<String>,
}

/// `spec.replicas: Required value`
impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.body)
    }
}

/// The field is anything that becomes a path: a text, or a [`Path`](super::Path).
// Upstream: apimachinery/pkg/util/validation/field/errors.go
impl Error {
    /// An error of any kind; the value is printed where errors of the kind do so, the detail where it is not empty.
    pub fn new(kind: ErrorKind, field: impl Into<String>, value: &BadValue<'_>, detail: &str) -> Self {
        let mut body = kind.words().to_owned();
        let value = if kind.prints_value() {
            value.to_text()
        } else {
            None
        };
        let detail = Some(detail).filter(|detail| !detail.is_empty());
        for part in [value.as_deref(), detail].into_iter().flatten() {
            body.push_str(": ");
            body.push_str(part);
        }
        Error {
            kind,
            field: field.into(),
            body,
            supported: Vec::new(),
        }
    }

    /// The value is missing or empty.
    pub fn required(field: impl Into<String>, detail: &str) -> Self {
        Error::new(ErrorKind::Required, field, &BadValue::Omitted, detail)
    }

    /// The value may not be given here.
    pub fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Error::new(ErrorKind::Forbidden, field, &BadValue::Omitted, detail)
    }

    /// The value is malformed.
    pub fn invalid<'a>(field: impl Into<String>, value: impl Into<BadValue<'a>>, detail: &str) -> Self {
        Error::new(ErrorKind::Invalid, field, &value.into(), detail)
    }

    /// The value is not of the schema's type.
    pub fn type_invalid<'a>(field: impl Into<String>, value: impl Into<BadValue<'a>>, detail: &str) -> Self {
        Error::new(ErrorKind::TypeInvalid, field, &value.into(), detail)
    }

    /// What the value names does not exist.
    pub fn not_found<'a>(field: impl Into<String>, value: impl Into<BadValue<'a>>) -> Self {
        Error::new(ErrorKind::NotFound, field, &value.into(), "")
    }

    /// The value repeats another one.
    pub fn duplicate<'a>(field: impl Into<String>, value: impl Into<BadValue<'a>>) -> Self {
        Error::new(ErrorKind::Duplicate, field, &value.into(), "")
    }

    /// The value is none of the supported ones, which are listed as they come.
    pub fn not_supported<'a, T: AsRef<str>>(
        field: impl Into<String>,
        value: impl Into<BadValue<'a>>,
        supported: impl IntoIterator<Item = T>,
    ) -> Self {
        let supported: Vec<String> = supported
            .into_iter()
            .map(|text| text.as_ref().to_owned())
            .collect();
        let quoted: Vec<String> = supported.iter().map(|text| quote(text)).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Error {
            supported,
            ..Error::new(ErrorKind::NotSupported, field, &value.into(), &detail)
        }
    }

    /// The text is longer than `max` bytes; a negative number is not shown.
    pub fn too_long(field: impl Into<String>, max: i64) -> Self {
        Error::too_long_in(field, max, "byte")
    }

    /// The text is longer than `max` characters; a negative number is not shown.
    pub fn too_long_characters(field: impl Into<String>, max: i64) -> Self {
        Error::too_long_in(field, max, "character")
    }

    fn too_long_in(field: impl Into<String>, max: i64, unit: &str) -> Self {
        let detail = if max < 0 {
            "value is too long".to_owned()
        } else {
            format!("may not be more than {}", count(max, unit))
        };
        Error::new(ErrorKind::TooLong, field, &BadValue::Omitted, &detail)
    }

    /// The list has more than `max` items; negative numbers are not shown.
    pub fn too_many(field: impl Into<String>, actual: i64, max: i64) -> Self {
        let value = if actual < 0 {
            BadValue::Omitted
        } else {
            BadValue::Int(actual)
        };
        let detail = if max < 0 {
            "has too many items".to_owned()
        } else {
            format!("must have at most {}", count(max, "item"))
        };
        Error::new(ErrorKind::TooMany, field, &value, &detail)
    }

    /// The server's own code failed.
    pub fn internal(field: impl Into<String>, detail: &str) -> Self {
        Error::new(ErrorKind::Internal, field, &BadValue::Omitted, detail)
    }

    /// The error as a cause of a `Status`.
    pub fn into_cause(self) -> StatusCause {
        StatusCause {
            reason: self.kind.reason().to_owned(),
            message: self.body,
            field: self.field,
        }
    }
}

fn count(number: i64, unit: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use pratique_json::Value;

    use super::*;

    #[track_caller]
    fn check(error: &Error, expected: &str) {
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn values_are_printed_as_go_does() {
        check(
            &Error::invalid("a", "\u{1}<é>", ""),
            r#"a: Invalid value: "\x01<é>""#,
        );
        let named = BadValue::Named("<a>".into());
        check(
            &Error::invalid("a", named, "no"),
            r#"a: Invalid value: "\u003ca\u003e": no"#,
        );
        check(&Error::invalid("a", 3, "no"), "a: Invalid value: 3: no");
        check(&Error::invalid("a", true, ""), "a: Invalid value: true");
        check(
            &Error::invalid("a", BadValue::Float(1e21), ""),
            "a: Invalid value: 1e+21",
        );
        check(
            &Error::duplicate("a", &Value::from("<")),
            r#"a: Duplicate value: "<""#,
        );
        let list = pratique_json::parse(br#"["<"]"#).unwrap();
        check(
            &Error::type_invalid("a", &list, ""),
            r#"a: Invalid value: ["\u003c"]"#,
        );
        check(
            &Error::not_found("a", BadValue::Prepared("{X}".into())),
            "a: Not found: {X}",
        );
        check(
            &Error::invalid("a", BadValue::Omitted, "no"),
            "a: Invalid value: no",
        );
    }

    #[test]
    fn some_kinds_print_no_value() {
        check(&Error::required("a", ""), "a: Required value");
        check(&Error::forbidden("a", "no"), "a: Forbidden: no");
        check(
            &Error::too_long("a", 1),
            "a: Too long: may not be more than 1 byte",
        );
        check(
            &Error::too_long_characters("a", 2),
            "a: Too long: may not be more than 2 characters",
        );
        check(&Error::too_long("a", -1), "a: Too long: value is too long");
        check(
            &Error::too_many("a", 3, 2),
            "a: Too many: 3: must have at most 2 items",
        );
        check(&Error::too_many("a", -1, -1), "a: Too many: has too many items");
        check(&Error::internal("a", "broken"), "a: Internal error: broken");
        check(
            &Error::not_supported("a", "b", [""; 0]),
            r#"a: Unsupported value: "b""#,
        );
    }
}
