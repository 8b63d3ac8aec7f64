//! Who makes a request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::null::or_default;

/// The user of a request, as `authentication.k8s.io/v1` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// The name that uniquely identifies the user.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub username: String,
    /// Distinguishes users of the same name over time.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The groups that the user is in.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Extra attributes from the authenticator.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Vec<String>>,
}
