//! Suggestions for correcting an expression, derived from its error and its text.

mod overload;

use pratique_cel::ast::{Expr, Literal};
use pratique_cel::{Environment, Issue};
use pratique_expression::{Declarations, ExpressionError, environment, token_at};
use pratique_gotext::regexp::{ErrorKind, Regex};
use pratique_gotext::suggest::did_you_mean;
use pratique_schema::Release;

use super::replacement;
use crate::expression::ExpressionHelp;

/// The names that an expression may use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeclaredNames {
    pub(crate) declarations: Declarations,
    /// Whether it is a match condition.
    pub(crate) condition: bool,
    /// The minor version whose functions there are.
    pub(crate) minor: u32,
}

/// Help for an error at a byte of an expression, with the change that does it where a word has to be another one.
pub(crate) fn for_issue(
    issue: &Issue,
    text: &str,
    offset: usize,
    declared: DeclaredNames,
) -> Option<ExpressionHelp> {
    let help = text_for_issue(issue, text, offset, declared)?;
    Some(ExpressionHelp {
        text: help,
        replacement: replacement::of_issue(issue, text, offset),
    })
}

/// Whether an error is what others before it come to: the rest of a text that could not be read, and the variable of a macro that is
/// not called as one.
pub(crate) fn is_consequence(issue: &Issue, known: &[Issue], text: &str, offset: usize) -> bool {
    let Some(first) = known.first() else {
        return false;
    };
    let is_syntax = |issue: &Issue| issue.message.starts_with("Syntax error: ");
    if is_syntax(issue) {
        // A word of another language is one wherever it stands.
        return is_syntax(first) && replacement::of_issue(issue, text, offset).is_none();
    }
    let undeclared = |issue: &Issue| {
        let name = issue.message.strip_prefix("undeclared reference to '")?;
        Some(name.split('\'').next().unwrap_or_default().to_owned())
    };
    let is_macro = |name: String| {
        MACROS.contains(&name.as_str()) || matches!(name.as_str(), "any" | "some" | "every" | "includes")
    };
    let is_plain_name = undeclared(issue).is_some_and(|name| {
        for_name(&name, text.get(..offset).unwrap_or_default(), "").is_none() && issue.meant.is_none()
    });
    is_plain_name && known.iter().filter_map(undeclared).any(is_macro)
}

/// The help for an error.
fn text_for_issue(issue: &Issue, text: &str, offset: usize, declared: DeclaredNames) -> Option<String> {
    let rest = text.get(offset..).unwrap_or_default();
    if let Some(name) = issue.message.strip_prefix("undeclared reference to '") {
        let name = name.split('\'').next().unwrap_or_default();
        let meant = issue.meant.as_deref();
        // A call is refused at its parenthesis.
        let after = rest.strip_prefix(name).unwrap_or(rest);
        return for_name(name, text.get(..offset).unwrap_or_default(), after)
            .or_else(|| declared.elsewhere(name).map(str::to_owned))
            .or_else(|| declared.later(name).filter(|_| is_call(name, rest)))
            .or_else(|| meant.filter(|meant| *meant != name).map(did_you_mean))
            .or_else(|| Some(declared.instead_of(name, rest)));
    }
    if let Some(meant) = issue.meant.as_deref() {
        return Some(did_you_mean(meant));
    }
    if let Some(message) = issue.message.strip_prefix("Syntax error: ") {
        let lead = text.get(..offset).unwrap_or_default();
        return for_syntax(message, lead, rest).map(str::to_owned);
    }
    if let Some(refused) = issue.message.strip_prefix("found no matching overload for '") {
        return overload::help_for_call(refused);
    }
    if let Some(expected) = issue.message.strip_prefix("expected type '") {
        return Some(for_mismatch(expected));
    }
    if issue.message == "invalid matches argument" {
        return for_pattern(literal_at(text, offset)?);
    }
    if let Some(field) = issue.message.strip_prefix("undefined field '") {
        let (name, operand) = (
            field.trim_end_matches('\''),
            text.get(..offset).unwrap_or_default(),
        );
        if ends_with_word(operand, "variables") {
            return Some(format!(
                "no variable {name:?} stands before this in spec.variables"
            ));
        }
        if operand.ends_with("request.userInfo") && name == "name" {
            return Some("the name of the user is request.userInfo.username".to_owned());
        }
        let is_request = ends_with_word(operand, "request");
        return is_request
            .then(|| for_request_field(name))
            .flatten()
            .map(str::to_owned);
    }
    (issue.message == "invalid argument to has() macro").then(|| {
        "has() takes a field, as in has(object.spec); ask for the key of a map with 'key' in map".to_owned()
    })
}

