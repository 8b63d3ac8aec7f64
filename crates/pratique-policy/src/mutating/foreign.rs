//! Values of expressions that no document holds, as Go formats them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

use pratique_cel::Value;
use pratique_cel::value::List;
use pratique_merge::structured_merge::Foreign;

use crate::typed::GoValue;

/// A value that no document holds.
pub(super) fn foreign(value: &Value<'_>) -> Foreign {
    match value {
        Value::Uint(number) => new(number.to_string(), format!("{number:#x}"), UNSIGNED),
        Value::Bytes(bytes) => {
            // There may be megabytes of them.
            let mut byte_list = String::with_capacity(4 * bytes.len());
            let mut literal = String::with_capacity(6 * bytes.len());
            for (at, byte) in bytes.iter().enumerate() {
                let (space, comma) = if at == 0 { ("", "") } else { (" ", ", ") };
                // Writing to a text does not fail.
                let _ = write!(byte_list, "{space}{byte}");
                let _ = write!(literal, "{comma}{byte:#x}");
            }
            new(format!("[{byte_list}]"), format!("[]uint8{{{literal}}}"), BYTES)
        }
        Value::Timestamp(time) => new(time.in_messages(), time.literal(), "time.Time"),
        Value::Duration(span) => new(span.in_messages(), span.nanos().to_string(), "time.Duration"),
        Value::List(List::Texts(texts)) => {
            let quoted: Vec<String> = texts.iter().map(literal).collect();
            let type_name = "[]string";
            let words: Vec<String> = texts.iter().map(plain).collect();
            new(
                format!("[{}]", words.join(" ")),
                format!("{type_name}{{{}}}", quoted.join(", ")),
                type_name,
            )
        }
        Value::List(list) => {
            let of =
                |show: fn(&Value<'_>) -> String| list.iter().map(|value| show(&value)).collect::<Vec<_>>();
            new(
                format!("[{}]", of(plain).join(" ")),
                format!("[]ref.Val{{{}}}", of(literal).join(", ")),
                "[]ref.Val",
            )
        }
        Value::Map(map) => {
            // Go sorts keys; those of literals are of one type.
            let mut entries: Vec<(Value<'_>, Value<'_>)> = map.iter().collect();
            entries.sort_by(|(a, _), (b, _)| by_key(a, b));
            let of = |show: fn(&Value<'_>) -> String| {
                let entries = entries.iter();
                let entries = entries.map(|(key, value)| format!("{}:{}", show(key), show(value)));
                entries.collect::<Vec<_>>()
            };
            new(
                format!("map[{}]", of(plain).join(" ")),
                format!("map[ref.Val]ref.Val{{{}}}", of(literal).join(", ")),
                "map[ref.Val]ref.Val",
            )
        }
        // Upstream: apiserver/pkg/cel/lazy/lazy.go, MapValue.Value, for `variables`
        Value::Struct(other) if other.is_iterable() => error("no such overload".to_owned()),
        Value::Struct(other) => new(String::new(), String::new(), go_struct(other.type_name())),
        Value::Opaque(opaque) if opaque.type_name() == SEMVER => {
            let text = opaque.to_text();
            let literal = semver_literal(&text);
            new(text, literal, go_struct(SEMVER))
        }
        Value::Opaque(opaque) => new(opaque.to_text(), opaque.to_text(), go_struct(opaque.type_name())),
        other => new(plain(other), literal(other), "*types.Err"),
    }
}

/// The name of the type of versions.
const SEMVER: &str = "kubernetes.Semver";

/// A version in Go's `%#v` format, from its text.
///
/// Upstream: github.com/blang/semver/v4, `Version`
fn semver_literal(text: &str) -> String {
    let (text, build) = text
        .split_once('+')
        .map_or((text, None), |(text, build)| (text, Some(build)));
    let (numbers, prerelease) = text
        .split_once('-')
        .map_or((text, None), |(numbers, prerelease)| (numbers, Some(prerelease)));
    let number = |text: &str| text.parse::<u64>().ok();
    let mut numbers = numbers.split('.').map(|text| number(text).unwrap_or_default());
    let [major, minor, patch] = std::array::from_fn(|_| numbers.next().unwrap_or_default());
    let part = |part: &str| match number(part) {
        Some(number) => format!("semver.PRVersion{{VersionStr:\"\", VersionNum:{number:#x}, IsNum:true}}"),
        None => format!("semver.PRVersion{{VersionStr:\"{part}\", VersionNum:0x0, IsNum:false}}"),
    };
    let slice = |of: &str, text: Option<&str>, show: &dyn Fn(&str) -> String| match text {
        None => format!("{of}(nil)"),
        Some(text) => {
            let parts: Vec<String> = text.split('.').map(show).collect();
            format!("{of}{{{}}}", parts.join(", "))
        }
    };
    format!(
        "semver.Version{{Major:{major:#x}, Minor:{minor:#x}, Patch:{patch:#x}, Pre:{}, Build:{}}}",
        slice("[]semver.PRVersion", prerelease, &part),
        slice("[]string", build, &|part| format!("\"{part}\""))
    )
}

/// A part of a typed input.
pub(super) fn typed(go: GoValue) -> Foreign {
    Foreign {
        plain: go.plain,
        literal: go.literal,
        type_name: Cow::Owned(go.type_name),
    }
}

/// The error that took a value's place.
pub(super) fn error(text: String) -> Foreign {
    new(text, String::new(), "*types.Err")
}

/// The value that the reference reads from an error that it takes for a value.
pub(super) fn failure(text: String) -> Foreign {
    new(text, String::new(), "*errors.errorString")
}

/// The name of the type of unsigned integers.
pub(super) const UNSIGNED: &str = "uint64";

/// The name of the type of bytes.
pub(super) const BYTES: &str = "[]uint8";

fn new(plain: String, literal: String, type_name: &'static str) -> Foreign {
    Foreign {
        plain,
        literal,
        type_name: Cow::Borrowed(type_name),
    }
}

/// A value of an expression in Go's `%v` format.
pub(super) fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Timestamp(time) => time.in_messages(),
        other => pratique_cel::internal::go_format(other),
    }
}

