//! Reading the configuration of plugins that have no kind for it.

use pratique_gotext::json::unknown_kind;
use pratique_json::Value;
use pratique_plugin::StartError;
use pratique_schema::Release;

/// The JSON of a text in YAML or JSON, as a server of a release reads it.
fn to_json(text: &[u8], release: &Release) -> Result<String, StartError> {
    if pratique_yaml::is_json(text) {
        pratique_yaml::json_as_json(text)
            .map_err(|error| StartError::new(unknown_kind(error.to_text(release.is_of_go_1_27()))))
    } else {
        pratique_yaml::yaml_as_json(text).map_err(|error| StartError::new(error.to_string()))
    }
}

/// The documents of a text in YAML or JSON, each as far as it can be read.
// Upstream: apimachinery/pkg/util/yaml/decoder.go, YAMLOrJSONDecoder
pub(crate) fn documents(
    text: &[u8],
    release: &Release,
) -> impl Iterator<Item = Result<Value<'static>, StartError>> {
    let whole = String::from_utf8_lossy(text).into_owned();
    let parts: Vec<String> = if pratique_yaml::is_json(text) {
        vec![whole]
    } else {
        split(&whole)
    };
    parts.into_iter().map(move |part| {
        let json = to_json(part.as_bytes(), release)?;
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
