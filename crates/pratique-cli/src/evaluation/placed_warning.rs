//! Unknown and duplicate fields of what was made of a source, at their places in the source: nobody mends them where they were read.

use pratique_review::FieldPath;

use crate::evaluation::result::ReviewResult;
use crate::input::fields::PieceFields;

/// What begins the message about such a field. A server has no more of it than the text.
// Upstream: sigs.k8s.io/json/internal/golang/encoding/json/kubernetes_patch.go, decodeState.saveStrictError
const BEGINNINGS: [&str; 2] = ["unknown field \"", "duplicate field \""];

/// What stands before such messages where they refuse the object.
// Upstream: k8s.io/apimachinery/pkg/runtime/error.go, strictDecodingError.Error
const STRICT: &str = "strict decoding error: ";

impl ReviewResult<'_> {
    /// Finds the fields that the server's warnings and its answer are about, if the object was made of a source.
    pub(crate) fn place_warnings(&mut self, fields: Option<&PieceFields<'_>>) {
        // A Pod is made of a template in which other paths lead to its fields, and is decoded with the workload.
        if self.input.origin.is_none() || self.input.parent.is_some() {
            return;
        }
        let outcome = &self.review.outcome;
        let warnings = outcome.warnings.iter().map(|warning| (warning, warning.as_str()));
        let denial = outcome.status.as_ref().and_then(|status| {
            let (_, faults) = status.message.split_once(STRICT)?;
            Some((&status.message, faults))
        });
        let told = warnings.chain(denial).filter_map(|(message, fault)| {
            let path = FieldPath::parse(named_field(fault)?);
            let (location, _) = self.place_field(fields, &path);
            Some((message.clone(), location?))
        });
        self.warning_places = told.collect();
    }
}

/// The path of the field that a message begins with.
fn named_field(message: &str) -> Option<&str> {
    let mut beginnings = BEGINNINGS.iter();
    let rest = beginnings.find_map(|beginning| message.strip_prefix(beginning))?;
    rest.split_once('"').map(|(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named() {
        for (message, expected) in [
            (r#"unknown field "spec.a[0].b""#, Some("spec.a[0].b")),
            (r#"duplicate field "spec.a", unknown field "b""#, Some("spec.a")),
            (r#"it has an unknown field "a""#, None),
            ("unknown field \"a", None),
        ] {
            assert_eq!(named_field(message), expected, "{message}");
        }
    }
}
