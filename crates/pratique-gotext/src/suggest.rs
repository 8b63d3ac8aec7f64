//! The name that was meant by one that is not known, as messages suggest it.

/// The candidate that a name is most like, if it is like any: case does not count, a third of the characters may differ.
///
/// ```
/// let known = ["object", "oldObject", "request"];
/// assert_eq!(pratique_gotext::suggest::nearest("requets", known), Some("request"));
/// assert_eq!(pratique_gotext::suggest::nearest("something", known), None);
/// ```
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let close = candidates.into_iter().filter_map(|candidate| {
        let most = length.max(candidate.len()) / 3;
        // Names that differ much in length are not worth the comparison, which they would fail.
        if candidate.len().abs_diff(name.len()) > LONGEST_DIFFERENCE
            || candidate.chars().count().abs_diff(length) > most
        {
            return None;
        }
        let distance = strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
        let enough = distance <= most;
        enough.then_some((distance, candidate))
    });
    close.min().map(|(_, candidate)| candidate)
}

/// A suggestion as messages make it.
///
/// ```
/// assert_eq!(pratique_gotext::suggest::did_you_mean("object"), "did you mean \"object\"?");
/// ```
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean {name:?}?")
}

const LONGEST_DIFFERENCE: usize = 8;

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn names_that_are_like_others() {
        let known = ["message", "messageExpression", "reason", "expression"];
        for (name, expected) in [
            ("mesage", Some("message")),
            ("Message", Some("message")),
            ("messageExpresion", Some("messageExpression")),
            ("expresion", Some("expression")),
            ("text", None),
            ("", None),
            ("ab", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        assert_eq!(nearest("pdo", ["pod"]), Some("pod"));
    }
}
