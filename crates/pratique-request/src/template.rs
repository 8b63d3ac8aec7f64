//! Builds the admission request of an object.

use pratique_json::{Object, Value};
use pratique_types::{
    AdmissionRequest, GroupVersion, GroupVersionKind, InvalidGroupVersion, Operation, UserInfo,
};

use crate::resource::{Resolution, ResourceError, ResourceResolver, Target};
use crate::subresource::SubresourceError;
use pratique_json::text_at;

/// The namespace of objects that name none, where nobody says another.
pub const DEFAULT_NAMESPACE: &str = "default";

/// The user who sends requests, where nobody says another: that of the administrator whom kubeadm makes.
pub const DEFAULT_USER: &str = "kubernetes-admin";

/// The parameters of a request that is built from an object.
#[derive(Clone, Debug, Default)]
pub struct RequestTemplate {
    /// The operation.
    pub operation: Operation,
    /// The namespace of objects without one.
    pub namespace: String,
    /// The name in the request, if it differs from the object's.
    pub name: Option<String>,
    /// The resource of objects whose kind is not known.
    pub resource: Option<String>,
    /// The subresource.
    pub subresource: String,
    /// The user who sends the request.
    pub user: UserInfo,
    /// Whether it is a dry run.
    pub dry_run: bool,
    /// The options, by default those of the operation.
    pub options: Option<Value<'static>>,
}