/// Help for elements of a list or entries of a map that have several types, and for what is asked and is no bool.
fn for_mismatch(expected: &str) -> String {
    let mut types = expected.split('\'').step_by(2);
    let (expected, actual) = (types.next().unwrap_or_default(), types.next().unwrap_or_default());
    // An operand of && or the condition of a macro, unless it stands in a list.
    if expected == "bool" {
        let comparison = overload::comparison_of(actual).map(|comparison| format!(", as in {comparison}"));
        return format!(
            "what is asked is true or false: compare it{}; beside a bool in a list, put it into dyn(…)",
            comparison.unwrap_or_default()
        );
    }
    let how = if expected == "dyn" {
        "put it into dyn(…) as well"
    } else {
        "convert one, or put each into dyn(…)"
    };
    format!("all elements of a list, and all keys and values of a map, need one type: {how}")
}

/// Help for an expression that is rejected as a whole.
pub(crate) fn for_whole(error: &ExpressionError) -> Option<String> {
    let ExpressionError::Type { wanted, got } = error else {
        return None;
    };
    let help = match (wanted.as_str(), got.as_str()) {
        ("bool", "dyn" | "any") => {
            "the type is not known before a request is there: compare it, as in … == true"
        }
        (_, "null" | "null_type") => "it is always null",
        ("bool", "string") => "compare it with something, as in … == 'value'",
        ("bool", got) if got.starts_with("optional_type(") => {
            "say what holds where there is no value: ….orValue(false)"
        }
        ("bool", got) if got.starts_with("list(") => {
            "ask something of the list: list.all(x, …), list.exists(x, …), or size(…) > 0"
        }
        ("bool", got) => {
            return overload::comparison_of(got).map(|comparison| format!("compare it, as in {comparison}"));
        }
        ("string", "dyn") => "make it a text: string(…)",
        ("string", got) if !overload::is_text_made_of(got) => {
            "make the text of a part of it, or of the text that it is made of"
        }
        ("string", _) => "put it into a text: string(…), or '…' + string(…)",
        ("list(JSONPatch)", _) => "make a list of patches: [JSONPatch{op: \"add\", path: \"/…\", value: …}]",
        ("Object", _) => "make an object of what is to be set: Object{spec: Object.spec{…}}",
        _ => return None,
    };
    Some(help.to_owned())
}

const MACROS: [&str; 6] = ["all", "exists", "exists_one", "existsOne", "filter", "map"];

/// Help for names of other languages.
fn for_name(name: &str, text_before: &str, after: &str) -> Option<String> {
    if MACROS.contains(&name) && after.starts_with('(') {
        return Some(format!("it is called on its list: list.{name}(x, …)"));
    }
    if let Some(key) = divided_key(name, text_before) {
        return Some(format!("a key with dots or slashes is written ['{key}']"));
    }
    let help = match name {
        "None" | "nil" | "undefined" | "NULL" | "Null" => "the value is written null",
        "True" | "TRUE" => "the value is written true",
        "False" | "FALSE" => "the value is written false",
        "not" => "write ! for \"not\"",
        "len" | "length" | "count" => "use size()",
        "includes" | "include" => "use contains() for texts, in for lists: value in list",
        "any" | "some" => "use exists(x, …)",
        "every" => "use all(x, …)",
        "toLowerCase" | "lower" => "use lowerAscii()",
        "toUpperCase" | "upper" => "use upperAscii()",
        "match" | "regex" | "test" => "use matches()",
        "has" => "has() takes one field, as in has(object.spec)",
        _ if text_before.ends_with('-') => "a key with a dash is written ['key-with-dash']",
        _ => return None,
    };
    Some(help.to_owned())
}

/// The key of a label or an annotation that is written as a field, and is taken for a division: `labels.example.com/team`.
fn divided_key(name: &str, text_before: &str) -> Option<String> {
    let text_before = text_before.strip_suffix('/')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let start = text_before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
    let chain = text_before.get(start..)?;
    let (_, key) = ["labels.", "annotations."]
        .iter()
        .find_map(|map| chain.split_once(map))?;
    Some(format!("{key}/{name}"))
}

