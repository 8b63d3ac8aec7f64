//! Paths to fields of a schema, as rules and selectable fields write them: `.spec.list['a.b']`

use std::fmt::Write as _;

use crate::schema::SchemaNode;

/// A path that is one of a schema.
pub(crate) struct FieldPath<'s> {
    /// The path as errors show it: `spec.list[a.b]`
    pub(crate) text: String,
    /// Whether it is one of metadata.
    pub(crate) is_metadata: bool,
    /// The schema of the field.
    pub(crate) schema: &'s SchemaNode,
}

/// Why a path is none of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldPathError {
    #[error("does not refer to a valid field")]
    NotAField,
    #[error("array notation is not allowed")]
    ArrayNotation,
    #[error("unexpected end of JSON path")]
    UnexpectedEnd,
    #[error("expected single quoted string but got {0}")]
    NotQuoted(String),
    #[error("invalid string literal: {0}")]
    Literal(String),
    #[error("expected ] but got {0}")]
    NoBracket(String),
    #[error("expected [ or . but got: {0}")]
    NoStart(String),
}

/// Follows a path from a schema.
///
/// # Errors
/// It is none of the schema.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, ValidFieldPath
pub(crate) fn resolve<'s>(
    text: &str,
    schema: &'s SchemaNode,
    allows_arrays: bool,
) -> Result<FieldPath<'s>, FieldPathError> {
    let mut tokens = PathTokens { rest: text };
    let mut resolved = FieldPath {
        text: String::new(),
        is_metadata: false,
        schema,
    };
    while let Some(token) = tokens.next() {
        let name = match token {
            "." => tokens.expect()?.to_owned(),
            "[" if allows_arrays => tokens.bracketed()?,
            "[" => return Err(FieldPathError::ArrayNotation),
            _ => return Err(FieldPathError::NoStart(token.to_owned())),
        };
        resolved.step(&name).ok_or(FieldPathError::NotAField)?;
    }
    Ok(resolved)
}

impl FieldPath<'_> {
    fn step(&mut self, name: &str) -> Option<()> {
        let is_first = self.text.is_empty();
        if self.schema.properties.is_empty() {
            self.schema = self.schema.additional_schema()?;
            // Writing to a string does not fail.
            let _ = write!(self.text, "[{name}]");
        } else {
            self.schema = self.schema.properties.get(name)?;
            self.is_metadata |= is_first && name == "metadata";
            let dot = if is_first { "" } else { "." };
            let _ = write!(self.text, "{dot}{name}");
        }
        Some(())
    }
}

/// Dots and brackets, and the texts between them; in single quotes they are part of the text.
struct PathTokens<'t> {
    rest: &'t str,
}

impl<'t> PathTokens<'t> {
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

    fn expect(&mut self) -> Result<&'t str, FieldPathError> {
        self.next().ok_or(FieldPathError::UnexpectedEnd)
    }

    /// The name in brackets, after the first of them.
    fn bracketed(&mut self) -> Result<String, FieldPathError> {
        let quoted = self.expect()?;
        let inner = quoted
            .strip_prefix('\'')
            .and_then(|inner| inner.strip_suffix('\''));
        let inner = inner.ok_or_else(|| FieldPathError::NotQuoted(quoted.to_owned()))?;
        let name = unescaped(inner).ok_or_else(|| FieldPathError::Literal(inner.to_owned()))?;
        match self.expect()? {
            "]" => Ok(name),
            other => Err(FieldPathError::NoBracket(other.to_owned())),
        }
    }

    fn quoted_end(&self) -> usize {
        let mut previous_character = '\'';
        for (at, character) in self.rest.char_indices().skip(1) {
            if character == '\'' && previous_character != '\\' {
                return at + 1;
            }
            previous_character = character;
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
