//! CustomResourceDefinitions.

use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_types::ObjectRef;
use pratique_types::field::{Error, ErrorList, Path, aggregate};

use crate::names;
use crate::version::{DefinitionErrors, Version};

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
    /// Compiles a definition (`apiextensions.k8s.io/v1`) that is to be created.
    ///
    /// # Errors
    /// A name or a version is none that a server takes, or Kubernetes itself serves the resource; a schema is not structural, or
    /// says something that cannot be followed; a rule does not compile or may cost too much.
    pub fn compile(definition: &Value<'_>) -> Result<Self, DefinitionError> {
        let mut errors = ErrorList::default();
        names::check_name(definition, &mut errors);
        let resource = match Self::stored(definition) {
            Ok((resource, rules)) => {
                errors.extend(rules);
                Some(resource)
            }
            Err(error) => {
                errors.extend(error.errors);
                None
            }
        };
        names::check_names(definition, &mut errors);
        match resource.filter(|_| errors.is_empty()) {
            Some(resource) => Ok(resource),
            None => Err(DefinitionError {
                name: ObjectRef::new(definition).name().to_owned(),
                errors: errors.into_vec(),
            }),
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
        let mut errors = ErrorList::default();
        let mut rules = ErrorList::default();
        let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
        let spec = Path::ROOT.child("spec");
        let (group, kind) = (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
        names::check_group(definition, &mut errors);
        if kind.is_empty() {
            errors.push(Error::required(spec.child("names.kind"), ""));
        }
        let is_namespaced = match text(&["spec", "scope"]) {
            "Namespaced" => true,
            "Cluster" => false,
            "" => {
                errors.push(Error::required(spec.child("scope"), ""));
                false
            }
            other => {
                let scopes = ["Cluster", "Namespaced"];
                errors.push(Error::not_supported(spec.child("scope"), other, scopes));
                false
            }
        };
        let stated = definition.at(&["spec", "versions"]).and_then(Value::as_array);
        let stated = stated.unwrap_or_default();
        if stated.is_empty() {
            let detail = "must have at least one version";
            errors.push(Error::required(spec.child("versions"), detail));
        }
        let list = spec.child("versions");
        // Where all versions have the same schema, a server names it once.
        let shared = spec.child("validation");
        let is_shared = stated
            .windows(2)
            .all(|pair| matches!(pair, [one, other] if one.get("schema") == other.get("schema")));
        let preserves_unknown = definition.at(&["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true));
        let mut versions = Vec::new();
        for (at, version) in stated.iter().enumerate() {
            let path = list.index(at);
            let of_version = path.child("schema");
            let schema_path = if is_shared { shared } else { of_version };
            // The errors of a shared schema are reported once.
            let mut found = DefinitionErrors::default();
            versions.push(Version::compile(
                group,
                kind,
                is_namespaced,
                preserves_unknown,
                version,
                &schema_path.child("openAPIV3Schema"),
                &mut found,
            ));
            if at == 0 || !is_shared {
                errors.extend(found.schema.into_vec());
                rules.extend(found.rules.into_vec());
            }
        }
        crate::deprecation::set_warnings(stated, &mut versions);
        match errors.is_empty() {
            true => {
                let resource = CustomResource {
                    group: group.into(),
                    kind: kind.into(),
                    plural: text(&["spec", "names", "plural"]).into(),
                    is_namespaced,
                    has_webhook: text(&["spec", "conversion", "strategy"]) == "Webhook",
                    versions,
                };
                Ok((resource, rules.into_vec()))
            }
            false => {
                errors.extend(rules.into_vec());
                Err(DefinitionError {
                    name: ObjectRef::new(definition).name().to_owned(),
                    errors: errors.into_vec(),
                })
            }
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
