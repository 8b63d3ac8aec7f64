//! Validates requests: whether an API server could send them.
//!
//! Policies match `pods` and not `Pods`: a request with a name that no API server uses matches nothing, and would be
//! allowed.

mod known_resources;

use pratique_gotext::validation::is_dns1123_label;
use pratique_json::Value;

use self::known_resources::KNOWN;
use crate::builtin::ServedResource;
use crate::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};

/// Why no API server sends a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRequest {
    /// `operation` is not set.
    #[error("operation: must be one of CREATE, UPDATE, DELETE and CONNECT")]
    Operation,
    /// A field is empty that never is.
    #[error("{0}: must not be empty")]
    Empty(RequestField),
    /// A field has a value that it cannot have.
    #[error("{field}: {value:?} {problem}")]
    Value {
        /// The field.
        field: RequestField,
        /// Its value.
        value: String,
        /// What is wrong with the value.
        problem: FieldProblem,
    },
    /// The resource is one of objects of another kind.
    #[error("kind: requests for {resource} carry objects of kind {expected}, not {found}")]
    Kind {
        /// The resource, with its part.
        resource: String,
        /// The kind of its objects.
        expected: String,
        /// The kind that the request states.
        found: String,
    },
    /// The objects of a built-in kind are those of another resource.
    #[error("resource: objects of kind {kind} are those of {expected}, not of {found}")]
    Resource {
        /// The kind.
        kind: String,
        /// The resource of its objects.
        expected: String,
        /// The resource that the request states.
        found: String,
    },
    /// The objects of a built-in resource belong to namespaces, and the request is in none.
    #[error("namespace: must not be empty, as {0} belong to namespaces")]
    NoNamespace(String),
    /// The objects of a built-in resource belong to no namespace, and the request is in one.
    #[error("namespace: must be empty, as {0} belong to no namespace")]
    Namespaced(String),
    /// The kind is not of the group and the version of the resource, as the kinds of all whole objects are.
    #[error("kind: requests for {resource} carry objects of the same group and version, not {found}")]
    GroupVersion {
        /// The resource, with its group and version.
        resource: String,
        /// The kind that the request states, with its group and version.
        found: String,
    },
    /// An object states another kind than the request.
    #[error("{field}: is of kind {found}, and the request about kind {expected}")]
    Object {
        /// `object` or `oldObject`
        field: RequestField,
        /// The kind of the request.
        expected: String,
        /// The kind that the object states.
        found: String,
    },
    /// An object is something else.
    #[error("{0}: must be an object")]
    NoObject(RequestField),
    /// The operation has an object that is not there.
    #[error("{field}: must not be null for {operation}")]
    Missing {
        /// `object` or `oldObject`
        field: RequestField,
        /// The operation.
        operation: Operation,
    },
    /// The operation has no such object.
    #[error("{field}: must be null for {operation}")]
    Unexpected {
        /// `object` or `oldObject`
        field: RequestField,
        /// The operation.
        operation: Operation,
    },
}

/// A field of a request, as its path.
pub type RequestField = &'static str;

/// What is wrong with the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// A name in a URL of the API.
    #[error("is not the name of a resource: lower-case letters, digits and '-'")]
    Resource,
    /// It has a part of a resource in it.
    #[error("names a part of a resource, which belongs into subResource")]
    Part,
    /// A part of a resource.
    #[error("is not the name of a part of a resource")]
    SubResource,
    /// The core group has no name.
    #[error("is not the name of a group: that of the core group is empty")]
    Core,
    /// The name of a group.
    #[error("is not the name of a group")]
    Group,
    /// The name of a version.
    #[error("is not the name of a version")]
    Version,
    /// The name of a kind.
    #[error("is not the name of a kind")]
    Name,
    /// The name of a namespace.
    #[error("is not the name of a namespace")]
    Namespace,
}