/// Why no request can be built from an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// It has no kind or version.
    #[error(transparent)]
    NoKind(#[from] KindError),
    /// The resource of its kind is not known.
    #[error("kind {0} is not known")]
    UnknownKind(String),
    /// Subresources of several resources have objects of its kind.
    #[error("objects of kind {0} are sent to several resources")]
    SeveralResources(String),
    /// The resource has no such subresource.
    #[error(transparent)]
    Subresource(#[from] SubresourceError),
    /// The resource of its kind is known, and differs from the requested one.
    #[error("{requested} was requested, but the resource of kind {kind} is {known}")]
    OtherResource {
        /// The kind.
        kind: String,
        /// The requested resource.
        requested: String,
        /// The resource of the kind.
        known: String,
    },
    /// An update needs the stored object, which was not found.
    #[error("an update needs the stored object")]
    NoOldObject,
}

/// Why an object has no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KindError {
    /// Its `kind` is missing.
    #[error("Object 'Kind' is missing")]
    NoKind,
    /// Its `apiVersion` is missing.
    #[error("Object 'apiVersion' is missing")]
    NoVersion,
    /// Its `apiVersion` is none.
    #[error(transparent)]
    Version(#[from] InvalidGroupVersion),
}

impl RequestTemplate {
    /// Builds the request for an object, the `number`th of a run, and tells what is known of its resource.
    ///
    /// `old` finds the stored form of the object, which it gets with its kind and the namespace of the request.
    ///
    /// # Errors
    /// There is no kind, its objects may be sent to several resources, or it is not that of the requested resource.
    pub fn request<'v>(
        &self,
        object: Value<'v>,
        old: impl FnOnce(&Value<'v>, &GroupVersionKind) -> Option<Value<'v>>,
        resolver: &ResourceResolver,
        number: usize,
    ) -> Result<(AdmissionRequest<'v>, Resolution), BuildError> {
        let kind = kind_of(&object)?;
        let resolution = self.resolve(&kind, resolver)?;
        let request = self.request_to(object, kind, &resolution, old, number)?;
        Ok((request, resolution))
    }

    /// Finds the resource of a kind, for which the requested one is used if it is not known.
    ///
    /// # Errors
    /// Its objects may be sent to several resources, or it is not that of the requested resource.
    pub fn resolve(
        &self,
        kind: &GroupVersionKind,
        resolver: &ResourceResolver,
    ) -> Result<Resolution, BuildError> {
        let resolved = resolver.resolve(kind, self.resource.as_deref(), &self.subresource);
        resolved.map_err(|error| {
            let kind = format!("{} of {}", kind.kind, kind.api_version());
            match error {
                ResourceError::Several => BuildError::SeveralResources(kind),
                ResourceError::Conflict { requested, known } => BuildError::OtherResource {
                    kind,
                    requested,
                    known,
                },
            }
        })
    }

    /// [`request`](Self::request) for an object whose kind and resource were found before.
    ///
    /// # Errors
    /// It is an update, and `old` finds nothing.
    pub fn request_to<'v>(
        &self,
        object: Value<'v>,
        kind: GroupVersionKind,
        resolution: &Resolution,
        old: impl FnOnce(&Value<'v>, &GroupVersionKind) -> Option<Value<'v>>,
        number: usize,
    ) -> Result<AdmissionRequest<'v>, BuildError> {
        let target = resolution.target();
        let object = self.with_namespace(object, &target);
        let old = old(&object, &kind).map(|old| self.with_namespace(old, &target));
        let mut request = self.without_objects(&object, kind, target);
        request.uid = format!("00000000-0000-0000-0000-{number:012}");
        request.assumes_resource = matches!(resolution, Resolution::Assumed(_));
        (request.object, request.old_object) = match self.operation {
            Operation::Create | Operation::Connect | Operation::None => (object, Value::Null),
            Operation::Delete => (Value::Null, object),
            Operation::Update => (object, old.ok_or(BuildError::NoOldObject)?),
        };
        Ok(request)
    }

    /// Builds a request without objects.
    fn without_objects<'v>(
        &self,
        object: &Value<'v>,
        kind: GroupVersionKind,
        target: Target,
    ) -> AdmissionRequest<'v> {
        let name = self
            .name
            .clone()
            .unwrap_or_else(|| text_at(object, &["metadata", "name"]).to_owned());
        let namespace = match &target {
            // The request namespace of a Namespace is its name.
            target if is_namespaces(target) => name.clone(),
            target => self.namespace(object, target),
        };
        AdmissionRequest {
            request_kind: Some(kind.clone()),
            request_resource: Some(target.resource.clone()),
            request_sub_resource: self.subresource.clone(),
            kind,
            resource: target.resource,
            sub_resource: self.subresource.clone(),
            name,
            namespace,
            operation: self.operation,
            user_info: self.user.clone(),
            dry_run: Some(self.dry_run),
            options: self
                .options
                .clone()
                .unwrap_or_else(|| options(self.operation, self.dry_run)),
            ..AdmissionRequest::default()
        }
    }

    /// The namespace of a request: that of the object, or the default.
    fn namespace(&self, object: &Value<'_>, target: &Target) -> String {
        match (target.namespaced, text_at(object, &["metadata", "namespace"])) {
            (Some(false), _) => String::new(),
            (Some(true), "") => self.namespace.clone(),
            (_, namespace) => namespace.to_owned(),
        }
    }

    /// Sets the namespace of the request in the object, as a server does before admission.
    fn with_namespace<'v>(&self, object: Value<'v>, target: &Target) -> Value<'v> {
        let mut object = object;
        let namespace = self.namespace(&object, target);
        if let Value::Object(fields) = &mut object
            && let Some(Value::Object(metadata)) = fields.get_mut("metadata")
            && !namespace.is_empty()
        {
            metadata.insert("namespace", namespace);
        }
        object
    }
}

/// The kind of an object.
///
/// # Errors
/// It has none, or no version.
pub fn kind_of(object: &Value<'_>) -> Result<GroupVersionKind, KindError> {
    match (text_at(object, &["kind"]), text_at(object, &["apiVersion"])) {
        ("", _) => Err(KindError::NoKind),
        (_, "") => Err(KindError::NoVersion),
        (kind, version) => Ok(GroupVersion::parse(version)?.with_kind(kind)),
    }
}

fn is_namespaces(target: &Target) -> bool {
    target.resource.group.is_empty() && target.resource.resource == "namespaces"
}

