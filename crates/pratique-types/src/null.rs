//! `null` in place of a value, which an API server reads as the zero value.

use serde::{Deserialize, Deserializer};

/// Deserializes a value, and `null` as its default.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}
