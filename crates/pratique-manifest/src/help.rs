//! What would mend a manifest whose kind or values are not what they should be.

use pratique_cel::text::nearest;

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
pub(crate) fn for_value(message: &str, written: &str) -> Option<String> {
    if !message.contains("unmarshal bool into") && !message.contains("unmarshal number into") {
        return None;
    }
    let plain = written
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_'));
    let wanted = message.contains("of type string") || message.contains("of type v1.");
    if written.is_empty() || !plain || !wanted {
        return None;
    }
    let what = match message.contains("unmarshal bool") {
        true => "boolean",
        false => "number",
    };
    Some(format!(
        "YAML takes {written} for a {what}: quote it, as in \"{written}\""
    ))
}

/// The tag that stands for an empty value, as in `expression: !has(object.x)`.
pub(crate) fn tag_instead(source: &ObjectSource, path: &[Step]) -> Option<Span> {
    let tree = source.tree();
    let node = tree.get(tree.find(source.root(), path)?);
    let is_empty = matches!(&node.value, Value::String(text, Style::Plain) if text.is_empty());
    if !is_empty {
        return None;
    }
    let text = source.document().text();
    let end = node.span.start as usize;
    let start = text.get(..end)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..end)?;
    let tag = line
        .rfind(": !")
        .map(|at| at + 2)
        .or_else(|| line.rfind("- !").map(|at| at + 2))?;
    Some(Span::new(start + tag, start + line.trim_end().len()))
}

/// What to say of such a tag.
pub(crate) const TAG: &str =
    "YAML takes a value that starts with ! for a tag, and the value is empty: quote it";

fn did_you_mean(name: &str) -> String {
    format!("did you mean {name:?}?")
}

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
    fn values() {
        let text =
            |what: &str| format!("json: cannot unmarshal {what} into Go struct field X.y of type string");
        for (what, written, expected) in [
            (
                "bool",
                "yes",
                "YAML takes yes for a boolean: quote it, as in \"yes\"",
            ),
            (
                "number",
                "010",
                "YAML takes 010 for a number: quote it, as in \"010\"",
            ),
            ("object", "{}", ""),
        ] {
            assert_eq!(for_value(&text(what), written).unwrap_or_default(), expected);
        }
        assert_eq!(
            for_value(
                "json: cannot unmarshal bool into Go struct field X.y of type int32",
                "yes"
            ),
            None
        );
    }
}
