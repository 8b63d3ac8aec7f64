//! Help for values of the wrong kind or the wrong type.

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_schema::Release;
use pratique_types::{ADMISSION_GROUP, GroupVersionKind, builtin};

use super::{TypeMismatch, ValueForm};
use crate::kind::Kind;
use crate::parse::help::looks_like;

const CONFIGURATION_KINDS: [&str; 4] = [
    "AdmissionConfiguration",
    "ValidatingAdmissionPolicyConfiguration",
    "MutatingAdmissionPolicyConfiguration",
    "WebhookAdmissionConfiguration",
];

/// Help for an object whose version or kind is missing, or is no text.
pub(crate) const TYPE_META: &str = "an object has an apiVersion and a kind, which are texts, as in apiVersion: admissionregistration.k8s.io/v1";

/// Help for a kind that is not accepted, and the name that belongs in its place, if one does.
pub(crate) fn for_kind(gvk: &GroupVersionKind) -> Option<(String, Option<&'static str>)> {
    if gvk.group.starts_with("apiserver.") {
        let meant = nearest(&gvk.kind, CONFIGURATION_KINDS).filter(|meant| *meant != gvk.kind);
        return meant.map(|meant| (did_you_mean(meant), Some(meant)));
    }
    let name = gvk.kind.strip_suffix("List").unwrap_or(&gvk.kind);
    let Some(kind) = Kind::from_name(name) else {
        let meant = nearest(name, Kind::ALL.map(Kind::name))?;
        // Of a list, the items are meant.
        return Some((did_you_mean(meant), (name == gvk.kind).then_some(meant)));
    };
    if gvk.group != ADMISSION_GROUP || gvk.version != "v1" {
        return Some((
            format!("the kind is read in the version {ADMISSION_GROUP}/v1 only"),
            None,
        ));
    }
    let text = format!("{kind} belongs in the directory of the plugin {}", kind.plugin());
    Some((text, None))
}

/// Help for a version of a kind that is there in a later release than this one.
pub(crate) fn for_later_kind(gvk: &GroupVersionKind, release: &Release) -> Option<String> {
    let name = gvk.kind.strip_suffix("List").unwrap_or(&gvk.kind);
    let kind = GroupVersionKind::new(&gvk.group, &gvk.version, name);
    let mut releases = Release::list().iter().rev();
    let first = releases.find(|release| release.resources().resource_of(&kind).is_some())?;
    let is_later = release.version() < first.version();
    is_later.then(|| format!("{} {name} is served since Kubernetes {first}", gvk.api_version()))
}

/// Help for a version of a kind that an API of a release does not serve, where another release does.
pub(crate) fn for_version(gvk: &GroupVersionKind, release: &Release) -> Option<String> {
    let name = gvk.kind.strip_suffix("List").unwrap_or(&gvk.kind);
    let version = gvk.api_version();
    let kind = GroupVersionKind::new(&gvk.group, &gvk.version, name);
    let (resources, in_v1) = (release.resources(), format!("{ADMISSION_GROUP}/v1"));
    let of_v1 = GroupVersionKind::new(ADMISSION_GROUP, "v1", name);
    let instead = if resources.resource_of(&of_v1).is_some() {
        format!(": write it in {in_v1}")
    } else {
        String::new()
    };
    if let Some(later) = for_later_kind(&kind, release) {
        let versions = resources.optional().iter();
        let same = versions.filter(|served| served.subresource.is_empty() && served.kind.kind == name);
        let same: Vec<&str> = same.map(|served| served.kind.version.as_str()).collect();
        return Some(format!(
            "{later}; one of {release} that is told to with --runtime-config has {}",
            same.join(" and ")
        ));
    }
    let removal = builtin::removal(&kind)?;
    Some(format!(
        "{version} {name} is not served since Kubernetes {}{instead}",
        removal.release
    ))
}

