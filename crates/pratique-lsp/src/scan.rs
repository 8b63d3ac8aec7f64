//! Scans the text before the cursor of an expression that may be incomplete.

/// The beginning of a name, and what it would be a member of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamePrefix<'t> {
    /// The operand before the dot; `None` where there is none.
    pub(crate) operand: Option<&'t str>,
    /// The part of the name that is there.
    pub(crate) name: &'t str,
}

/// A macro whose parenthesis is open: it declares a variable for the elements of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallScope<'t> {
    pub(crate) operand: &'t str,
    pub(crate) variable: &'t str,
}

/// Macros that declare a variable.
const MACROS: [&str; 7] = [
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "map",
    "filter",
    "sortBy",
];

/// The name at the end of a text.
pub(crate) fn prefix(start: &str) -> NamePrefix<'_> {
    let rest = start.trim_end_matches(is_name);
    let name = start.get(rest.len()..).unwrap_or_default();
    let operand = rest.strip_suffix('?').unwrap_or(rest).strip_suffix('.');
    let operand = operand.or_else(|| rest.strip_suffix(".?"));
    NamePrefix {
        operand: operand
            .and_then(operand_at_end)
            .filter(|operand| !operand.is_empty()),
        name,
    }
}

/// The macros around the end of a text, the outermost first.
pub(crate) fn scopes(start: &str) -> Vec<CallScope<'_>> {
    let mut open = Vec::new();
    for (at, character) in outside_of_strings(start) {
        match character {
            '(' | '[' | '{' => open.push(at),
            ')' | ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().filter_map(|at| scope(start, at)).collect()
}

fn scope(text: &str, parenthesis: usize) -> Option<CallScope<'_>> {
    let (start, behind) = text.split_at_checked(parenthesis)?;
    let behind = behind.strip_prefix('(')?;
    let rest = start.trim_end_matches(is_name);
    let function = start.get(rest.len()..)?;
    let (variable, _) = behind.split_once(',')?;
    let variable = variable.trim();
    let is_variable = !variable.is_empty() && variable.chars().all(is_name);
    let operand = operand_at_end(rest.strip_suffix('.')?)?;
    (is_variable && MACROS.contains(&function)).then_some(CallScope { operand, variable })
}

/// The operand that ends a text: names, members, calls and indices.
fn operand_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let characters: Vec<(usize, char)> = outside_of_strings(text);
    let mut start = text.len();
    let mut depth = 0_usize;
    let mut next = text.len();
    for (at, character) in characters.into_iter().rev() {
        // A string between is part of what is around it.
        let skipped = text
            .get(at + character.len_utf8()..next)
            .is_some_and(|between| !between.is_empty());
        if skipped && depth == 0 && next != text.len() {
            break;
        }
        next = at;
        match character {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => break,
            '(' | '[' | '{' => depth -= 1,
            _ if depth > 0 => {}
            '.' | '?' => {}
            other if is_name(other) => {}
            _ => break,
        }
        start = at;
    }
    text.get(start..)
}

/// The characters that are not in string literals.
fn outside_of_strings(text: &str) -> Vec<(usize, char)> {
    let mut quote = None;
    let mut is_escaped = false;
    let mut outside = Vec::new();
    for (at, character) in text.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if character == '\\' => is_escaped = true,
            Some(open) if open == character => quote = None,
            Some(_) => {}
            None if matches!(character, '\'' | '"') => quote = Some(character),
            None => outside.push((at, character)),
        }
    }
    outside
}

fn is_name(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &str, operand: Option<&str>, name: &str) {
        assert_eq!(prefix(start), NamePrefix { operand, name });
    }

    #[test]
    fn names_and_operands() {
        check("obj", None, "obj");
        check("a && object.sp", Some("object"), "sp");
        check(
            "!object.spec.containers[0].",
            Some("object.spec.containers[0]"),
            "",
        );
        check(
            "size(object.metadata.labels['a)(.b']).x",
            Some("size(object.metadata.labels['a)(.b'])"),
            "x",
        );
        check("object.?spec.?na", Some("object.?spec"), "na");
        check("[1].ma", Some("[1]"), "ma");
        check("1 + ", None, "");
        check("f(object.", Some("object"), "");
    }

    #[test]
    fn macros_declare_variables() {
        let of = |text| -> Vec<(String, String)> {
            let scopes = scopes(text).into_iter();
            scopes
                .map(|scope| (scope.operand.to_owned(), scope.variable.to_owned()))
                .collect()
        };
        let pair = |operand: &str, variable: &str| (operand.to_owned(), variable.to_owned());
        assert_eq!(
            of("object.spec.containers.all(c, c."),
            [pair("object.spec.containers", "c")]
        );
        assert_eq!(
            of("a.all(x, x.ports.exists(p, p.name == '(' && "),
            [pair("a", "x"), pair("x.ports", "p")]
        );
        assert!(of("a.all(x, x > 1) && ").is_empty());
        assert!(of("size(a, ").is_empty());
    }
}