/// A value of an expression in Go's `%#v` format.
fn literal(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => pratique_gotext::strconv::quote(text),
        Value::Uint(number) => format!("{number:#x}"),
        Value::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            format!("types.Bytes{{{}}}", bytes.join(", "))
        }
        Value::Duration(span) => format!("types.Duration{{Duration:{}}}", span.nanos()),
        Value::Timestamp(time) => time.literal(),
        other => pratique_cel::internal::go_format(other),
    }
}

fn by_key(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Uint(a), Value::Uint(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => Ordering::Equal,
    }
}

/// The Go types of values of some CEL types.
fn go_struct(name: &str) -> &'static str {
    match name {
        "kubernetes.Quantity" => "*resource.Quantity",
        "net.IP" => "netip.Addr",
        "net.CIDR" => "netip.Prefix",
        "kubernetes.URL" => "*url.URL",
        SEMVER => "semver.Version",
        "kubernetes.NamedFormat" => "*cel.Format",
        "JSONPatch" => "*mutation.JSONPatchVal",
        _ => "*types.Err",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_shown() {
        assert_eq!(
            semver_literal("1.2.3"),
            "semver.Version{Major:0x1, Minor:0x2, Patch:0x3, Pre:[]semver.PRVersion(nil), Build:[]string(nil)}"
        );
        assert_eq!(
            semver_literal("10.0.0-rc.11+a.b"),
            "semver.Version{Major:0xa, Minor:0x0, Patch:0x0, Pre:[]semver.PRVersion{semver.PRVersion{VersionStr:\"rc\", \
             VersionNum:0x0, IsNum:false}, semver.PRVersion{VersionStr:\"\", VersionNum:0xb, IsNum:true}}, \
             Build:[]string{\"a\", \"b\"}}"
        );
    }
}
