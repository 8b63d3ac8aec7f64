//! What would mend a manifest whose kind or values are not what they should be.

use pratique_gotext::suggest::{did_you_mean, nearest};

use crate::decode::{Form, Mismatch};
use crate::faults::SUFFIX;
use crate::header::Header;
use crate::kind::Kind;
use crate::plugin::Plugin;
use crate::position::Span;
use crate::set::ObjectSource;
use crate::tree::{Step, Style, Value};

const GROUP: &str = "admissionregistration.k8s.io";
const CONFIGURATION_KINDS: [&str; 4] = [
    "AdmissionConfiguration",
    "ValidatingAdmissionPolicyConfiguration",
    "MutatingAdmissionPolicyConfiguration",
    "WebhookAdmissionConfiguration",
];

/// Help for a kind that is not taken.
pub(crate) fn for_kind(header: &Header) -> Option<String> {
    if header.group.starts_with("apiserver.") {
        let meant = nearest(&header.kind, CONFIGURATION_KINDS).filter(|meant| *meant != header.kind);
        return meant.map(did_you_mean);
    }
    let name = header.kind.strip_suffix("List").unwrap_or(&header.kind);
    let Some(kind) = Kind::from_name(name) else {
        return nearest(name, Kind::ALL.map(Kind::name)).map(did_you_mean);
    };
    if header.group != GROUP || header.version != "v1" {
        return Some(format!("the kind is read in the version {GROUP}/v1 only"));
    }
    let plugin = Plugin::START_ORDER
        .into_iter()
        .find(|plugin| plugin.accepts(kind))?;
    Some(format!("{kind} belongs in the directory of the plugin {plugin}"))
}

/// Help for a value of the wrong type, by how it is written.
pub(crate) fn for_value(mismatch: Mismatch, written: &str) -> Option<String> {
    let Mismatch {
        found,
        wanted,
        fields,
    } = mismatch;
    let starts = written.chars().next().unwrap_or_default();
    Some(match (found, wanted) {
        (Form::Bool, Form::Text) => unquoted(written, "boolean")?,
        (Form::Number, Form::Text) => unquoted(written, "number")?,
        (Form::List, Form::Text) if starts == '[' => opened(starts, "list"),
        (Form::Mapping, Form::Text) if starts == '{' => opened(starts, "mapping"),
        (Form::List, Form::Text) => "this is one text and no list: leave out the dash".to_owned(),
        (Form::Mapping, Form::Text) => {
            "YAML takes a text with a colon and a blank in it for a mapping: quote it, or begin it after >- on a line of \
             its own"
                .to_owned()
        }
        (Form::Mapping, Form::List) => "this is a list: begin each of its items with \"- \"".to_owned(),
        (Form::Text | Form::Number | Form::Bool, Form::List) if is_short(written.trim_matches(['"', '\''])) => {
            format!("this is a list: write [{written}]")
        }
        (Form::Text | Form::Number | Form::Bool, Form::List) => {
            "this is a list: begin each of its items with \"- \"".to_owned()
        }
        (Form::List, Form::Mapping) => "this is a mapping and no list: leave out the dash".to_owned(),
        (Form::Text | Form::Number | Form::Bool, Form::Mapping) if (1..=FEW).contains(&fields.len()) => {
            let fields: Vec<&str> = fields.iter().map(|field| field.name).collect();
            format!("this is a mapping with the fields {}", fields.join(", "))
        }
        (Form::Text, Form::Number | Form::Bool) => "leave out the quotes".to_owned(),
        _ => return None,
    })
}

/// A value that YAML takes for something else than the text it is to be.
fn unquoted(written: &str, what: &str) -> Option<String> {
    (!written.is_empty() && is_short(written))
        .then(|| format!("YAML takes {written} for a {what}: quote it, as in \"{written}\""))
}

fn opened(start: char, what: &str) -> String {
    format!(
        "YAML takes a value that starts with {start} for a {what}: quote it, or begin it after >- on a line of its own"
    )
}

/// Whether it can be written in other ways without thinking of quotes.
fn is_short(written: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    written.chars().all(plain)
}

/// The tag that YAML takes the start of a value for, as in `expression: !has(object.x)`, with what is left of the value.
pub(crate) fn tag_instead(source: &ObjectSource, path: &[Step]) -> Option<Span> {
    let tree = source.tree();
    let (Step::Field(name), parent) = path.split_last()? else {
        return None;
    };
    let entry = tree.entry(tree.find(source.root(), parent)?, name)?;
    if !matches!(&tree.get(entry.value).value, Value::String(_, Style::Plain)) {
        return None;
    }
    let text = source.document().text();
    let after = entry.key_span.end as usize;
    let line = text.get(after..)?.split('\n').next()?;
    let value = line
        .trim_start_matches(['"', '\''])
        .trim_start()
        .strip_prefix(':')?
        .trim();
    // Those of YAML itself are meant.
    let is_tag = value.starts_with('!') && !value.starts_with("!!");
    let start = after + line.find('!')?;
    is_tag.then(|| Span::new(start, start + value.len()))
}

/// What to say of such a tag.
pub(crate) const TAG: &str = "YAML takes what starts with ! for a tag and not for a value: quote all of it";

/// Help for a value that is null, where one is required.
pub(crate) fn for_null(source: &ObjectSource, path: &[Step]) -> Option<String> {
    let tree = source.tree();
    let node = tree.get(tree.find(source.root(), path)?);
    let is_null = matches!(&node.value, Value::Null);
    is_null.then(|| "null, ~ and nothing behind the colon are all the same to YAML: no value".to_owned())
}

