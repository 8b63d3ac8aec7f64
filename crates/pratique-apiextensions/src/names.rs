//! The names and versions of a definition: what a server checks of them before it looks at schemas.

use std::collections::HashSet;

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{dns1035_label, dns1123_subdomain};
use pratique_json::{Value, text_at};
use pratique_types::builtin;
use pratique_types::field::{BadValue, Error, ErrorList, Path};

/// Checks that a definition is called what its resource and group say.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinition
pub(crate) fn check_name(definition: &Value<'_>, errors: &mut ErrorList) {
    let text = |path: &[&str]| text_at(definition, path);
    let path = Path::METADATA.child("name");
    let name = text(&["metadata", "name"]);
    if name.is_empty() {
        return errors.push(Error::required(path, "name or generateName is required"));
    }
    let mut faults = dns1123_subdomain(name);
    if name
        != format!(
            "{}.{}",
            text(&["spec", "names", "plural"]),
            text(&["spec", "group"])
        )
    {
        faults.push("must be spec.names.plural+\".\"+spec.group".to_owned());
    }
    for fault in faults {
        errors.push(Error::invalid(path, name, &fault));
    }
}

/// Checks the group of a definition, and that Kubernetes itself does not serve the resource.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionSpec
pub(crate) fn check_group(definition: &Value<'_>, errors: &mut ErrorList) {
    let spec = Path::ROOT.child("spec");
    let path = spec.child("group");
    let group = text_at(definition, &["spec", "group"]);
    let faults = dns1123_subdomain(group);
    if group.is_empty() {
        return errors.push(Error::required(path, ""));
    }
    if !faults.is_empty() {
        return errors.push(Error::invalid(path, group, &faults.join(",")));
    }
    if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        return errors.push(Error::invalid(path, group, detail));
    }
    let (kind, plural) = (
        text_at(definition, &["spec", "names", "kind"]),
        text_at(definition, &["spec", "names", "plural"]),
    );
    // A server takes it, and serves the built-in resource.
    if let Some(served) = builtin::claimed(group, kind, plural) {
        let detail = format!(
            "Kubernetes itself serves {} of kind {}, and not this resource",
            served.resource.group_resource(),
            served.kind.kind
        );
        errors.push(Error::forbidden(spec.child("names"), &detail));
    }
}

/// Checks the names of the resource and of its versions.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionSpec and
// ValidateCustomResourceDefinitionNames
pub(crate) fn check_names(definition: &Value<'_>, errors: &mut ErrorList) {
    let spec = Path::ROOT.child("spec");
    check_versions(definition, &spec, errors);
    let path = spec.child("names");
    for (field, is_required) in [
        ("plural", true),
        ("singular", false),
        ("kind", true),
        ("listKind", false),
    ] {
        let name = text_at(definition, &["spec", "names", field]);
        let is_kind = field.ends_with("ind");
        let faults = match is_kind {
            true => dns1035_label(&name.to_lowercase()),
            false => dns1035_label(name),
        };
        let faults = faults.join(",");
        if name.is_empty() {
            // Those that defaulting sets are there by now. That of the kind is told where it is read.
            if is_required && !is_kind {
                errors.push(Error::required(path.child(field), ""));
            }
        } else if !faults.is_empty() {
            let detail = match is_kind {
                true => format!("may have mixed case, but should otherwise match: {faults}"),
                false => faults,
            };
            errors.push(Error::invalid(path.child(field), name, &detail));
        }
    }
    let kind = text_at(definition, &["spec", "names", "kind"]);
    if !kind.is_empty() && kind == text_at(definition, &["spec", "names", "listKind"]) {
        let detail = "kind and listKind may not be the same";
        errors.push(Error::invalid(path.child("listKind"), kind, detail));
    }
    check_approval(definition, errors);
}

fn check_versions(definition: &Value<'_>, spec: &Path<'_>, errors: &mut ErrorList) {
    let list = spec.child("versions");
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array);
    let versions = versions.unwrap_or_default();
    let mut names = HashSet::new();
    for (at, version) in versions.iter().enumerate() {
        let name = text_at(version, &["name"]);
        names.insert(name);
        let faults = dns1035_label(name);
        if !faults.is_empty() {
            let path = list.index(at);
            errors.push(Error::invalid(path.child("name"), name, &faults.join(",")));
        }
    }
    let is_storage = |version: &&Value<'_>| version.get("storage") == Some(&Value::Bool(true));
    if names.len() != versions.len() {
        errors.push(unshown(&list, "must contain unique version names"));
    }
    if !versions.is_empty() && versions.iter().filter(is_storage).count() != 1 {
        errors.push(unshown(
            &list,
            "must have exactly one version marked as storage version",
        ));
    }
}

