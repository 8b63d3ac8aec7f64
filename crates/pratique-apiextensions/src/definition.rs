//! CustomResourceDefinitions.

use std::sync::Arc;

use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value, text_at};
use pratique_schema::Release;
use pratique_types::ObjectRef;
use pratique_types::field::{Error, ErrorList, aggregate};
use pratique_validation::rules::{Errors, Node};

use crate::definition_rules::{VersionSchemas, validate_create, validate_group};
use crate::rules::KnownExpressions;
use crate::version::Version;

/// Why a definition cannot be used: the errors for which a server would refuse it, as far as this crate checks it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("CustomResourceDefinition.apiextensions.k8s.io {} is invalid: {}", quote(.name), aggregate(.errors))]
pub struct DefinitionError {
    /// The name of the definition.
    pub name: String,
    /// At least one error.
    pub errors: Vec<Error>,
}

/// A custom resource with the schemas of its versions, compiled.
#[derive(Debug)]
pub struct CustomResource {
    group: Box<str>,
    kind: Box<str>,
    plural: Box<str>,
    is_namespaced: bool,
    has_webhook: bool,
    versions: Vec<Version>,
}

impl CustomResource {
    /// Compiles a definition (`apiextensions.k8s.io/v1`) that is to be created. Defaults may be left out of it.
    ///
    /// # Errors
    /// A server refuses it, or Kubernetes itself serves the resource.
    pub fn compile(definition: &Value<'_>) -> Result<Self, DefinitionError> {
        Self::compile_in(Release::latest(), definition)
    }

    /// The same for a server of a release.
    ///
    /// # Errors
    /// A server refuses it, or Kubernetes itself serves the resource.
    pub fn compile_in(release: &'static Release, definition: &Value<'_>) -> Result<Self, DefinitionError> {
        let checked = CheckedDefinition::new(definition, release, KnownExpressions::none());
        match checked.resource.filter(|_| checked.errors.is_empty()) {
            Some(resource) => Ok(resource),
            None => Err(refused(definition, checked.errors)),
        }
    }

    /// Compiles a definition that a server has stored, perhaps at an earlier version, and returns the errors for which
    /// it would refuse it today: rules that do not compile or may cost too much. It evaluates those that compile, and
    /// refuses objects with values of the others.
    ///
    /// # Errors
    /// Its group has no custom resources, or Kubernetes itself serves the resource; a schema is not structural, or says something
    /// that cannot be followed.
    pub fn stored(definition: &Value<'_>) -> Result<(Self, Vec<Error>), DefinitionError> {
        Self::stored_in(Release::latest(), definition)
    }

    /// The same for a server of a release.
    ///
    /// # Errors
    /// As [`stored`](Self::stored).
    pub fn stored_in(
        release: &'static Release,
        definition: &Value<'_>,
    ) -> Result<(Self, Vec<Error>), DefinitionError> {
        let checked = CheckedDefinition::new(definition, release, KnownExpressions::All);
        match checked.resource {
            Some(resource) => Ok((resource, checked.errors)),
            None => Err(refused(definition, checked.errors)),
        }
    }

    /// The group of the resource.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The kind of its objects.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name of the resource: `widgets`
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Whether objects belong to namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.is_namespaced
    }

    /// Whether a webhook converts objects between versions.
    pub fn has_webhook(&self) -> bool {
        self.has_webhook
    }

    /// The versions, in the order of the definition.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// A version by its name.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name() == name)
    }
}

fn refused(definition: &Value<'_>, errors: Vec<Error>) -> DefinitionError {
    DefinitionError {
        name: ObjectRef::new(definition).name().to_owned(),
        errors,
    }
}

/// A definition, and what is wrong with it.
struct CheckedDefinition {
    /// The resource, where it can be followed.
    resource: Option<CustomResource>,
    errors: Vec<Error>,
}

impl CheckedDefinition {
    fn new(definition: &Value<'_>, release: &'static Release, known: KnownExpressions) -> Self {
        let defaulted = with_defaults(definition);
        let root = Node::root(&defaulted);
        let mut errors = Errors::of_release(release);
        let schemas = validate_create(&root, known, &mut errors);
        let group_errors = group_errors(&defaulted, release);
        let is_followed = schemas.malformed.is_empty() && group_errors.is_empty();
        let resource = is_followed.then(|| read_resource(&defaulted, &schemas, release));
        let mut all = schemas.malformed;
        all.append(errors.into_list());
        all.extend(claimed(&defaulted, release));
        CheckedDefinition {
            resource: resource.flatten(),
            errors: all.into_vec(),
        }
    }
}

