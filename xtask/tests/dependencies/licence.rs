//! Expressions of licences (SPDX), as packages write them.

/// Whether an expression can be satisfied by what is allowed; `None` if it is none. `/` is an older way to write `OR`.
pub(super) fn is_allowed(text: &str, allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        allowed,
    };
    let value = reader.either(0)?;
    reader.words.is_empty().then_some(value)
}

/// Expressions nest no deeper.
const DEPTH: usize = 8;

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }

    fn either(&mut self, depth: usize) -> Option<bool> {
        let mut value = self.both(depth)?;
        while self.next_is("OR") {
            value |= self.both(depth)?;
        }
        Some(value)
    }

    fn both(&mut self, depth: usize) -> Option<bool> {
        let mut value = self.one(depth)?;
        while self.next_is("AND") {
            value &= self.one(depth)?;
        }
        Some(value)
    }

    fn one(&mut self, depth: usize) -> Option<bool> {
        if self.next_is("(") {
            let value = self.either(Some(depth + 1).filter(|depth| *depth < DEPTH)?)?;
            return self.next_is(")").then_some(value);
        }
        let name = self.word()?;
        if self.next_is("WITH") {
            let exception = self.word()?;
            Some((self.allowed)(&format!("{name} WITH {exception}")))
        } else {
            Some((self.allowed)(&name))
        }
    }

    fn word(&mut self) -> Option<String> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        let is_name = !["(", ")", "AND", "OR", "WITH"].contains(first);
        is_name.then(|| (*first).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let check = |text: &str, expected: Option<bool>| {
            let allowed = |name: &str| ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&name);
            assert_eq!(is_allowed(text, &allowed), expected, "{text}");
        };
        check("MIT", Some(true));
        check("GPL-3.0 OR MIT", Some(true));
        check("GPL-3.0/MIT", Some(true));
        check("GPL-3.0 AND MIT", Some(false));
        check("ISC AND MIT OR GPL-3.0", Some(true));
        check("(GPL-3.0 OR MIT) AND ISC", Some(true));
        check("GPL-3.0 OR MIT AND BSD-3-Clause", Some(false));
        check("Apache-2.0 WITH LLVM-exception", Some(true));
        check("Apache-2.0", Some(false));
        for faulty in [
            "",
            "MIT OR",
            "OR MIT",
            "(MIT",
            "MIT)",
            "MIT ISC",
            "MIT WITH",
            "((((((((((MIT",
        ] {
            check(faulty, None);
        }
    }
}
