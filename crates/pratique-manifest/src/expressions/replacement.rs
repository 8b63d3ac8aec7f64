//! Words in expressions that have to be others.

use std::ops::Range;

use pratique_cel::Issue;
use pratique_expression::{name_at, token_at};

/// The change that fixes an error at a byte of an expression, where a word in the place of another does: the bytes, and what
/// stands there afterwards.
pub(crate) fn of_issue(issue: &Issue, text: &str, offset: usize) -> Option<(Range<usize>, String)> {
    let (range, replacement) = if issue.message.starts_with("Syntax error: ") {
        let range = token_at(text, offset);
        // What an arrow of other languages means is not known.
        if text.get(offset..)?.starts_with("=>") {
            return None;
        }
        let replacement = operator(text.get(range.clone())?)?;
        (range, replacement)
    } else {
        let range = name_at(text, offset)?;
        let name = text.get(range.clone())?;
        let is_undeclared = issue.message.starts_with("undeclared reference to '");
        let elsewhere = || is_undeclared.then(|| name_of(name)).flatten();
        (range, elsewhere().or(issue.meant.as_deref())?)
    };
    let current = text.get(range.clone())?;
    // As all of a field, YAML would not read these as a text.
    let is_literal = matches!(replacement, "null" | "true" | "false");
    let is_whole = text.trim() == current;
    (current != replacement && !(is_literal && is_whole)).then(|| (range, replacement.to_owned()))
}

/// An operator of other languages.
fn operator(written: &str) -> Option<&'static str> {
    Some(match written {
        "=" => "==",
        "&" | "and" => "&&",
        "|" | "or" => "||",
        _ => return None,
    })
}

/// A name of other languages, of which nothing else has to change.
fn name_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "None" | "nil" | "undefined" | "NULL" | "Null" => "null",
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "toLowerCase" | "lower" => "lowerAscii",
        "toUpperCase" | "upper" => "upperAscii",
        "match" | "regex" | "test" => "matches",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pratique_cel::{CompileError, Environment, Type};

    fn environment() -> Environment {
        Environment::kubernetes().with_variable("object", Type::Dyn)
    }

    /// The expression after the change for its first error, if there is one.
    fn changed(text: &str) -> Option<String> {
        let Err(CompileError::Issues { issues, .. }) = environment().compile(text) else {
            panic!("{text}")
        };
        let issue = &issues[0];
        let (range, replacement) = of_issue(issue, text, issue.position.column as usize)?;
        let mut changed = text.to_owned();
        changed.replace_range(range, &replacement);
        Some(changed)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(changed(text).as_deref(), Some(expected));
        assert!(environment().compile(expected).is_ok(), "{expected}");
    }

    #[test]
    fn words_that_are_others_here() {
        check("objct.spec == 1", "object.spec == 1");
        check("object.x == None", "object.x == null");
        check("object.x == True", "object.x == true");
        check(
            "object.name.toLowerCase() == 'a'",
            "object.name.lowerAscii() == 'a'",
        );
        check("string(object.x).match('a')", "string(object.x).matches('a')");
        check("object.x = 1", "object.x == 1");
        check(
            "object.x == 1 and object.y == 2",
            "object.x == 1 && object.y == 2",
        );
        check("object.x | object.y", "object.x || object.y");
        check("object.x.startWith('a')", "object.x.startsWith('a')");
    }

    #[test]
    fn what_is_more_than_a_word_is_left() {
        for text in [
            "len(object.x) == 1",
            "1 + 'a'",
            "object.x.any(y, y)",
            "True",
            "object.x => 1",
            "object.x.all(y => y)",
            "object.x ==",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }
}
