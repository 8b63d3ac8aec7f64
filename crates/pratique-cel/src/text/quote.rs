//! Quoting as CEL's `strings.quote` does it.

use pratique_gotext::strconv::short_escape;

/// A string in double quotes with the escapes that CEL's `strings.quote` knows.
pub fn quote_cel(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match short_escape(character) {
            Some(letter) => quoted.extend(['\\', letter]),
            None => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cel_quotes() {
        assert_eq!(
            quote_cel("a\t\"\\\u{1}\u{200b}é"),
            "\"a\\t\\\"\\\\\u{1}\u{200b}é\""
        );
    }
}
