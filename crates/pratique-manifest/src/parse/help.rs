//! Help for syntax errors.

/// Help for text that is no manifest yet.
const TEMPLATE: &str = "a template has to be filled in before it is a manifest, as helm template does";

/// Help for a comment of YAML within a text.
const COMMENT: &str = "a text without quotes ends where a line begins with #: write it after | on lines of its own, where a comment begins with //";

/// Help for an error at an offset of what is taken for JSON, by the source on its line.
pub(crate) fn for_json(text: &str, at: usize) -> Option<String> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    line.trim_start().starts_with("{{").then(|| TEMPLATE.to_owned())
}

/// Help for a syntax error at an offset, by the source on its line, or on the line before.
pub(crate) fn for_yaml(text: &str, at: usize) -> Option<String> {
    let at = at.min(text.len());
    let end = text
        .get(at..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |length| at + length);
    let around = [
        text.get(..at)
            .and_then(|preceding_text| preceding_text.chars().next_back()),
        text.get(at..).and_then(|rest| rest.chars().next()),
    ];
    let last = text.get(..end)?.lines().next_back().unwrap_or_default();
    if around.contains(&Some('\\')) && last.contains('"') {
        return Some("in double quotes a backslash is written twice, in single quotes once".to_owned());
    }
    if let Some(help) = for_comment(text.get(..end)?) {
        return Some(help);
    }
    if let Some(help) = for_flow_value(last, last.len().saturating_sub(end - at), text) {
        return Some(help);
    }
    let mut lines = text
        .get(..end)?
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty());
    let mut help = || for_line(lines.next()?, text);
    help().or_else(help)
}

/// Help for a text without quotes that a comment divides: it ends where the comment begins.
fn for_comment(text: &str) -> Option<String> {
    let mut lines = text.lines().rev();
    let is_keyed = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ");
        let key = line.split(':').next().unwrap_or_default();
        line.contains(':') && !key.contains(|c: char| c.is_whitespace() || "()'\"&|?".contains(c))
    };
    let rest = lines.next()?;
    if rest.trim().is_empty()
        || is_keyed(rest)
        || rest.trim_start().starts_with(['#', '-', '[', '{', '"', '\''])
    {
        return None;
    }
    let mut lines = lines.skip_while(|line| line.trim().is_empty()).peekable();
    lines.peek().filter(|line| line.trim_start().starts_with('#'))?;
    let keyed_line = lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))?;
    let value = keyed_line
        .split_once(": ")
        .map_or(keyed_line, |(_, value)| value)
        .trim();
    let is_plain = !value.ends_with(':') && !value.starts_with(['"', '\'', '[', '{', '|', '>', '#']);
    is_plain.then(|| COMMENT.to_owned())
}

/// Help for a value within a list or a mapping in brackets, at a byte of its line.
fn for_flow_value(line: &str, column: usize, text: &str) -> Option<String> {
    let prefix = line.get(..column)?;
    let starts = [": ", ", ", "[", "{"].iter();
    let start = starts
        .filter_map(|sign| Some(prefix.rfind(sign)? + sign.len()))
        .max()?;
    let is_within = prefix.get(..start)?.contains(['[', '{']);
    let value = line.get(start..)?.split([',', ']', '}']).next()?;
    is_within.then(|| for_sign(value.trim(), text)).flatten()
}

/// Help for a value that begins with a sign which means something to YAML.
fn for_sign(value: &str, text: &str) -> Option<String> {
    match value.chars().next()? {
        '!' => Some(TAG.to_owned()),
        start @ ('@' | '`' | '%') => Some(format!("no value of YAML starts with {start}: quote it")),
        start @ ('&' | '*') => {
            let name = value.get(1..)?.split([' ', ',']).next().unwrap_or_default();
            let is_anchor = start == '&' && name.starts_with(|c: char| c.is_alphanumeric());
            let is_known = start == '*' && text.contains(&format!("&{name}"));
            let what = format!("YAML takes what starts with {start} for the name of a value: quote it");
            (!is_anchor && !is_known).then_some(what)
        }
        _ => None,
    }
}

