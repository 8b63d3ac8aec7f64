//! Texts that match a regular expression, as far as it is as simple as those of policies.

use std::iter::Peekable;
use std::str::Chars;

use pratique_gotext::regexp::Regex;

/// The most groups within each other.
const MOST_DEPTH: usize = 8;

/// A text that matches a pattern; none for a pattern of which nothing simple is known to match.
pub(super) fn make_matching_text(pattern: &str) -> Option<String> {
    let mut reader = PatternReader {
        signs: pattern.chars().peekable(),
    };
    let text = reader.read_alternatives(MOST_DEPTH)?;
    let is_complete = reader.signs.peek().is_none();
    (is_complete && !text.is_empty() && Regex::new(pattern).ok()?.is_match(&text)).then_some(text)
}

/// Reads a pattern, and takes the first and shortest of what it leaves open.
struct PatternReader<'p> {
    signs: Peekable<Chars<'p>>,
}

impl PatternReader<'_> {
    /// The first of alternatives, up to the end of their group. Recursion is safe: its depth is bounded.
    fn read_alternatives(&mut self, depth: usize) -> Option<String> {
        let first = self.read_sequence(depth)?;
        while self.signs.next_if_eq(&'|').is_some() {
            self.read_sequence(depth)?;
        }
        Some(first)
    }

    fn read_sequence(&mut self, depth: usize) -> Option<String> {
        let mut text = String::new();
        while let Some(sign) = self.signs.next_if(|sign| !matches!(sign, '|' | ')')) {
            let part = match sign {
                '^' | '$' => continue,
                '.' => "a".to_owned(),
                '(' => self.read_group(depth.checked_sub(1)?)?,
                '[' => self.read_class()?.to_string(),
                '\\' => match self.signs.next()? {
                    'd' => "1".to_owned(),
                    'w' => "a".to_owned(),
                    's' => " ".to_owned(),
                    'b' | 'A' | 'z' => continue,
                    letter if letter.is_ascii_alphanumeric() => return None,
                    sign => sign.to_string(),
                },
                sign => sign.to_string(),
            };
            text.push_str(&part.repeat(self.read_least_count()?));
        }
        Some(text)
    }

    /// What is between parentheses, of which the first is read.
    fn read_group(&mut self, depth: usize) -> Option<String> {
        if self.signs.next_if_eq(&'?').is_some() {
            // Flags change what matches.
            if self.signs.next()? != ':' {
                return None;
            }
        }
        let text = self.read_alternatives(depth)?;
        self.signs.next_if_eq(&')').map(|_| text)
    }

    /// A sign of a class, whose bracket is read.
    fn read_class(&mut self) -> Option<char> {
        let mut first = match self.signs.next()? {
            '^' | '[' | ']' => return None,
            sign => sign,
        };
        if first == '\\' {
            first = match self.signs.next()? {
                'd' => '1',
                'w' => 'a',
                letter if letter.is_ascii_alphanumeric() => return None,
                sign => sign,
            };
        }
        loop {
            match self.signs.next()? {
                ']' => return Some(first),
                '\\' => drop(self.signs.next()?),
                _ => {}
            }
        }
    }

    /// How often what was read has to be there.
    fn read_least_count(&mut self) -> Option<usize> {
        const MOST: usize = 64;
        let count = match self.signs.peek() {
            Some('*' | '?') => 0,
            Some('+') => 1,
            Some('{') => {
                let mut digits = String::new();
                self.signs.next();
                while let Some(digit) = self.signs.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                while self.signs.next_if(|sign| *sign != '}').is_some() {}
                digits.parse().ok().filter(|count| *count <= MOST)?
            }
            _ => return Some(1),
        };
        self.signs.next();
        // As few as possible, which is what is taken.
        self.signs.next_if_eq(&'?');
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_match() {
        for (pattern, text) in [
            ("^team-.*$", "team-"),
            ("^(gold|silver)$", "gold"),
            (r"^ghcr\.io/.+", "ghcr.io/a"),
            ("^[a-z0-9]{3}-(?:x|y)+?$", "aaa-x"),
            (r"^v\d+\.\d+$", "v1.1"),
            (r"[\w-]+@example", "a@example"),
        ] {
            assert_eq!(make_matching_text(pattern).as_deref(), Some(text), "{pattern}");
        }
    }

    #[test]
    fn patterns_of_which_nothing_is_known() {
        for pattern in [
            "",
            "^$",
            "[^a]",
            "(?i)a",
            "(",
            "a)",
            r"\pL",
            "a{1000}",
            "[[:alpha:]]",
        ] {
            assert_eq!(make_matching_text(pattern), None, "{pattern}");
        }
    }
}
