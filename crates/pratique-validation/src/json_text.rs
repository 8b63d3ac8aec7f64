//! JSON in texts: annotations and the data of Secrets, with the errors of Go's parser.

use pratique_gotext::json::UnmarshalTypeError;
use pratique_json::Value;
use pratique_schema::Release;
use pratique_yaml::Budget;

/// The value of a text; the fault in the words of the Go that a release's server is built with.
// Upstream: encoding/json/scanner.go, SyntaxError
pub(crate) fn parse_json<'b>(bytes: &'b [u8], release: &Release) -> Result<Value<'b>, String> {
    // The words are those of the strict parser, which knows where it is; the values are those of the plain one.
    pratique_yaml::json::parse(bytes, &Budget::unlimited())
        .map_err(|error| error.to_text(release.is_of_go_1_27()).to_owned())?;
    pratique_json::parse(bytes).map_err(|error| error.to_string())
}

/// How Go calls the kind of a value that does not fit.
// Upstream: encoding/json/decode.go, UnmarshalTypeError
pub(crate) fn kind_in_go(value: &Value<'_>) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Object(_) => "object",
        _ => "array",
    }
}

/// The value of a text that has to be a list or an object of a type of Go.
pub(crate) fn parse_json_as<'t>(
    text: &'t str,
    is_list: bool,
    go_type: &str,
    release: &Release,
) -> Result<Value<'t>, String> {
    let value = parse_json(text.as_bytes(), release)?;
    match &value {
        Value::Null => Ok(value),
        Value::Array(_) if is_list => Ok(value),
        Value::Object(_) if !is_list => Ok(value),
        other => Err(UnmarshalTypeError::of_value(kind_in_go(other), go_type).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_in_the_words_of_the_release() {
        for (version, expected) in [
            ("1.37", "invalid character 'Ã' looking for beginning of value"),
            ("1.38", "invalid character 'é' looking for beginning of value"),
        ] {
            let release = Release::by_version(version).unwrap();
            assert_eq!(parse_json("é".as_bytes(), release).unwrap_err(), expected);
            let error = parse_json_as("1", true, "[]core.Taint", release).unwrap_err();
            assert_eq!(
                error,
                "json: cannot unmarshal number into Go value of type []core.Taint"
            );
        }
    }
}