/// Help for a field that a request has elsewhere.
fn for_request_field(name: &str) -> Option<&'static str> {
    Some(match name {
        "user" | "username" | "userName" => {
            "the user is request.userInfo, and the name request.userInfo.username"
        }
        "group" | "groups" => "the groups of the user are request.userInfo.groups",
        "serviceAccount" | "serviceAccountName" => {
            "a service account is a user: request.userInfo.username == 'system:serviceaccount:NAMESPACE:NAME'"
        }
        "verb" | "method" | "action" => {
            "what is done is request.operation: 'CREATE', 'UPDATE', 'DELETE' or 'CONNECT'"
        }
        "object" => "the object is the variable object, without request",
        "oldObject" | "old" => "the stored object is the variable oldObject, without request",
        "labels" | "annotations" | "metadata" | "spec" => {
            "a request has no fields of its object: read them of object"
        }
        _ => return None,
    })
}

const COMMENTS: &str = "comments begin with //, and end with their line";

/// Help for an error of syntax between two parts of an expression.
fn for_syntax(message: &str, lead: &str, rest: &str) -> Option<&'static str> {
    if message.starts_with("token recognition error") {
        return match rest.as_bytes() {
            [b'=', b'>', ..] => {
                Some("compare with >=; a macro has its variable before a comma: list.all(x, …)")
            }
            [b'=', ..] => Some("compare with =="),
            [b'#', ..] => Some(COMMENTS),
            [b'&', ..] => Some("write && for \"and\""),
            [b'|', ..] => Some("write || for \"or\""),
            [quote @ (b'"' | b'\''), inner @ ..] if has_bad_escape(*quote, inner) => Some(
                "a backslash in a text is written twice, as in '\\\\d', or the text is raw, as in r'\\d'",
            ),
            [b'"' | b'\'', ..] => Some("the text has no end: its closing quote is missing"),
            [b'$', ..] => Some("an expression is no template: write object.metadata.name, without $( )"),
            _ => None,
        };
    }
    if rest.starts_with("/*") || lead.ends_with('/') && rest.starts_with('*') {
        return Some(COMMENTS);
    }
    if lead.ends_with('<') && rest.starts_with('>') {
        return Some("compare with !=");
    }
    let word = rest
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    match word {
        "and" => Some("write && for \"and\""),
        "or" => Some("write || for \"or\""),
        "then" | "else" => Some("write condition ? value : otherwise"),
        "is" => Some("compare with == or !="),
        "not" => Some("write !(value in list) for \"not in\""),
        _ if ends_with_word(lead.trim_end(), "not") => Some("write ! for \"not\", as in !has(object.spec)"),
        _ if message.starts_with("missing ')'") => Some("a parenthesis is not closed"),
        _ if message.starts_with("mismatched input '<EOF>'") => Some("the expression ends too early"),
        _ => None,
    }
}

/// Whether a text ends with a word, and not with one that ends alike.
fn ends_with_word(text: &str, word: &str) -> bool {
    let lead = text.strip_suffix(word);
    lead.is_some_and(|lead| !lead.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')))
}

/// Whether a text that is closed on its line has a backslash that escapes nothing.
fn has_bad_escape(quote: u8, inner: &[u8]) -> bool {
    let mut bytes = inner.iter();
    let mut is_bad = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => return false,
            b'\\' => {
                is_bad |= !bytes
                    .next()
                    .is_some_and(|next| b"abfnrtvxXuU01234567\"'`?\\".contains(next))
            }
            byte if *byte == quote => return is_bad,
            _ => {}
        }
    }
    false
}

/// The text of a literal, which may be raw.
fn literal_at(text: &str, offset: usize) -> Option<&str> {
    let word = token_at(text, offset);
    match text.get(word.clone())? {
        "r" | "R" => text.get(offset..token_at(text, word.end).end),
        plain => Some(plain),
    }
}

/// The help for an invalid pattern, which is a literal in an expression.
fn for_pattern(literal: &str) -> Option<String> {
    let ast = Environment::standard().parse(literal).ok()?;
    let Expr::Literal(Literal::String(pattern)) = ast.expr(ast.root) else {
        return None;
    };
    let error = Regex::new(pattern).err()?;
    let more = match error.kind {
        ErrorKind::PerlOperator => "; RE2 looks neither ahead nor behind",
        ErrorKind::MissingRepeatArgument => "; write \\\\ before a sign that is meant itself",
        ErrorKind::Escape => "; RE2 knows no such escape, and no references to groups",
        _ => "",
    };
    Some(format!("{}: `{}`{more}", error.kind, error.excerpt))
}