/// The default options of an operation.
pub fn options(operation: Operation, dry_run: bool) -> Value<'static> {
    let kind = match operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
        Operation::Connect | Operation::None => return Value::Null,
    };
    let mut options = Object::new();
    options.insert("apiVersion", "meta.k8s.io/v1");
    options.insert("kind", kind);
    if dry_run {
        options.insert("dryRun", vec![Value::from("All")]);
    }
    Value::Object(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user;

    /// Builds the request of an object, as JSON.
    fn made(template: &RequestTemplate, object: &str, old: Option<&str>) -> String {
        let read = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let template = RequestTemplate {
            user: user("ann", &[]),
            namespace: "default".to_owned(),
            ..template.clone()
        };
        let resolver = ResourceResolver::default();
        let request = template.request(read(object), |_, _| old.map(read), &resolver, 1);
        match request {
            Ok((request, Resolution::Known(_))) => serde_json::to_string(&request).unwrap(),
            Ok((_, resolution)) => format!("{resolution:?}"),
            Err(error) => error.to_string(),
        }
    }

    fn doing(operation: Operation) -> RequestTemplate {
        RequestTemplate {
            operation,
            ..RequestTemplate::default()
        }
    }

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}"#;

    #[test]
    fn a_whole_request() {
        let template = RequestTemplate {
            dry_run: true,
            ..RequestTemplate::default()
        };
        assert_eq!(
            made(&template, POD, None),
            concat!(
                r#"{"uid":"00000000-0000-0000-0000-000000000001","kind":{"group":"","version":"v1","kind":"Pod"},"#,
                r#""resource":{"group":"","version":"v1","resource":"pods"},"#,
                r#""requestKind":{"group":"","version":"v1","kind":"Pod"},"#,
                r#""requestResource":{"group":"","version":"v1","resource":"pods"},"#,
                r#""name":"p","namespace":"default","operation":"CREATE","#,
                r#""userInfo":{"username":"ann","groups":["system:authenticated"]},"#,
                r#""object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"}},"#,
                r#""oldObject":null,"dryRun":true,"#,
                r#""options":{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"kind":"CreateOptions"}}"#,
            )
        );
    }

    #[test]
    fn operations_place_the_object() {
        let deleted = made(&doing(Operation::Delete), POD, None);
        assert!(
            deleted.contains(r#""object":null,"oldObject":{"apiVersion":"v1""#),
            "{deleted}"
        );
        let old = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}}}"#;
        let updated = made(&doing(Operation::Update), POD, Some(old));
        assert!(
            updated.contains(r#""labels":{"a":"b"},"name":"p","namespace":"default"}"#),
            "{updated}"
        );
        let without = made(&doing(Operation::Update), POD, None);
        assert_eq!(without, "an update needs the stored object");
    }

    #[test]
    fn a_namespace_is_in_itself() {
        let made = made(
            &RequestTemplate::default(),
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#,
            None,
        );
        assert!(made.contains(r#""name":"shop","namespace":"shop""#), "{made}");
        assert!(made.contains(r#""metadata":{"name":"shop"}"#), "{made}");
    }

    #[test]
    fn objects_have_to_say_what_they_are() {
        let made = |object| made(&RequestTemplate::default(), object, None);
        assert_eq!(made(r#"{"a":1}"#), "Object 'Kind' is missing");
        assert_eq!(made(r#"{"kind":"Pod"}"#), "Object 'apiVersion' is missing");
    }

    #[test]
    fn requests_tell_where_their_resource_was_assumed() {
        let read = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let resolver = ResourceResolver::default();
        for (object, expected) in [
            (r#"{"kind":"Widget","apiVersion":"example.com/v1"}"#, true),
            (POD, false),
        ] {
            let template = RequestTemplate::default();
            let (request, _) = template.request(read(object), |_, _| None, &resolver, 1).unwrap();
            assert_eq!(request.assumes_resource, expected, "{object}");
        }
    }
}
