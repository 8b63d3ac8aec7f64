//! Paths to fields below a rule, as its `fieldPath` writes them: `.spec.list['a.b']`

use std::fmt::Write as _;

use crate::schema::Schema;

/// The path as errors show it; `None` where it is none of the schema.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, ValidFieldPath
pub(super) fn normalized(text: &str, schema: &Schema) -> Option<String> {
    let mut tokens = Tokens { rest: text };
    let mut path = String::new();
    let mut at = schema;
    while let Some(token) = tokens.next() {
        let name = match token {
            "." => tokens.next()?.to_owned(),
            "[" => {
                let quoted = tokens.next()?;
                let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
                let name = unescaped(inner)?;
                if tokens.next()? != "]" {
                    return None;
                }
                name
            }
            _ => return None,
        };
        if at.properties.is_empty() {
            at = at.additional_schema()?;
            // Writing to a string does not fail.
            let _ = write!(path, "[{name}]");
        } else {
            at = at.properties.get(name.as_str())?;
            let dot = if path.is_empty() { "" } else { "." };
            let _ = write!(path, "{dot}{name}");
        }
    }
    Some(path)
}

/// Dots and brackets, and the texts between them; in single quotes they are part of the text.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let first = self.rest.chars().next()?;
        let end = match first {
            '.' | '[' | ']' => 1,
            '\'' => self.quoted_end(),
            _ => self.rest.find(['.', '[', ']']).unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(token)
    }

    fn quoted_end(&self) -> usize {
        let mut before = '\'';
        for (at, character) in self.rest.char_indices().skip(1) {
            if character == '\'' && before != '\\' {
                return at + 1;
            }
            before = character;
        }
        self.rest.len()
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut unescaped = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let character = match character {
            '\\' => match characters.next() {
                Some('a') => '\x07',
                Some('b') => '\x08',
                Some('f') => '\x0c',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\x0b',
                Some(same @ ('\'' | '\\')) => same,
                None => '\\',
                Some(_) => return None,
            },
            other => other,
        };
        unescaped.push(character);
    }
    Some(unescaped)
}