fn for_line(line: &str, text: &str) -> Option<String> {
    let indent = line
        .get(..line.len() - line.trim_start().len())
        .unwrap_or_default();
    if indent.contains('\t') {
        return Some("YAML is indented with blanks: there is a tab".to_owned());
    }
    let line = line.trim().trim_start_matches("- ").trim_start();
    let (value, is_keyed) = match line.split_once(": ") {
        Some((key, value)) if !key.starts_with(['"', '\'', '[', '{', '!', '#']) => (value.trim(), true),
        _ => (line, false),
    };
    if value.contains("{{") {
        return Some(TEMPLATE.to_owned());
    }
    let (inner, rest) = match value.chars().next()? {
        '!' | '@' | '`' | '%' | '&' | '*' => return for_sign(value, text),
        quote @ ('"' | '\'') => value.get(1..)?.split_once(quote)?,
        start @ ('[' | '{') => {
            let close = if start == '[' { ']' } else { '}' };
            let goes_on = value.rsplit_once(close).is_none_or(|(_, rest)| !is_end(rest));
            let what = if start == '[' { "list" } else { "mapping" };
            return goes_on.then(|| looks_like(start, what));
        }
        _ if is_keyed && (value.contains(": ") || value.ends_with(':')) => {
            return Some("a text with a colon and a blank in it needs quotes around all of it".to_owned());
        }
        _ => return None,
    };
    let doubled = value.starts_with('\'') && rest.starts_with('\'');
    let goes_on = !is_end(rest) && !doubled && !inner.ends_with('\\');
    goes_on.then(|| "the text goes on behind its closing quote: put all of it into other quotes, or after >- on a line of its own".to_owned())
}

/// Whether only a comment follows a value.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches(',').trim();
    rest.is_empty() || rest.starts_with('#')
}

/// Help for a text that YAML reads as a list or a mapping.
pub(crate) fn looks_like(start: char, what: &str) -> String {
    format!(
        "YAML takes a value that starts with {start} for a {what}: quote it, or begin it after >- on a line of its own"
    )
}

/// Help for a text that YAML reads as a tag.
pub(crate) const TAG: &str = "YAML takes what starts with ! for a tag and not for a value: quote all of it";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let check = |text: &str, expected: &str| {
            let help = for_yaml(text, text.len()).unwrap_or_default();
            assert!(
                help.contains(expected) && help.is_empty() == expected.is_empty(),
                "{text}: {help}"
            );
        };
        check("a: b\n  message: error: at most 5", "needs quotes");
        check("- expression: !has(object.x) || object.y", "a tag");
        check("- expression: !has(object.x) || object.y\n  message: no", "a tag");
        check("expression: 'a' == object.x", "closing quote");
        check("expression: 'it''s'", "");
        check("expression: [1].all(x, x == 1)", "for a list");
        check("operations: [CREATE]", "");
        check("message: `a`", "starts with `");
        check("validations:\n- expression: {{ .Values.x }}", "a template");
        check("expression: \"a.matches('\\", "a backslash");
        check("\tmessage: a", "a tab");
        check("message: a", "");
        check(
            "- expression: a.all(x, x)\n    # also\n    && b",
            "begins with //",
        );
        check("- expression: a\n  # also\n  ? c : d", "begins with //");
        check("- expression: a\n# also\n  message: [a", "for a list");
        check("- expression: a\n# also\n", "");
    }

    #[test]
    fn values_in_brackets() {
        let check = |line: &str, sign: &str, expected: &str| {
            let text = format!("a: b\n{line}\nc: d\n");
            let at = text.find(sign).unwrap();
            let help = for_yaml(&text, at).unwrap_or_default();
            assert!(
                help.contains(expected) && help.is_empty() == expected.is_empty(),
                "{line}: {help}"
            );
        };
        check("validations: [{expression: @a}]", "@a", "starts with @");
        check("validations: [{expression: *a}]", "*a", "for the name of a value");
        check(
            "validations: [{expression: * a}]",
            " a}",
            "for the name of a value",
        );
        check("validations: [{expression: !!int a}]", "a}", "a tag");
        check("operations: [CREATE, *]", "*]", "for the name of a value");
        check("operations: [CREATE, 'UPDATE'", "'UPDATE'", "for a list");
        check("operations: [CREATE]", "CREATE", "");
        check(
            r#"validations: [{expression: "[1].exists(x, !x.matches('\d'))"}]"#,
            "d'))",
            "a backslash is written twice",
        );
    }

    #[test]
    fn templates() {
        let check = |text: &str, at: usize, expected: Option<&str>| {
            assert_eq!(for_json(text, at).as_deref(), expected, "{text}");
        };
        check("{{- if .Values.enabled }}\nkind: A\n", 1, Some(TEMPLATE));
        check("{\"a\": 1}\n  {{ end }}", 12, Some(TEMPLATE));
        check("{\"a\": {{ .Values.a }}}", 7, None);
        check("{\"a\": }", 6, None);
        check("", 7, None);
    }
}
