//! StorageVersions: the versions in which the servers of a cluster store a resource.

use pratique_gotext::validation::{dns1035_label, dns1123_subdomain, qualified_name};
use pratique_types::field::{BadValue, Path};

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::validate_core_meta;
use crate::seen_texts::SeenTexts;

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "internal.apiserver.k8s.io",
    kind: "StorageVersion",
    is_namespaced: false,
    create: |request, errors| {
        let metadata = request.object.child("metadata");
        validate_core_meta(&metadata, false, |name, _| name_messages(name), errors);
        validate_status(request, errors);
    },
    // The specification is empty.
    update: |_, _| {},
    subresources: &[("status", validate_status)],
}];

/// `group.resource`
// Upstream: pkg/apis/apiserverinternal/validation/validation.go, ValidateStorageVersionName
fn name_messages(name: &str) -> Vec<String> {
    let Some((group, resource)) = name.rsplit_once('.') else {
        return vec!["name must be in the form of <group>.<resource>".to_owned()];
    };
    let mut messages = with_prefix("the group segment ", dns1123_subdomain(group));
    messages.extend(with_prefix("the resource segment ", dns1035_label(resource)));
    messages
}

fn with_prefix(prefix: &str, messages: Vec<String>) -> Vec<String> {
    let messages = messages.into_iter();
    messages.map(|message| format!("{prefix}{message}")).collect()
}

// Upstream: pkg/apis/apiserverinternal/validation/validation.go, validateStorageVersionStatus
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let status = request.object.child("status");
    let servers = status.child("storageVersions");
    let mut ids = SeenTexts::default();
    for server in servers.items() {
        let id = server.child("apiServerID");
        if !ids.insert(id.as_text()) {
            errors.duplicate(id, id.as_text());
        }
        validate_server(&server, errors);
    }
    validate_common_version(&servers, &status.child("commonEncodingVersion"), errors);
    validate_conditions(&status, errors);
}

// Upstream: pkg/apis/apiserverinternal/validation/validation.go, validateServerStorageVersion
fn validate_server(server: &Node<'_, '_>, errors: &mut Errors) {
    let id = server.child("apiServerID");
    for message in subdomain_name(id.as_text(), false) {
        errors.invalid_or_empty(&id, &message);
    }
    let (encoding, decodable) = (server.child("encodingVersion"), server.child("decodableVersions"));
    validate_version(&encoding, errors);
    for version in decodable.items() {
        validate_version(&version, errors);
    }
    let is_decodable = |version: &str| decodable.items().any(|decodable| decodable.as_text() == version);
    if !is_decodable(encoding.as_text()) {
        let detail = format!(
            "decodableVersions must include encodingVersion {}",
            encoding.as_text()
        );
        errors.invalid_value(&decodable, &detail);
    }
    for served in server.child("servedVersions").items() {
        validate_version(&served, errors);
        let version = served.as_text();
        if !is_decodable(version) {
            let versions: Vec<&str> = decodable.items().map(|version| version.as_text()).collect();
            let detail = format!(
                "individual served version : {version} must be included in decodableVersions : [{}]",
                versions.join(" ")
            );
            errors.invalid(served, version, &detail);
        }
    }
}

// Upstream: pkg/apis/apiserverinternal/validation/validation.go, isValidAPIVersion
fn validate_version(field: &Node<'_, '_>, errors: &mut Errors) {
    let messages = version_messages(field.as_text());
    if !messages.is_empty() {
        errors.invalid_or_empty(field, &messages.join(","));
    }
}

fn version_messages(text: &str) -> Vec<String> {
    const EMPTY: &str = "must be non-empty";
    let (group, version) = match text.split_once('/') {
        None => (None, text),
        Some((group, version)) => (Some(group), version),
    };
    if version.contains('/') {
        return vec![
            "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an \
             alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. \
             'example.com/MyVersion')"
                .to_owned(),
        ];
    }
    let mut messages = match group {
        None => Vec::new(),
        Some("") => vec![format!("group part: {EMPTY}")],
        Some(group) => with_prefix("group part: ", dns1123_subdomain(group)),
    };
    if version.is_empty() {
        messages.push(format!("version part: {EMPTY}"));
    } else {
        messages.extend(with_prefix("version part: ", dns1035_label(version)));
    }
    messages
}

// Upstream: pkg/apis/apiserverinternal/validation/validation.go, validateCommonVersion
fn validate_common_version(servers: &Node<'_, '_>, field: &Node<'_, '_>, errors: &mut Errors) {
    let mut versions = servers
        .items()
        .map(|server| server.child("encodingVersion").as_text());
    let first = versions.next();
    let common = first.filter(|first| versions.all(|version| version == *first));
    match (common, field.is_set()) {
        (None, false) => {}
        (None, true) => errors.invalid_or_empty(
            field,
            "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the \
             supported versions yet",
        ),
        (Some(common), false) => {
            let detail = format!("the common encoding version is {common}");
            errors.invalid(field, BadValue::Prepared("null".into()), &detail);
        }
        (Some(common), true) if field.as_text() != common => {
            errors.invalid_or_empty(field, &format!("the actual common encoding version is {common}"));
        }
        (Some(_), true) => {}
    }
}

// Upstream: pkg/apis/apiserverinternal/validation/validation.go, validateStorageVersionCondition
fn validate_conditions(status: &Node<'_, '_>, errors: &mut Errors) {
    let conditions = status.child("conditions");
    for (at, condition) in conditions.items().enumerate() {
        // The paths are without the name of the list.
        let path = status.path().index(at);
        let kind = field_at(&condition, "type", &path);
        // The last of those before it is named.
        let mut earlier = conditions.items().take(at).enumerate();
        let twin = earlier
            .by_ref()
            .filter(|(_, earlier)| earlier.child("type").as_text() == kind.as_text());
        if let Some((other, _)) = twin.last() {
            let detail =
                format!("the type of the condition is not unique, it also appears in conditions[{other}]");
            errors.invalid_or_empty(&kind, &detail);
        }
        for field in [kind, field_at(&condition, "status", &path)] {
            for message in qualified_name(field.as_text()) {
                errors.invalid_or_empty(&field, &message);
            }
        }
        for name in ["reason", "message"] {
            let field = field_at(&condition, name, &path);
            if field.as_text().is_empty() {
                errors.required(field, "");
            }
        }
    }
}

fn field_at<'p, 'v>(condition: &Node<'_, 'v>, name: &'p str, path: &'p Path<'p>) -> Node<'p, 'v> {
    let value = condition.child(name).value();
    Node::with_path(value, path.child(name))
}