/// Help for a value of the wrong type, by how it is written.
pub(crate) fn for_value(mismatch: &TypeMismatch, written: &str) -> Option<String> {
    let TypeMismatch {
        found: actual_form,
        wanted,
        fields,
    } = mismatch;
    let starts = written.chars().next().unwrap_or_default();
    Some(match (actual_form, wanted) {
        (ValueForm::Bool, ValueForm::Text) => unquoted(written, "boolean")?,
        (ValueForm::Number, ValueForm::Text) => unquoted(written, "number")?,
        (ValueForm::List, ValueForm::Text) if starts == '[' => looks_like(starts, "list"),
        (ValueForm::Mapping, ValueForm::Text) if starts == '{' => looks_like(starts, "mapping"),
        (ValueForm::List, ValueForm::Text) => "this is one text and no list: leave out the dash".to_owned(),
        (ValueForm::Mapping, ValueForm::Text) => {
            "YAML takes a text with a colon and a blank in it for a mapping: quote it, or begin it after >- on a line of \
             its own"
                .to_owned()
        }
        (ValueForm::Mapping, ValueForm::List) => "this is a list: begin each of its items with \"- \"".to_owned(),
        (ValueForm::Text | ValueForm::Number | ValueForm::Bool, ValueForm::List) if is_short(written.trim_matches(['"', '\''])) => {
            format!("this is a list: write [{written}]")
        }
        (ValueForm::Text | ValueForm::Number | ValueForm::Bool, ValueForm::List) => {
            "this is a list: begin each of its items with \"- \"".to_owned()
        }
        (ValueForm::List, ValueForm::Mapping) => "this is a mapping and no list: leave out the dash".to_owned(),
        (ValueForm::Text | ValueForm::Number | ValueForm::Bool, ValueForm::Mapping) if (1..=FEW).contains(&fields.len()) => {
            format!("this is a mapping with the fields {}", fields.join(", "))
        }
        (ValueForm::Text, ValueForm::Number | ValueForm::Bool) => "leave out the quotes".to_owned(),
        _ => return None,
    })
}

/// Help for a plain scalar that YAML does not read as a string.
fn unquoted(written: &str, what: &str) -> Option<String> {
    (!written.is_empty() && is_short(written))
        .then(|| format!("YAML takes {written} for a {what}: quote it, as in \"{written}\""))
}

/// Whether a scalar can be quoted without escapes.
fn is_short(written: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    written.chars().all(plain)
}

/// How many fields are listed at most.
const FEW: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(group: &str, version: &str, kind: &str, expected: &str) {
        let found = GroupVersionKind::new(group, version, kind);
        assert_eq!(
            for_kind(&found).unwrap_or_default().0,
            expected,
            "{group}/{version} {kind}"
        );
    }

    #[test]
    fn versions_that_are_not_served() {
        for (version, kind, expected) in [
            (
                "v1beta1",
                "ValidatingAdmissionPolicy",
                "admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy is not served since Kubernetes 1.34: write it in \
                 admissionregistration.k8s.io/v1",
            ),
            ("v2", "ValidatingAdmissionPolicy", ""),
        ] {
            let found = GroupVersionKind::new(ADMISSION_GROUP, version, kind);
            assert_eq!(
                for_version(&found, Release::latest()).unwrap_or_default(),
                expected,
                "{version} {kind}"
            );
        }
    }

    #[test]
    fn versions_that_a_release_does_not_have_yet() {
        let found = GroupVersionKind::new(ADMISSION_GROUP, "v1", "MutatingAdmissionPolicy");
        let help = |version| for_version(&found, Release::by_version(version).unwrap());
        assert_eq!(
            help("1.35").as_deref(),
            Some(
                "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy is served since Kubernetes 1.36; one of 1.35 that is told to \
                 with --runtime-config has v1alpha1 and v1beta1"
            )
        );
        assert_eq!(help("1.36"), None);
    }

    #[test]
    fn kinds() {
        check(
            ADMISSION_GROUP,
            "v1",
            "ValidatingAdmisionPolicy",
            "did you mean \"ValidatingAdmissionPolicy\"?",
        );
        check(
            ADMISSION_GROUP,
            "v1beta1",
            "MutatingAdmissionPolicyList",
            "the kind is read in the version admissionregistration.k8s.io/v1 only",
        );
        check(
            ADMISSION_GROUP,
            "v2",
            "MutatingAdmissionPolicy",
            "the kind is read in the version admissionregistration.k8s.io/v1 only",
        );
        check(
            ADMISSION_GROUP,
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
        for (found, wanted, written, expected) in [
            (
                ValueForm::Bool,
                ValueForm::Text,
                "yes",
                "YAML takes yes for a boolean: quote it, as in \"yes\"",
            ),
            (
                ValueForm::Number,
                ValueForm::Text,
                "010",
                "YAML takes 010 for a number: quote it, as in \"010\"",
            ),
            (
                ValueForm::Mapping,
                ValueForm::Text,
                "{}",
                "YAML takes a value that starts with { for a mapping: quote it, or begin it after >- on a line of its own",
            ),
            (
                ValueForm::Mapping,
                ValueForm::List,
                "expression: 'true'",
                "this is a list: begin each of its items with \"- \"",
            ),
            (
                ValueForm::Text,
                ValueForm::List,
                "CREATE",
                "this is a list: write [CREATE]",
            ),
            (
                ValueForm::List,
                ValueForm::Mapping,
                "- a: b",
                "this is a mapping and no list: leave out the dash",
            ),
            (ValueForm::Bool, ValueForm::Number, "yes", ""),
        ] {
            let fields = Vec::new();
            let help = for_value(
                &TypeMismatch {
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
