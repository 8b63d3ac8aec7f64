//! Texts and numbers as Go prints them.

pub(crate) use pratique_types::quote;

/// Whether Go escapes a character beyond ASCII. So does the standard library, except that it escapes combining
/// marks too where they come first.
pub(crate) fn is_hidden(character: char) -> bool {
    !character.is_ascii() && ['a', character].iter().collect::<String>().escape_debug().count() > 2
}

/// A number as `%v` writes it: with an exponent below 1e-4 and from 1e6 up.
pub(crate) fn float(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if number.is_nan() {
        return "NaN".to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(
            quote("a\"\n\u{1}é\u{301}\u{a0}\u{10ffff}"),
            "\"a\\\"\\n\\x01é\u{301}\\u00a0\\U0010ffff\""
        );
    }

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (1.0, "1"),
            (1.5, "1.5"),
            (123_456.0, "123456"),
            (1e6, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(float(number), text);
        }
    }
}
