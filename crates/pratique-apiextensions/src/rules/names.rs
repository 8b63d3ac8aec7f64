//! Names of fields as expressions write them.

use pratique_gotext::validation::CEL_RESERVED;

/// The name of a field in expressions; `None` for one that they cannot name.
// Upstream: apiserver/pkg/cel/escaping.go, Escape
pub(crate) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if CEL_RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '_' if characters.peek() == Some(&'_') => {
                characters.next();
                escaped.push_str("__underscores__");
            }
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            c if c.is_ascii_alphanumeric() || c == '_' => escaped.push(c),
            _ => return None,
        }
    }
    Some(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let check = |name, expected: Option<&str>| assert_eq!(escape(name).as_deref(), expected, "{name}");
        check("a_b", Some("a_b"));
        check("a.b-c/d", Some("a__dot__b__dash__c__slash__d"));
        check("namespace", Some("__namespace__"));
        check("a___b", Some("a__underscores___b"));
        check("$ref", None);
        check("1a", None);
        check("", None);
    }
}