/// Whether a name is called; `rest` is the expression from the name, or from what follows it, on.
fn is_call(name: &str, rest: &str) -> bool {
    let after = rest.strip_prefix(name).map(str::trim_start);
    after.is_some_and(|after| after.starts_with('(')) || rest.starts_with(['(', '.'])
}

impl DeclaredNames {
    /// Why a name that other expressions may use is not declared in this one.
    fn elsewhere(self, name: &str) -> Option<&'static str> {
        let declared = self.declarations;
        Some(match name {
            "params" if !declared.params => "params are known only where the policy has a paramKind",
            "variables" if self.condition => "match conditions are evaluated before there are variables",
            "variables" if !declared.variables => "the policy has no spec.variables",
            "authorizer" if !declared.authorizer => "messages cannot ask the authorizer",
            "Object" | "JSONPatch" if !declared.patch_types => {
                "only mutations make objects and patches, and spec.variables cannot"
            }
            _ => return None,
        })
    }

    /// Since when there is a function that later releases have.
    fn later(self, name: &str) -> Option<String> {
        let latest = Release::list().iter().map(|release| release.version().1).max()?;
        let has = |minor: &u32| {
            environment(self.declarations, *minor)
                .names()
                .any(|known| known == name)
        };
        let since = (self.minor + 1..=latest).find(has)?;
        // A server can be rolled back to the release before, which has to compile what is new.
        let for_new = since + 1;
        Some(format!(
            "Kubernetes has it since 1.{since}, in new expressions since 1.{for_new}"
        ))
    }

    /// The names that may be used in place of a name; `rest` is the expression from the name on.
    fn instead_of(self, name: &str, rest: &str) -> String {
        if is_call(name, rest) {
            return "there is no such function".to_owned();
        }
        let declared = self.declarations;
        let names = [
            ("object", true),
            ("oldObject", true),
            ("request", true),
            ("namespaceObject", true),
            ("params", declared.params),
            ("authorizer", declared.authorizer),
            ("variables", declared.variables && !self.condition),
        ];
        let names = names
            .into_iter()
            .filter(|(_, is_declared)| *is_declared)
            .map(|(name, _)| name);
        format!(
            "known are {}; a text is written in quotes, as '{name}'",
            names.collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pratique_cel::{Position, Type};

    fn environment() -> Environment {
        Environment::kubernetes().with_variable("object", Type::Dyn)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let Err(pratique_cel::CompileError::Issues { issues, .. }) = environment().compile(text) else {
            panic!("{text}")
        };
        let issue = &issues[0];
        let offset = issue.position.column as usize;
        let declared = DeclaredNames {
            declarations: Declarations {
                authorizer: true,
                variables: true,
                ..Declarations::default()
            },
            condition: false,
            minor: 38,
        };
        let help = text_for_issue(issue, text, offset, declared).unwrap_or_default();
        assert_eq!(help, expected, "{text}: {issue:?}");
    }

    #[test]
    fn names() {
        check("objekt.a == 1", "did you mean \"object\"?");
        check("object.a.startWith('a')", "did you mean \"startsWith\"?");
        check("object.l.al(x, x == 1)", "did you mean \"all\"?");
        check("object.a == None", "the value is written null");
        check(
            "exists(object.l, t, t == 1)",
            "it is called on its list: list.exists(x, …)",
        );
        check(
            "object.metadata.labels.example.com/team == 'a'",
            "a key with dots or slashes is written ['example.com/team']",
        );
        check("object.a.len() > 1", "use size()");
        check("not(object.a)", "write ! for \"not\"");
        check(
            "object.a.b-c == 1",
            "a key with a dash is written ['key-with-dash']",
        );
        check(
            "somethingElse",
            "known are object, oldObject, request, namespaceObject, authorizer, variables; a text is written in quotes, \
             as 'somethingElse'",
        );
        check("somethingElse(object)", "there is no such function");
        check(
            "params.a == 1",
            "params are known only where the policy has a paramKind",
        );
    }

    #[test]
    fn fields_of_a_request() {
        for (name, help) in [
            (
                "user",
                "the user is request.userInfo, and the name request.userInfo.username",
            ),
            ("groups", "the groups of the user are request.userInfo.groups"),
            ("object", "the object is the variable object, without request"),
        ] {
            assert_eq!(for_request_field(name), Some(help));
        }
        let issue = |field: &str| Issue::new(Position::NOWHERE, format!("undefined field '{field}'"));
        let help = |field: &str, text: &str, offset: usize| {
            text_for_issue(&issue(field), text, offset, DeclaredNames::default())
        };
        assert!(help("user", "request.user.username", 7).is_some());
        assert_eq!(help("user", "object.user", 6), None);
        assert_eq!(
            help("name", "request.userInfo.name", 16).as_deref(),
            Some("the name of the user is request.userInfo.username")
        );
        assert_eq!(help("name", "request.kind.name", 12), None);
        assert_eq!(help("zone", "request.zone", 7), None);
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
        let negated = "write ! for \"not\", as in !has(object.spec)";
        check("not object.a", negated);
        check("object.b && not object.a", negated);
        check("object.a not in ['b']", "write !(value in list) for \"not in\"");
        check("object.a is not null", "compare with == or !=");
        check("object.a <> 1", "compare with !=");
    }

    #[test]
    fn signs_of_other_languages() {
        let arrow = "compare with >=; a macro has its variable before a comma: list.all(x, …)";
        check("object.l.all(c => c.a)", arrow);
        check("object.a => 1", arrow);
        check("true # a", COMMENTS);
        check("true /* a */", COMMENTS);
        check("object.a / 2 == /* a */ 1", COMMENTS);
    }

    #[test]
    fn patterns() {
        check("object.a.matches('[a-')", "missing closing ]: `[a-`");
        check(
            "object.a.matches('^(?!b)')",
            "invalid or unsupported Perl syntax: `(?!`; RE2 looks neither ahead nor behind",
        );
        check(
            "object.a.matches(r'*.example')",
            "missing argument to repetition operator: `*`; write \\\\ before a sign that is meant itself",
        );
        check(
            "object.a.matches('\\d+')",
            "a backslash in a text is written twice, as in '\\\\d', or the text is raw, as in r'\\d'",
        );
    }

    #[test]
    fn types() {
        check(
            "has(object.a) ? 'a' : null",
            "null is of another type than the text beside it: make it dyn(null), or, where a text is due, ''",
        );
        check(
            "['a', 1].size() > 1",
            "all elements of a list, and all keys and values of a map, need one type: convert one, or put each into dyn(…)",
        );
        check("'a' + 1", "only texts are added to a text: string(…)");
        check(
            "quantity(object.a) > '3'",
            "make the other side a quantity, too, and compare with isLessThan(quantity('1Gi')), \
             isGreaterThan(quantity('1Gi')) or compareTo(quantity('1Gi')) <= 0",
        );
        check(
            "['a'].contains('a')",
            "ask for an element of a list with in: value in list",
        );
        check(
            "quantity('1') < quantity('2')",
            "they are compared with a.isLessThan(b), a.isGreaterThan(b) or a.compareTo(b) <= 0, not with < and >",
        );
        check(
            "'a' && true",
            "what is asked is true or false: compare it, as in … == 'value'; beside a bool in a list, put it into dyn(…)",
        );
    }

    #[test]
    fn whole_expressions() {
        let help = |wanted: &str, got: &str| {
            let (wanted, got) = (wanted.to_owned(), got.to_owned());
            for_whole(&ExpressionError::Type { wanted, got })
        };
        assert_eq!(
            help("string", "int").as_deref(),
            Some("put it into a text: string(…), or '…' + string(…)")
        );
        // No text is made of these by string(…).
        for of in ["kubernetes.Quantity", "list(dyn)", "map(string, dyn)"] {
            assert_eq!(
                help("string", of).as_deref(),
                Some("make the text of a part of it, or of the text that it is made of")
            );
        }
        assert_eq!(help("list(string)", "list(dyn)"), None);
        let bools = [
            ("int", "compare it, as in … != 0"),
            ("kubernetes.Quantity", "compare it, as in sign(…) == 1"),
            ("map(string, dyn)", "compare it, as in size(…) > 0"),
            (
                "optional_type(dyn)",
                "say what holds where there is no value: ….orValue(false)",
            ),
            (
                "list(dyn)",
                "ask something of the list: list.all(x, …), list.exists(x, …), or size(…) > 0",
            ),
        ];
        for (of, expected) in bools {
            assert_eq!(help("bool", of).as_deref(), Some(expected), "{of}");
        }
    }

    #[test]
    fn other_faults() {
        assert!(
            for_issue(
                &Issue::new(Position::NOWHERE, "something"),
                "a",
                0,
                DeclaredNames::default()
            )
            .is_none()
        );
    }
}
