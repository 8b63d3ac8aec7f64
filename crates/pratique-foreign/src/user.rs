//! The user of a test.

use pratique_json::{Value, text_at};
use pratique_types::UserInfo;

/// A user of an AdmissionReview, as far as other programs read it.
pub(crate) fn read_user(info: &Value<'_>) -> UserInfo {
    let groups = info.get("groups").and_then(Value::as_array).unwrap_or_default();
    let groups = groups.iter().filter_map(Value::as_str);
    UserInfo {
        username: text_at(info, &["username"]).to_owned(),
        groups: groups.map(str::to_owned).collect(),
        ..UserInfo::default()
    }
}
