//! Reading the configuration of plugins.

use pratique_gotext::json::unknown_kind;
use pratique_json::Value;
use pratique_plugin::StartError;

/// The JSON of a configuration written in YAML or JSON, as the server's serializer reads it, with its kind checked.
// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, Serializer.Decode
pub(crate) fn decode(
    text: &[u8],
    group: &str,
    version: &str,
    kind: &str,
) -> Result<Value<'static>, StartError> {
    let json = to_json(text)?;
    let value = pratique_json::parse(json.as_bytes())
        .map_err(|error| StartError::new(unknown_kind(error)))?
        .into_owned();
    let header = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (found_kind, found_version) = (header("kind"), header("apiVersion"));
    let raw = String::from_utf8_lossy(text);
    if found_kind.is_empty() {
        return Err(StartError::new(format!("Object 'Kind' is missing in '{raw}'")));
    }
    if found_version.is_empty() {
        return Err(StartError::new(format!(
            "Object 'apiVersion' is missing in '{raw}'"
        )));
    }
    if found_kind != kind || found_version != format!("{group}/{version}") {
        return Err(StartError::new(format!(
            "no kind {found_kind:?} is registered for version {found_version:?} in scheme {SCHEME:?}"
        )));
    }
    Ok(value)
}

/// What the server calls the schemes of plugins, after the place in its sources.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

/// The JSON of a text in YAML or JSON.
pub(crate) fn to_json(text: &[u8]) -> Result<String, StartError> {
    match pratique_yaml::is_json(text) {
        true => pratique_yaml::json_as_json(text).map_err(|error| StartError::new(unknown_kind(error))),
        false => pratique_yaml::yaml_as_json(text).map_err(|error| StartError::new(error.to_string())),
    }
}

/// The documents of a text in YAML or JSON, each as far as it can be read.
// Upstream: apimachinery/pkg/util/yaml/decoder.go, YAMLOrJSONDecoder
pub(crate) fn documents(text: &[u8]) -> impl Iterator<Item = Result<Value<'static>, StartError>> {
    let whole = String::from_utf8_lossy(text).into_owned();
    let parts: Vec<String> = match pratique_yaml::is_json(text) {
        true => vec![whole],
        false => split(&whole),
    };
    parts.into_iter().map(|part| {
        let json = to_json(part.as_bytes())?;
        let value = pratique_json::parse(json.as_bytes());
        value
            .map(Value::into_owned)
            .map_err(|error| StartError::new(error.to_string()))
    })
}

/// The parts of a text between lines that begin with `---`.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.split_inclusive('\n') {
        match (line.starts_with("---"), parts.last_mut()) {
            (false, Some(part)) => part.push_str(line),
            _ => parts.push(String::new()),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}