impl AdmissionRequest<'_> {
    /// Whether an API server may send this request: all that its fields say is possible, and goes together. The name is
    /// not looked at, as that of an object which is to be created may be any text before it is validated.
    ///
    /// # Errors
    /// The first field that no API server writes like this.
    pub fn validate(&self) -> Result<(), InvalidRequest> {
        if self.operation == Operation::None {
            return Err(InvalidRequest::Operation);
        }
        check_resource(&self.resource, &RESOURCE)?;
        check_subresource("subResource", &self.sub_resource)?;
        check_kind(&self.kind, &KIND)?;
        if let Some(resource) = &self.request_resource {
            check_resource(resource, &REQUEST_RESOURCE)?;
        }
        check_subresource("requestSubResource", &self.request_sub_resource)?;
        if let Some(kind) = &self.request_kind {
            check_kind(kind, &REQUEST_KIND)?;
        }
        let namespace = &self.namespace;
        require(
            namespace.is_empty() || is_dns1123_label(namespace),
            "namespace",
            namespace,
            FieldProblem::Namespace,
        )?;
        self.check_carried()?;
        check_versions(&self.resource, &self.sub_resource, &self.kind)?;
        if let (Some(resource), Some(kind)) = (&self.request_resource, &self.request_kind) {
            check_versions(resource, &self.request_sub_resource, kind)?;
        }
        self.check_plural()?;
        self.check_scope()?;
        self.check_presence()?;
        self.check_object("object", &self.object)?;
        self.check_object("oldObject", &self.old_object)
    }

    /// Whether requests for a built-in resource carry objects of this kind, in whichever version.
    fn check_carried(&self) -> Result<(), InvalidRequest> {
        let resource = self.resource.resource.as_str();
        let Some(ServedResource { kind: expected, .. }) = self.served_part(&self.sub_resource) else {
            return Ok(());
        };
        if expected.kind == self.kind.kind && expected.group == self.kind.group {
            return Ok(());
        }
        let mut named = self.resource.group_resource();
        if !self.sub_resource.is_empty() {
            named.resource = format!("{resource}/{}", self.sub_resource);
        }
        Err(InvalidRequest::Kind {
            resource: named.to_string(),
            expected: expected.group_kind().to_string(),
            found: self.kind.group_kind().to_string(),
        })
    }

    /// Whether the resource is not a misspelt one, such as `deployment`: requests about objects of a built-in kind are for its
    /// resource.
    fn check_plural(&self) -> Result<(), InvalidRequest> {
        if !self.sub_resource.is_empty() || self.served_part("").is_some() {
            return Ok(());
        }
        match KNOWN
            .by_kind
            .get(&(self.kind.group.as_str(), self.kind.kind.as_str()))
        {
            Some(served) => Err(InvalidRequest::Resource {
                kind: self.kind.group_kind().to_string(),
                expected: served.resource.group_resource().to_string(),
                found: self.resource.group_resource().to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Whether a request for a built-in resource is in a namespace if its objects are. Those for namespaces may be in themselves.
    ///
    /// Upstream: apiserver/pkg/endpoints/request/requestinfo.go, `NewRequestInfo`
    fn check_scope(&self) -> Result<(), InvalidRequest> {
        let Some(served) = self.served_part("") else {
            return Ok(());
        };
        let resource = || self.resource.group_resource().to_string();
        match (served.namespaced, self.namespace.is_empty()) {
            (true, true) => Err(InvalidRequest::NoNamespace(resource())),
            (false, false) if !served.kind.is_core("Namespace") => {
                Err(InvalidRequest::Namespaced(resource()))
            }
            _ => Ok(()),
        }
    }

    /// A part of the built-in resource, or the whole one, in whichever version.
    fn served_part(&self, part: &str) -> Option<&'static ServedResource> {
        let GroupVersionResource { group, resource, .. } = &self.resource;
        KNOWN
            .by_resource
            .get(&(group.as_str(), resource.as_str(), part))
            .copied()
    }

    fn check_presence(&self) -> Result<(), InvalidRequest> {
        let operation = self.operation;
        let (object, old_object) = match operation {
            Operation::Create => (Some(true), Some(false)),
            Operation::Update => (Some(true), Some(true)),
            // The deletion of a collection has no object, and neither had any deletion long ago.
            Operation::Delete => (Some(false), None),
            Operation::Connect | Operation::None => (None, Some(false)),
        };
        for (field, value, expected) in [
            ("object", &self.object, object),
            ("oldObject", &self.old_object, old_object),
        ] {
            match (expected, value.is_null()) {
                (Some(true), true) => return Err(InvalidRequest::Missing { field, operation }),
                (Some(false), false) => return Err(InvalidRequest::Unexpected { field, operation }),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether an object is of the kind of the request. One that does not say of which it is, is.
    fn check_object(&self, field: RequestField, object: &Value<'_>) -> Result<(), InvalidRequest> {
        let members = match object {
            Value::Null => return Ok(()),
            Value::Object(members) => members,
            _ => return Err(InvalidRequest::NoObject(field)),
        };
        let is = |name: &str, expected: &dyn Fn(&str) -> bool| match members.get(name) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty() || expected(text),
            Some(_) => false,
        };
        if is("kind", &|kind| kind == self.kind.kind) && is("apiVersion", &|of| self.kind.is_of_version(of)) {
            return Ok(());
        }
        let text = |name: &str| members.get(name).map(Value::to_string).unwrap_or_default();
        let name = |version: &str, kind: &str| format!("{kind} of {version}");
        Err(InvalidRequest::Object {
            field,
            expected: name(&self.kind.api_version(), &self.kind.kind),
            found: name(&text("apiVersion"), &text("kind")).replace('"', ""),
        })
    }
}

/// The fields of a resource or a kind: its group, its version and its name.
type KindFields = [RequestField; 3];

const RESOURCE: KindFields = ["resource.group", "resource.version", "resource.resource"];
const KIND: KindFields = ["kind.group", "kind.version", "kind.kind"];
const REQUEST_RESOURCE: KindFields = [
    "requestResource.group",
    "requestResource.version",
    "requestResource.resource",
];
const REQUEST_KIND: KindFields = ["requestKind.group", "requestKind.version", "requestKind.kind"];

fn check_resource(
    resource: &GroupVersionResource,
    [group, version, name]: &KindFields,
) -> Result<(), InvalidRequest> {
    check_group(&resource.group, group)?;
    check_version(&resource.version, version)?;
    let resource = resource.resource.as_str();
    filled(resource, name)?;
    require(!resource.contains('/'), name, resource, FieldProblem::Part)?;
    require(is_dns1123_label(resource), name, resource, FieldProblem::Resource)
}

fn check_kind(kind: &GroupVersionKind, [group, version, name]: &KindFields) -> Result<(), InvalidRequest> {
    check_group(&kind.group, group)?;
    check_version(&kind.version, version)?;
    filled(&kind.kind, name)?;
    require(
        is_dns1123_label(&kind.kind.to_ascii_lowercase()),
        name,
        &kind.kind,
        FieldProblem::Name,
    )
}

/// Whether a kind is of the group and version of its resource. Parts may have those of another: an `Eviction` of a Pod is of
/// the group `policy`.
///
/// Upstream: apiserver/pkg/endpoints/installer.go, `GetResourceKind`
fn check_versions(
    resource: &GroupVersionResource,
    subresource: &str,
    kind: &GroupVersionKind,
) -> Result<(), InvalidRequest> {
    if !subresource.is_empty() || (resource.group == kind.group && resource.version == kind.version) {
        return Ok(());
    }
    let of_resource = GroupVersionKind::new(&resource.group, &resource.version, &resource.resource);
    Err(InvalidRequest::GroupVersion {
        resource: format!("{} of {}", resource.resource, of_resource.api_version()),
        found: format!("{} of {}", kind.kind, kind.api_version()),
    })
}

fn check_subresource(field: RequestField, part: &str) -> Result<(), InvalidRequest> {
    let is_name = |name: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !name.is_empty() && name.bytes().all(is_plain)
    };
    require(
        part.is_empty() || part.split('/').all(is_name),
        field,
        part,
        FieldProblem::SubResource,
    )
}

fn check_group(group: &str, field: RequestField) -> Result<(), InvalidRequest> {
    require(group != "core", field, group, FieldProblem::Core)?;
    require(
        group.is_empty() || group.split('.').all(is_dns1123_label),
        field,
        group,
        FieldProblem::Group,
    )
}

fn check_version(version: &str, field: RequestField) -> Result<(), InvalidRequest> {
    filled(version, field)?;
    require(is_dns1123_label(version), field, version, FieldProblem::Version)
}

fn filled(value: &str, field: RequestField) -> Result<(), InvalidRequest> {
    if value.is_empty() {
        Err(InvalidRequest::Empty(field))
    } else {
        Ok(())
    }
}

fn require(
    holds: bool,
    field: RequestField,
    value: &str,
    problem: FieldProblem,
) -> Result<(), InvalidRequest> {
    if holds {
        Ok(())
    } else {
        Err(InvalidRequest::Value {
            field,
            value: value.to_owned(),
            problem,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request with some fields set otherwise, each by its path.
    #[track_caller]
    fn check(changes: &[(&str, &str)], expected: Result<(), &str>) {
        let mut request: serde_json::Value = serde_json::from_str(
            r#"{"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
                "namespace":"shop","operation":"UPDATE","object":{"apiVersion":"v1","kind":"Pod"},
                "oldObject":{"metadata":{}}}"#,
        )
        .unwrap();
        for (path, value) in changes {
            let value = serde_json::from_str(value).unwrap();
            match path.split_once('.') {
                Some((of, field)) => request[of][field] = value,
                None => request[path] = value,
            }
        }
        let text = request.to_string();
        let request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
        let found = request.validate().map_err(|error| error.to_string());
        assert_eq!(
            found.as_ref().copied().map_err(String::as_str),
            expected,
            "{changes:?}"
        );
    }

    #[test]
    fn what_api_servers_send_is_valid() {
        check(&[], Ok(()));
        check(&[("operation", r#""DELETE""#), ("object", "null")], Ok(()));
        check(
            &[
                ("operation", r#""DELETE""#),
                ("object", "null"),
                ("oldObject", "null"),
            ],
            Ok(()),
        );
        check(&[("operation", r#""CREATE""#), ("oldObject", "null")], Ok(()));
        check(&[("name", r#""a/b\n""#), ("subResource", r#""status""#)], Ok(()));
        let eviction = [
            ("operation", r#""CREATE""#),
            ("subResource", r#""eviction""#),
            (
                "kind",
                r#"{"group":"policy","version":"v1beta1","kind":"Eviction"}"#,
            ),
            ("object", r#"{"apiVersion":"policy/v1beta1","kind":"Eviction"}"#),
            ("oldObject", "null"),
        ];
        check(&eviction, Ok(()));
        let proxy = [
            ("operation", r#""CONNECT""#),
            ("subResource", r#""proxy""#),
            ("kind.kind", r#""PodProxyOptions""#),
            ("object", r#"{"kind":"PodProxyOptions","path":"x"}"#),
            ("oldObject", "null"),
        ];
        check(&proxy, Ok(()));
        let custom = [
            (
                "resource",
                r#"{"group":"vm.example.com","version":"v1alpha3","resource":"machines"}"#,
            ),
            ("subResource", r#""sev/fetch_chain""#),
            (
                "kind",
                r#"{"group":"vm.example.com","version":"v1","kind":"VMachine"}"#,
            ),
            (
                "object",
                r#"{"apiVersion":"vm.example.com/v1","kind":"VMachine"}"#,
            ),
        ];
        check(&custom, Ok(()));
    }

    #[test]
    fn objects_of_a_built_in_kind_are_those_of_its_resource() {
        let deployment = |resource: &str, expected: Result<(), &str>| {
            let resource = format!(r#"{{"group":"apps","version":"v1","resource":"{resource}"}}"#);
            let kind = r#"{"group":"apps","version":"v1","kind":"Deployment"}"#;
            let object = r#"{"apiVersion":"apps/v1","kind":"Deployment"}"#;
            let changes = [
                ("resource", resource.as_str()),
                ("kind", kind),
                ("object", object),
            ];
            check(&changes, expected);
        };
        deployment("deployments", Ok(()));
        for name in ["deployment", "deploy"] {
            let error = format!(
                "resource: objects of kind Deployment.apps are those of deployments.apps, not of {name}.apps"
            );
            deployment(name, Err(&error));
        }
        // A part that is not known may be one of a newer release.
        check(&[("subResource", r#""checkpoint""#)], Ok(()));
    }

    #[test]
    fn objects_are_where_their_kind_is() {
        let none = Err("namespace: must not be empty, as pods belong to namespaces");
        check(&[("namespace", r#""""#)], none);
        check(&[("namespace", r#""""#), ("subResource", r#""status""#)], none);
        let cluster_scoped = |resource: &str, kind: &str, namespace: &str, expected: Result<(), &str>| {
            let [resource, kind] = [resource, kind].map(|name| format!("\"{name}\""));
            let namespace = format!("\"{namespace}\"");
            let object = format!(r#"{{"apiVersion":"v1","kind":{kind}}}"#);
            check(
                &[
                    ("resource.resource", &resource),
                    ("kind.kind", &kind),
                    ("namespace", &namespace),
                    ("object", &object),
                ],
                expected,
            );
        };
        cluster_scoped("nodes", "Node", "", Ok(()));
        let within = Err("namespace: must be empty, as nodes belong to no namespace");
        cluster_scoped("nodes", "Node", "shop", within);
        // A request for a namespace is in it, but for that which creates it.
        cluster_scoped("namespaces", "Namespace", "shop", Ok(()));
        cluster_scoped("namespaces", "Namespace", "", Ok(()));
    }

    #[test]
    fn operations_are_known() {
        let error = Err("operation: must be one of CREATE, UPDATE, DELETE and CONNECT");
        check(&[("operation", r#""""#)], error);
        check(&[("operation", "null")], error);
        let text = r#"{"resource":{"version":"v1","resource":"pods"}}"#;
        let request: AdmissionRequest<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(request.validate(), Err(InvalidRequest::Operation));
    }

    #[test]
    fn names_are_those_of_the_api() {
        check(
            &[("resource.resource", r#""""#)],
            Err("resource.resource: must not be empty"),
        );
        check(
            &[("resource.resource", r#""Pods""#)],
            Err(
                r#"resource.resource: "Pods" is not the name of a resource: lower-case letters, digits and '-'"#,
            ),
        );
        check(
            &[("resource.resource", r#""pods/status""#)],
            Err(
                r#"resource.resource: "pods/status" names a part of a resource, which belongs into subResource"#,
            ),
        );
        check(
            &[("subResource", r#""/status""#)],
            Err(r#"subResource: "/status" is not the name of a part of a resource"#),
        );
        check(
            &[("resource.group", r#""core""#)],
            Err(r#"resource.group: "core" is not the name of a group: that of the core group is empty"#),
        );
        check(
            &[("kind.group", r#""Apps""#)],
            Err(r#"kind.group: "Apps" is not the name of a group"#),
        );
        check(
            &[("kind.version", r#""""#)],
            Err("kind.version: must not be empty"),
        );
        check(
            &[("resource.version", r#""*""#)],
            Err(r#"resource.version: "*" is not the name of a version"#),
        );
        check(&[("kind.kind", r#""""#)], Err("kind.kind: must not be empty"));
        check(
            &[("kind.kind", r#""Pod ""#)],
            Err(r#"kind.kind: "Pod " is not the name of a kind"#),
        );
        check(
            &[("requestKind", r#"{"group":"core","version":"v1","kind":"Pod"}"#)],
            Err(r#"requestKind.group: "core" is not the name of a group: that of the core group is empty"#),
        );
        check(
            &[("namespace", r#""a/b""#)],
            Err(r#"namespace: "a/b" is not the name of a namespace"#),
        );
    }

    #[test]
    fn objects_are_of_the_kind_of_the_request() {
        check(
            &[
                ("kind.kind", r#""ConfigMap""#),
                ("object", r#"{"kind":"ConfigMap"}"#),
            ],
            Err("kind: requests for pods carry objects of kind Pod, not ConfigMap"),
        );
        check(
            &[("subResource", r#""eviction""#)],
            Err("kind: requests for pods/eviction carry objects of kind Eviction.policy, not Pod"),
        );
        check(
            &[("object", r#"{"apiVersion":"v1","kind":"ConfigMap"}"#)],
            Err("object: is of kind ConfigMap of v1, and the request about kind Pod of v1"),
        );
        check(
            &[("oldObject", r#"{"apiVersion":"v2","kind":"Pod"}"#)],
            Err("oldObject: is of kind Pod of v2, and the request about kind Pod of v1"),
        );
        check(&[("object", "[]")], Err("object: must be an object"));
    }

    #[test]
    fn kinds_are_of_the_group_and_version_of_their_resource() {
        let deployment = ("kind", r#"{"group":"apps","version":"v1","kind":"Deployment"}"#);
        let objects = [("object", "{}"), ("oldObject", "{}")];
        let with = |resource: &'static str| {
            let resource = ("resource", resource);
            [deployment, resource, objects[0], objects[1]]
        };
        check(
            &with(r#"{"group":"apps","version":"v1","resource":"deployments"}"#),
            Ok(()),
        );
        // A field that is written wrongly is not there.
        check(
            &with(r#"{"grp":"apps","version":"v1","resource":"deployments"}"#),
            Err(
                "kind: requests for deployments of v1 carry objects of the same group and version, \
                 not Deployment of apps/v1",
            ),
        );
        check(
            &with(r#"{"group":"apps","version":"v1beta2","resource":"deployments"}"#),
            Err(
                "kind: requests for deployments of apps/v1beta2 carry objects of the same group and version, \
                 not Deployment of apps/v1",
            ),
        );
        let original = [
            (
                "requestResource",
                r#"{"group":"extensions","version":"v1beta1","resource":"pods"}"#,
            ),
            ("requestKind", r#"{"group":"apps","version":"v1","kind":"Pod"}"#),
        ];
        check(
            &original,
            Err(
                "kind: requests for pods of extensions/v1beta1 carry objects of the same group and version, \
                 not Pod of apps/v1",
            ),
        );
        let scale = [
            ("subResource", r#""scale""#),
            ("kind", r#"{"group":"autoscaling","version":"v1","kind":"Scale"}"#),
            (
                "resource",
                r#"{"group":"example.com","version":"v3","resource":"machines"}"#,
            ),
            ("object", "{}"),
        ];
        check(&scale, Ok(()));
    }

    #[test]
    fn operations_have_their_objects() {
        check(&[("object", "null")], Err("object: must not be null for UPDATE"));
        check(
            &[("oldObject", "null")],
            Err("oldObject: must not be null for UPDATE"),
        );
        check(
            &[("operation", r#""DELETE""#)],
            Err("object: must be null for DELETE"),
        );
        check(
            &[("operation", r#""CREATE""#)],
            Err("oldObject: must be null for CREATE"),
        );
        check(
            &[
                ("operation", r#""CREATE""#),
                ("object", "null"),
                ("oldObject", "null"),
            ],
            Err("object: must not be null for CREATE"),
        );
    }
}