/// The resource of a definition; `None` where it cannot be followed.
fn read_resource(
    definition: &Value<'_>,
    schemas: &VersionSchemas,
    release: &'static Release,
) -> Option<CustomResource> {
    let text = |path: &[&str]| text_at(definition, path);
    let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
    let is_namespaced = match text(&["spec", "scope"]) {
        "Namespaced" => true,
        "Cluster" => false,
        _ => return None,
    };
    let stated = definition.at(&["spec", "versions"]).and_then(Value::as_array)?;
    if kind.is_empty() || stated.is_empty() {
        return None;
    }
    let preserves_unknown = definition.at(&["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true));
    let mut versions = Vec::new();
    for (version, compiled) in stated.iter().zip(&schemas.compiled) {
        let has_schema = version
            .at(&["schema", "openAPIV3Schema"])
            .is_some_and(|schema| !schema.is_null());
        let compiled = match compiled {
            Some(compiled) => compiled.clone(),
            // Definitions of `v1beta1` needed no schema.
            None if preserves_unknown && !has_schema => Arc::default(),
            None => return None,
        };
        versions.push(Version::new(
            (group, kind),
            is_namespaced,
            preserves_unknown,
            version,
            (compiled, release),
        ));
    }
    crate::deprecation::set_warnings(stated, &mut versions);
    Some(CustomResource {
        group: group.into(),
        kind: kind.into(),
        plural: text(&["spec", "names", "plural"]).into(),
        is_namespaced,
        has_webhook: text(&["spec", "conversion", "strategy"]) == "Webhook",
        versions,
    })
}

/// Why the group of a definition can have no custom resources, whatever the server serves itself.
pub(crate) fn group_faults(definition: &Value<'_>) -> ErrorList {
    let root = Node::root(definition);
    let mut errors = Errors::default();
    validate_group(&root.child("spec").child("group"), &mut errors);
    errors.into_list()
}

/// Why the group of a definition has no such custom resources.
fn group_errors(definition: &Value<'_>, release: &Release) -> ErrorList {
    let mut errors = group_faults(definition);
    if errors.is_empty() {
        errors.extend(claimed(definition, release));
    }
    errors
}

/// A server takes a definition of a resource that it serves itself, and goes on to serve its own.
fn claimed(definition: &Value<'_>, release: &Release) -> Option<Error> {
    let text = |path: &[&str]| text_at(definition, path);
    let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
    let resources = release.resources();
    let served = resources.claimed(group, kind, text(&["spec", "names", "plural"]))?;
    let detail = format!(
        "Kubernetes itself serves {} of kind {}, and not this resource",
        served.resource.group_resource(),
        served.kind.kind
    );
    Some(Error::forbidden("spec.names", &detail))
}

/// A definition with what a server fills in before it validates it.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go
fn with_defaults<'a>(definition: &'a Value<'_>) -> Value<'a> {
    let mut defaulted = definition.borrowed();
    let text = |path: &[&str]| text_at(definition, path);
    let kind = text(&["spec", "names", "kind"]);
    let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array);
    let is_storage = |version: &&Value<'_>| version.get("storage") == Some(&Value::Bool(true));
    let storage = versions.and_then(|versions| versions.iter().find(is_storage));
    if let Some(Value::Object(names)) = defaulted.get_mut("spec").and_then(|spec| spec.get_mut("names")) {
        let mut fill = |name: &'static str, text: String| {
            if names.get(name).is_none_or(Value::is_empty) && !text.is_empty() {
                names.insert(name, text);
            }
        };
        fill("singular", kind.to_lowercase());
        let list_kind = if kind.is_empty() {
            String::new()
        } else {
            format!("{kind}List")
        };
        fill("listKind", list_kind);
    }
    let stored = definition.at(&["status", "storedVersions"]);
    if let (Value::Object(members), Some(storage), true) =
        (&mut defaulted, storage, stored.is_none_or(Value::is_empty))
    {
        if !matches!(members.get("status"), Some(Value::Object(_))) {
            members.insert("status", Object::new());
        }
        if let Some(Value::Object(status)) = members.get_mut("status") {
            let name = text_at(storage, &["name"]).to_owned();
            status.insert("storedVersions", vec![Value::from(name)]);
        }
    }
    defaulted
}
