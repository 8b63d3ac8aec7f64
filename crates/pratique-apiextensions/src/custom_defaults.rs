//! The defaults of custom resources, without the rest of their definitions.

use pratique_json::Value;
use pratique_types::ObjectRef;
use pratique_types::builtin::BuiltinResources;
use pratique_types::field::{ErrorList, Path};

use crate::default::default;
use crate::definition::{DefinitionError, group_faults};
use crate::prune_defaults::prune_defaults;
use crate::schema::{AdditionalMembers, ReadFaults, SchemaNode, check_structural, read};

/// The defaults of the versions of a custom resource: the part of a definition that is needed for objects that a
/// server has decoded and validates itself. It takes as little memory as there are defaults.
///
/// ```
/// use pratique_apiextensions::CustomDefaults;
///
/// let definition = pratique_json::parse(br#"{
///     "metadata": {"name": "widgets.example.com"},
///     "spec": {
///         "group": "example.com", "names": {"plural": "widgets", "kind": "Widget"}, "scope": "Namespaced",
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
///             "type": "object",
///             "properties": {"spec": {"type": "object", "properties": {
///                 "size": {"type": "integer", "default": 1},
///                 "parts": {"type": "integer"}
///             }}}
///         }}}]
///     }
/// }"#)?;
/// let defaults = CustomDefaults::read(&definition)?.ok_or("there are no defaults")?;
/// let mut widget = pratique_json::parse(br#"{"spec": {"parts": 2}}"#)?;
/// defaults.set("v1", &mut widget);
/// assert_eq!(widget.to_string(), r#"{"spec":{"parts":2,"size":1}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CustomDefaults {
    group: Box<str>,
    kind: Box<str>,
    plural: Box<str>,
    /// The versions that have defaults.
    versions: Vec<(Box<str>, SchemaNode)>,
}

impl CustomDefaults {
    /// Reads the defaults of a definition (`apiextensions.k8s.io/v1`) that a server has stored; `None` if it has none. Whether a
    /// server [serves the resource itself](Self::is_served_by) depends on its release.
    ///
    /// # Errors
    /// A schema is not structural, or is invalid.
    pub fn read(definition: &Value<'_>) -> Result<Option<Self>, DefinitionError> {
        let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
        let refused = |errors: ErrorList| DefinitionError {
            name: ObjectRef::new(definition).name().to_owned(),
            errors: errors.into_vec(),
        };
        let errors = group_faults(definition);
        if !errors.is_empty() {
            return Err(refused(errors));
        }
        let versions = definition.at(&["spec", "versions"]).and_then(Value::as_array);
        let list = Path::ROOT.child("spec");
        let list = list.child("versions");
        let mut with_defaults = Vec::new();
        for (at, version) in versions.unwrap_or_default().iter().enumerate() {
            let path = list.index(at);
            let path = path.child("schema");
            let path = path.child("openAPIV3Schema");
            let Some(openapi) = version.at(&["schema", "openAPIV3Schema"]) else {
                continue;
            };
            let mut faults = ReadFaults::default();
            let mut schema = read(openapi, &path, &mut faults);
            let mut errors = faults.into_errors(&path);
            if errors.is_empty() {
                check_structural(&schema, &path, &mut errors);
            }
            if !errors.is_empty() {
                return Err(refused(errors));
            }
            prune_defaults(&mut schema);
            if keep_defaults(&mut schema) {
                let name = version.get("name").and_then(Value::as_str);
                with_defaults.push((name.unwrap_or_default().into(), schema));
            }
        }
        Ok((!with_defaults.is_empty()).then(|| CustomDefaults {
            group: text(&["spec", "group"]).into(),
            kind: text(&["spec", "names", "kind"]).into(),
            plural: text(&["spec", "names", "plural"]).into(),
            versions: with_defaults,
        }))
    }

    /// The group of the resource.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The kind of the resource.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether a server with these resources serves the defined one itself: the definition has no effect then.
    pub fn is_served_by(&self, resources: &BuiltinResources) -> bool {
        resources.claimed(&self.group, &self.kind, &self.plural).is_some()
    }

    /// The names of the versions that have defaults.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(|(name, _)| &**name)
    }

    /// Fills in the defaults of a version.
    pub fn set(&self, version: &str, object: &mut Value<'_>) {
        let mut versions = self.versions.iter();
        if let Some((_, schema)) = versions.find(|(name, _)| &**name == version) {
            default(object, schema, &mut Vec::new(), &Path::ROOT);
        }
    }
}

/// Drops all of a schema but the paths to defaults; false if nothing is left.
fn keep_defaults(schema: &mut SchemaNode) -> bool {
    let items = kept(schema.items.take());
    let additional = match schema.additional.take() {
        Some(AdditionalMembers::Schema(additional)) => kept(Some(additional)),
        Some(AdditionalMembers::Allowed(_)) | None => None,
    };
    let mut properties = std::mem::take(&mut schema.properties);
    properties.retain(|_, property| keep_defaults(property));
    let keeps = schema.default.is_some() || items.is_some() || additional.is_some() || !properties.is_empty();
    *schema = SchemaNode {
        nullable: schema.nullable,
        default: schema.default.take(),
        items,
        properties,
        additional: additional.map(AdditionalMembers::Schema),
        ..SchemaNode::default()
    };
    keeps
}

/// A part of a schema, if there are defaults in it.
fn kept(part: Option<Box<SchemaNode>>) -> Option<Box<SchemaNode>> {
    let mut part = part?;
    keep_defaults(&mut part).then_some(part)
}
