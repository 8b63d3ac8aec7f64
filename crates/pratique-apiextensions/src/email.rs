//! Mail addresses as the `email` format reads them.

/// Whether a text is one address, alone or in angle brackets behind a name.
///
/// Encoded words are read as they are written.
// Upstream: net/mail/message.go, ParseAddress
pub(crate) fn is_address(text: &str) -> bool {
    let mut reader = AddressReader { rest: text };
    reader.address().is_some()
}

struct AddressReader<'t> {
    rest: &'t str,
}

impl AddressReader<'_> {
    fn address(&mut self) -> Option<()> {
        let count = self.addresses(true)?;
        self.comments()?;
        (count == 1 && self.rest.is_empty()).then_some(())
    }

    /// An address, or a group of them; how many there are.
    // Upstream: net/mail/message.go, parseAddress
    fn addresses(&mut self, may_be_group: bool) -> Option<usize> {
        self.space();
        let start = self.rest;
        if self.specification().is_some() {
            return Some(1);
        }
        self.rest = start;
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.space();
        if may_be_group && self.take(':').is_some() {
            return self.group();
        }
        self.take('<')?;
        self.specification()?;
        self.take('>')?;
        Some(1)
    }

    fn group(&mut self) -> Option<usize> {
        let mut count = 0;
        self.space();
        while count > 0 || self.take(';').is_none() {
            count += self.addresses(false)?;
            self.comments()?;
            if self.take(';').is_some() {
                break;
            }
            self.take(',')?;
        }
        Some(count)
    }

    fn take(&mut self, expected: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// White space and comments.
    fn comments(&mut self) -> Option<()> {
        self.space();
        while self.rest.starts_with('(') {
            self.comment()?;
            self.space();
        }
        Some(())
    }

    fn comment(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        let mut characters = self.rest.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => drop(characters.next()?),
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = characters.as_str();
                return Some(());
            }
        }
        None
    }

    fn specification(&mut self) -> Option<()> {
        self.space();
        if self.rest.starts_with('"') {
            // An empty quoted text is no local part.
            if self.quoted()? == 0 {
                return None;
            }
        } else {
            self.atom()?
        }
        self.take('@')?;
        self.space();
        if self.rest.starts_with('[') {
            self.literal()
        } else {
            self.atom()
        }
    }

    /// Letters and the like, with single dots between them.
    fn atom(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !is_atom(c) && c != '.');
        let (atom, behind) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        let is_one = !atom.is_empty() && atom.split('.').all(|part| !part.is_empty());
        self.rest = behind;
        is_one.then_some(())
    }

    /// A quoted text, with the number of its characters.
    fn quoted(&mut self) -> Option<usize> {
        self.take('"')?;
        let mut characters = self.rest.chars();
        let mut count = 0;
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => {
                    characters
                        .next()
                        .filter(|c| is_visible(*c) || *c == ' ' || *c == '\t')?;
                }
                c if is_visible(c) || c == ' ' || c == '\t' => {}
                _ => return None,
            }
            count += 1;
        }
        self.rest = characters.as_str();
        Some(count)
    }

    /// An address of a host in brackets.
    fn literal(&mut self) -> Option<()> {
        let (inner, behind) = self.rest.strip_prefix('[')?.split_once(']')?;
        self.rest = behind;
        inner.parse::<std::net::IpAddr>().ok().map(drop)
    }

    /// The name before an address in angle brackets. Anything but a word ends it.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.comments()?;
            }
            self.space();
            let start = self.rest;
            let word = if self.rest.starts_with('"') {
                self.quoted().map(drop)
            } else {
                let end = self.rest.find(|c: char| !is_atom(c) && c != '.');
                let (word, behind) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
                self.rest = behind;
                (!word.is_empty()).then_some(())
            };
            if word.is_none() {
                self.rest = start;
                return (words > 0).then_some(());
            }
            words += 1;
        }
    }
}

fn is_atom(c: char) -> bool {
    !matches!(
        c,
        '(' | ')' | '<' | '>' | '[' | ']' | ':' | ';' | '@' | '\\' | ',' | '"' | '.'
    ) && is_visible(c)
}

fn is_visible(c: char) -> bool {
    ('!'..='~').contains(&c) || c >= '\u{80}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for valid in [
            "a@b.c",
            "a@b",
            "first.last+tag@example.com",
            "\"quoted name\"@example.com",
            "Somebody <a@b.c>",
            "\"Some, Body\" <a@b.c>",
            "<a@b.c>",
            "jdoe@[192.168.0.1]",
            "é@example.com",
            "a@b (comment)",
            "group: a@b;",
        ] {
            assert!(is_address(valid), "{valid}");
        }
        for invalid in [
            "",
            "a",
            "@b",
            "a@",
            "a@@b",
            "a..b@c",
            ".a@b",
            "a@b,c@d",
            "a b@c",
            "x <a@b",
            "\"\"@b",
            "(c) a@b",
            "g: a@b, c@d;",
            "g:;",
        ] {
            assert!(!is_address(invalid), "{invalid}");
        }
    }
}