/// Help for a document that is no YAML, by the line on which that shows, or the one before.
pub(crate) fn for_yaml(text: &str, at: usize) -> Option<String> {
    let at = at.min(text.len());
    let end = text
        .get(at..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |found| at + found);
    let around = [
        text.get(..at).and_then(|before| before.chars().next_back()),
        text.get(at..).and_then(|rest| rest.chars().next()),
    ];
    let last = text.get(..end)?.lines().next_back().unwrap_or_default();
    if around.contains(&Some('\\')) && last.contains('"') {
        return Some("in double quotes a backslash is written twice, in single quotes once".to_owned());
    }
    let mut lines = text
        .get(..end)?
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty());
    let mut help = || for_line(lines.next()?, text);
    help().or_else(help)
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
        return Some("a template has to be filled in before it is a manifest".to_owned());
    }
    let (inner, rest) = match value.chars().next()? {
        '!' => return Some(TAG.to_owned()),
        quote @ ('"' | '\'') => value.get(1..)?.split_once(quote)?,
        start @ ('[' | '{') => {
            let close = if start == '[' { ']' } else { '}' };
            let goes_on = value.rsplit_once(close).is_none_or(|(_, rest)| !is_end(rest));
            let what = if start == '[' { "list" } else { "mapping" };
            return goes_on.then(|| opened(start, what));
        }
        start @ ('@' | '`' | '%') => {
            return Some(format!("no value of YAML starts with {start}: quote it"));
        }
        start @ ('&' | '*') => {
            let name = value.get(1..)?.split([' ', ',']).next().unwrap_or_default();
            let is_anchor = start == '&' && name.starts_with(|c: char| c.is_alphanumeric());
            let is_known = start == '*' && text.contains(&format!("&{name}"));
            let what = format!("YAML takes what starts with {start} for the name of a value: quote it");
            return (!is_anchor && !is_known).then_some(what);
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

/// Whether nothing but a comment follows a value.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches(',').trim();
    rest.is_empty() || rest.starts_with('#')
}

/// Help for a policy that is not there, by the names of those that are.
pub(crate) fn for_policy<'p>(policy: &str, policies: impl Iterator<Item = &'p str>) -> String {
    let short = |name: &'p str| name.strip_suffix(SUFFIX).unwrap_or(name);
    let mut names: Vec<&str> = policies.map(short).collect();
    names.sort_unstable();
    names.dedup();
    let meant = nearest(
        policy.strip_suffix(SUFFIX).unwrap_or(policy),
        names.iter().copied(),
    );
    match (meant, names.as_slice()) {
        (Some(meant), _) => did_you_mean(&format!("{meant}{SUFFIX}")),
        (None, []) => {
            "there is no policy of that kind here: a static binding needs its policy beside it".to_owned()
        }
        (None, names) if names.len() <= FEW => {
            let names: Vec<String> = names.iter().map(|name| format!("{name}{SUFFIX}")).collect();
            format!("policies here: {}", names.join(", "))
        }
        (None, names) => format!("none of the {} policies here has a name like it", names.len()),
    }
}

/// So many names are listed.
const FEW: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(group: &str, version: &str, kind: &str, expected: &str) {
        let header = Header {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        };
        assert_eq!(
            for_kind(&header).unwrap_or_default(),
            expected,
            "{group}/{version} {kind}"
        );
    }

    #[test]
    fn kinds() {
        check(
            GROUP,
            "v1",
            "ValidatingAdmisionPolicy",
            "did you mean \"ValidatingAdmissionPolicy\"?",
        );
        check(
            GROUP,
            "v1beta1",
            "MutatingAdmissionPolicyList",
            "the kind is read in the version admissionregistration.k8s.io/v1 only",
        );
        check(
            GROUP,
            "v1",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicy belongs in the directory of the plugin MutatingAdmissionPolicy",
        );
        check("", "v1", "Pod", "");
        check(
            "apiserver.config.k8s.io",
            "v1",
            "ValidatingAdmissionPolicyConfig",
            "did you mean \"ValidatingAdmissionPolicyConfiguration\"?",
        );
    }

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
    }

    #[test]
    fn policies() {
        let check = |policy: &str, policies: &[&str], expected: &str| {
            assert_eq!(for_policy(policy, policies.iter().copied()), expected);
        };
        let policies = ["replicas.static.k8s.io", "images.static.k8s.io"];
        check(
            "replica.static.k8s.io",
            &policies,
            "did you mean \"replicas.static.k8s.io\"?",
        );
        check(
            "other.static.k8s.io",
            &policies,
            "policies here: images.static.k8s.io, replicas.static.k8s.io",
        );
        check(
            "other.static.k8s.io",
            &[],
            "there is no policy of that kind here: a static binding needs its policy beside it",
        );
    }

    #[test]
    fn values() {
        for (found, wanted, written, expected) in [
            (
                Form::Bool,
                Form::Text,
                "yes",
                "YAML takes yes for a boolean: quote it, as in \"yes\"",
            ),
            (
                Form::Number,
                Form::Text,
                "010",
                "YAML takes 010 for a number: quote it, as in \"010\"",
            ),
            (
                Form::Mapping,
                Form::Text,
                "{}",
                "YAML takes a value that starts with { for a mapping: quote it, or begin it after >- on a line of its own",
            ),
            (
                Form::Mapping,
                Form::List,
                "expression: 'true'",
                "this is a list: begin each of its items with \"- \"",
            ),
            (Form::Text, Form::List, "CREATE", "this is a list: write [CREATE]"),
            (
                Form::List,
                Form::Mapping,
                "- a: b",
                "this is a mapping and no list: leave out the dash",
            ),
            (Form::Bool, Form::Number, "yes", ""),
        ] {
            let fields = &[];
            let help = for_value(
                Mismatch {
                    found,
                    wanted,
                    fields,
                },
                written,
            );
            assert_eq!(help.unwrap_or_default(), expected, "{written}");
        }
    }
}
