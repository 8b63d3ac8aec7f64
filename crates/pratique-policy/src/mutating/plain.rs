//! Values of expressions as JSON: what JSON Patch operations carry.

use pratique_cel::Value;
use pratique_cel::library::mutation::to_json;
use pratique_json as json;

/// The JSON form of a value; the error is in an API server's words.
pub(super) fn json(value: &Value<'_>) -> Result<json::Value<'static>, String> {
    to_json(value).map_err(|error| error.to_string())
}
