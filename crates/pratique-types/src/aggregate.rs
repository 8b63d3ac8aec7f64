//! Several errors as one text.

use std::collections::HashSet;
use std::fmt::Display;

/// Errors as one message: each text once, and in brackets unless there is only one.
///
/// ```
/// use pratique_types::aggregate;
///
/// assert_eq!(aggregate(["no"]), "no");
/// assert_eq!(aggregate(["no", "never", "no"]), "[no, never]");
/// ```
// Upstream: apimachinery/pkg/util/errors/errors.go, aggregate.Error
pub fn aggregate(errors: impl IntoIterator<Item = impl Display>) -> String {
    let mut seen = HashSet::new();
    let texts = errors.into_iter().map(|error| error.to_string());
    let texts: Vec<String> = texts.filter(|text| seen.insert(text.clone())).collect();
    match texts.as_slice() {
        [only] => only.clone(),
        all => format!("[{}]", all.join(", ")),
    }
}