/// An invalid value that the server shows as a structure of Go.
fn unshown(path: &Path<'_>, detail: &str) -> Error {
    Error::invalid(path, BadValue::Omitted, detail)
}

/// The annotation that groups of the community need.
const APPROVED: &str = "api-approved.kubernetes.io";

// Upstream: apiextensions-apiserver/pkg/apihelpers/helpers.go, IsProtectedCommunityGroup, GetAPIApprovalState
fn check_approval(definition: &Value<'_>, errors: &mut ErrorList) {
    let group = text_at(definition, &["spec", "group"]);
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        let parent = group.strip_suffix(domain);
        parent.is_some_and(|parent| parent.is_empty() || parent.ends_with('.'))
    });
    let approval = text_at(definition, &["metadata", "annotations", APPROVED]);
    let has_host = || {
        let rest = approval
            .split_once("://")
            .filter(|(scheme, _)| !scheme.is_empty());
        rest.is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'))
    };
    if !is_protected || approval.starts_with("unapproved") || has_host() {
        return;
    }
    let path = Path::METADATA.child("annotations");
    let path = path.key(APPROVED);
    let needs = format!(
        "protected groups must have approval annotation {}",
        quote(APPROVED)
    );
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match approval.is_empty() {
        true => errors.push(Error::required(path, &format!("{needs}, {see}"))),
        false => {
            let either = "with either a URL or a reason starting with \"unapproved\"";
            errors.push(Error::invalid(
                path,
                approval,
                &format!("{needs} {either}, {see}"),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::CustomResource;

    const SCHEMA: &str = r#""schema":{"openAPIV3Schema":{"type":"object"}}"#;

    #[track_caller]
    fn check(metadata: &str, spec: &str, versions: &str, expected: &str) {
        let text = format!(
            r#"{{"metadata":{metadata},"spec":{{{spec},"scope":"Namespaced","versions":[{versions}]}}}}"#
        );
        let text = text.replace("SCHEMA", SCHEMA);
        let definition = pratique_json::parse(text.as_bytes()).unwrap();
        let errors = CustomResource::compile(&definition)
            .err()
            .map(|error| error.errors);
        let errors: Vec<String> = errors
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors.join("\n"), expected, "{text}");
    }

    const V1: &str = r#"{"name":"v1","served":true,"storage":true,SCHEMA}"#;

    #[test]
    fn names_are_those_that_a_server_takes() {
        let named = |name: &str| format!(r#"{{"name":"{name}"}}"#);
        let spec = |group: &str, plural: &str, kind: &str| {
            format!(r#""group":"{group}","names":{{"plural":"{plural}","kind":"{kind}"}}"#)
        };
        let widgets = spec("example.com", "widgets", "Widget");
        check(&named("widgets.example.com"), &widgets, V1, "");
        check(
            "{}",
            &widgets,
            V1,
            "metadata.name: Required value: name or generateName is required",
        );
        check(
            &named("widget.example.com"),
            &widgets,
            V1,
            "metadata.name: Invalid value: \"widget.example.com\": must be spec.names.plural+\".\"+spec.group",
        );
        check(
            &named("foos.apps"),
            &spec("apps", "foos", "Deployment"),
            V1,
            "spec.group: Invalid value: \"apps\": should be a domain with at least one dot",
        );
        let two = r#"{"name":"v1","served":true,"storage":true,SCHEMA},{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","description":"b"}}}"#;
        check(
            &named("widgets.example.com"),
            &widgets,
            two,
            "spec.versions: Invalid value: must contain unique version names\n\
             spec.versions: Invalid value: must have exactly one version marked as storage version",
        );
    }

    #[test]
    fn groups_of_kubernetes_are_protected() {
        let spec = |plural: &str, kind: &str| {
            format!(r#""group":"networking.k8s.io","names":{{"plural":"{plural}","kind":"{kind}"}}"#)
        };
        let approved = |name: &str| {
            format!(
                r#"{{"name":"{name}.networking.k8s.io","annotations":{{"api-approved.kubernetes.io":"https://example.com/1"}}}}"#
            )
        };
        check(&approved("widgets"), &spec("widgets", "Widget"), V1, "");
        check(
            r#"{"name":"widgets.networking.k8s.io"}"#,
            &spec("widgets", "Widget"),
            V1,
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval \
             annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111",
        );
        for (plural, kind) in [("foos", "Ingress"), ("ingresses", "Foo")] {
            check(
                &approved(plural),
                &spec(plural, kind),
                V1,
                "spec.names: Forbidden: Kubernetes itself serves ingresses.networking.k8s.io of kind Ingress, and not this \
                 resource",
            );
        }
    }
}
