//! What would mend an expression, where that can be told from its fault and its text.

use pratique_cel::Issue;
use pratique_expression::ExpressionError;

/// Help for a fault at a byte of an expression.
pub(crate) fn for_issue(issue: &Issue, text: &str, offset: usize) -> Option<String> {
    let rest = text.get(offset..).unwrap_or_default();
    if let Some(name) = issue.message.strip_prefix("undeclared reference to '") {
        let name = name.split('\'').next().unwrap_or_default();
        let meant = issue.meant.as_deref();
        return for_name(name, text.get(..offset).unwrap_or_default())
            .or_else(|| meant.filter(|meant| *meant != name).map(did_you_mean));
    }
    if let Some(meant) = issue.meant.as_deref() {
        return Some(did_you_mean(meant));
    }
    if let Some(what) = issue.message.strip_prefix("Syntax error: ") {
        return for_syntax(what, rest).map(str::to_owned);
    }
    if let Some(what) = issue.message.strip_prefix("found no matching overload for '") {
        return for_overload(what).map(str::to_owned);
    }
    (issue.message == "invalid argument to has() macro").then(|| {
        "has() takes a field, as in has(object.spec); ask for the key of a map with 'key' in map".to_owned()
    })
}

/// Help for an expression that is refused as a whole.
pub(crate) fn for_whole(error: &ExpressionError) -> Option<String> {
    let ExpressionError::Type { wanted, got } = error else {
        return None;
    };
    let help = match (wanted.as_str(), got.as_str()) {
        ("bool", "dyn" | "any") => {
            "the type is not known before a request is there: compare it, as in … == true"
        }
        ("bool", "string") => "compare it with something, as in … == 'value'",
        ("string", "dyn") => "make it a text: string(…)",
        ("string", _) => "put it into a text: string(…), or '…' + string(…)",
        ("list(JSONPatch)", _) => "make a list of patches: [JSONPatch{op: \"add\", path: \"/…\", value: …}]",
        ("Object", _) => "make an object of what is to be set: Object{spec: Object.spec{…}}",
        _ => return None,
    };
    Some(help.to_owned())
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean {name:?}?")
}

/// Help for names of other languages.
fn for_name(name: &str, before: &str) -> Option<String> {
    let help = match name {
        "None" | "nil" | "undefined" | "NULL" | "Null" => "the value is written null",
        "True" | "TRUE" => "the value is written true",
        "False" | "FALSE" => "the value is written false",
        "len" | "length" | "count" => "use size()",
        "includes" | "include" => "use contains() for texts, in for lists: value in list",
        "any" | "some" => "use exists(x, …)",
        "every" => "use all(x, …)",
        "toLowerCase" | "lower" => "use lowerAscii()",
        "toUpperCase" | "upper" => "use upperAscii()",
        "match" | "regex" | "test" => "use matches()",
        "has" => "has() takes one field, as in has(object.spec)",
        _ if before.ends_with('-') => "a key with a dash is written ['key-with-dash']",
        _ => return None,
    };
    Some(help.to_owned())
}

fn for_syntax(what: &str, rest: &str) -> Option<&'static str> {
    if what.starts_with("token recognition error") {
        return match rest.as_bytes() {
            [b'=', ..] => Some("compare with =="),
            [b'&', ..] => Some("write && for \"and\""),
            [b'|', ..] => Some("write || for \"or\""),
            [b'"' | b'\'', ..] => Some("the text has no end: its closing quote is missing"),
            [b'$', ..] => Some("an expression is no template: write object.metadata.name, without $( )"),
            _ => None,
        };
    }
    let word = rest
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    match word {
        "and" => Some("write && for \"and\""),
        "or" => Some("write || for \"or\""),
        "then" | "else" => Some("write condition ? value : otherwise"),
        _ if what.starts_with("mismatched input '<EOF>'") => Some("the expression ends too early"),
        _ => None,
    }
}

/// Help for operands that do not go together; `what` is what follows the first quote: `_+_' applied to '(int, string)'`.
fn for_overload(what: &str) -> Option<&'static str> {
    let (function, operands) = what.split_once("' applied to '")?;
    let string = operands.contains("string");
    match function {
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "_in_" | "@in" => {
            Some("both sides need the same type: convert one, with int(…), string(…), double(…) or dyn(…)")
        }
        "_+_" if string => Some("only texts are added to a text: string(…)"),
        "_&&_" | "_||_" | "!_" => Some("the operands must be bool: compare them, as in … == true"),
        "contains" if operands.starts_with("list") => {
            Some("ask for an element of a list with in: value in list")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pratique_cel::{Environment, Position, Type, library};

    fn environment() -> Environment {
        library::kubernetes().with_variable("object", Type::Dyn)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let Err(pratique_cel::CompileError::Issues { issues, .. }) = environment().compile(text) else {
            panic!("{text}")
        };
        let issue = &issues[0];
        let offset = issue.position.column as usize;
        let help = for_issue(issue, text, offset).unwrap_or_default();
        assert_eq!(help, expected, "{text}: {issue:?}");
    }

    #[test]
    fn names() {
        check("objekt.a == 1", "did you mean \"object\"?");
        check("object.a.startWith('a')", "did you mean \"startsWith\"?");
        check("object.l.al(x, x == 1)", "did you mean \"all\"?");
        check("object.a == None", "the value is written null");
        check("object.a.len() > 1", "use size()");
        check(
            "object.a.b-c == 1",
            "a key with a dash is written ['key-with-dash']",
        );
        check("somethingElse", "");
    }

    #[test]
    fn syntax() {
        check("object.a = 1", "compare with ==");
        check("object.a and true", "write && for \"and\"");
        check(
            "object.a == 'x",
            "the text has no end: its closing quote is missing",
        );
        check("object.a.b(", "the expression ends too early");
    }

    #[test]
    fn types() {
        check("'a' + 1", "only texts are added to a text: string(…)");
        check(
            "['a'].contains('a')",
            "ask for an element of a list with in: value in list",
        );
    }

    #[test]
    fn other_faults() {
        assert!(for_issue(&Issue::new(Position::NOWHERE, "something"), "a", 0).is_none());
    }
}
