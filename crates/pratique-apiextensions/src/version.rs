//! One version of a custom resource.

use std::sync::Arc;

use pratique_json::{Object, Value, text_at};
use pratique_schema::Release;
use pratique_types::field::{Error, ErrorList, Path};
use pratique_types::{GroupKind, ObjectRef, status};
use pratique_validation::rules::subdomain_name;

use crate::default::default;
use crate::definition_rules::CompiledSchema;
use crate::metadata::{self, MalformedMetadata};
use crate::nulls::prune_nulls;
use crate::prune::prune;
use crate::schema::SchemaNode;
use crate::validate::scale::Scale;
use crate::validate::{CorrelatedValue, embedded_resource, lists, object_meta, scale, value};
use crate::warnings;

/// One version of a custom resource, compiled.
#[derive(Debug)]
pub struct Version {
    group: Box<str>,
    kind: Box<str>,
    name: Box<str>,
    is_namespaced: bool,
    preserves_unknown: bool,
    is_served: bool,
    is_storage: bool,
    deprecation: Option<Box<str>>,
    has_status: bool,
    scale: Option<Scale>,
    compiled: Arc<CompiledSchema>,
    /// That of the server, whose rules of metadata and words it has.
    release: &'static Release,
}

/// The errors and warnings of a server about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// The errors, in the order of checks; of members in the order of their names. None if the object is
    /// accepted.
    pub errors: Vec<Error>,
    /// The server's warnings.
    pub warnings: Vec<String>,
}

/// Why an object is not decoded, which a server answers with 400.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(String);

impl Version {
    /// A version of a resource, from the definition's entry and its schema.
    pub(crate) fn new(
        (group, kind): (&str, &str),
        is_namespaced: bool,
        preserves_unknown: bool,
        version: &Value<'_>,
        (compiled, release): (Arc<CompiledSchema>, &'static Release),
    ) -> Version {
        let flag = |name: &str| version.get(name) == Some(&Value::Bool(true));
        let subresource = |name: &str| {
            version
                .at(&["subresources", name])
                .filter(|value| !value.is_null())
        };
        Version {
            group: group.into(),
            kind: kind.into(),
            name: text_at(version, &["name"]).into(),
            is_namespaced,
            preserves_unknown,
            is_served: flag("served"),
            is_storage: flag("storage"),
            deprecation: None,
            has_status: subresource("status").is_some(),
            scale: subresource("scale").map(scale_of),
            compiled,
            release,
        }
    }

    /// Its name: `v1`
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its group and name: `example.com/v1`
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// The warning to requests for a deprecated version.
    pub fn deprecation(&self) -> Option<&str> {
        self.deprecation.as_deref()
    }

    pub(crate) fn deprecate(&mut self, warning: String) {
        self.deprecation = Some(warning.into());
    }

    /// The group of the resource.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The kind of the resource.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether objects belong to namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.is_namespaced
    }

    /// Whether requests may use this version.
    pub fn is_served(&self) -> bool {
        self.is_served
    }

    /// Whether objects are stored in this version.
    pub fn is_storage(&self) -> bool {
        self.is_storage
    }

    /// Whether `status` is a subresource, which requests for the object do not change.
    pub fn has_status(&self) -> bool {
        self.has_status
    }

    /// The fields of the `scale` subresource, if there is one.
    pub fn scale(&self) -> Option<&Scale> {
        self.scale.as_ref()
    }

    /// Reads an object as a server does: its metadata and that of embedded resources get the form of their type, unknown
    /// fields and meaningless nulls are removed. Gives the paths of unknown fields, in a server's order.
    ///
    /// # Errors
    /// Metadata that cannot be read.
    // Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go, unstructuredSchemaCoercer.apply
    pub fn prune(&self, object: &mut Value<'_>) -> Result<Vec<String>, DecodeError> {
        self.pruned(object, MalformedMetadata::Refuse)
    }

    /// Prunes an object of a version of this kind that there is not: nothing but metadata is known of it.
    pub(crate) fn prune_unknown(&self, object: &mut Value<'_>) -> Result<Vec<String>, DecodeError> {
        pruned(
            object,
            &SchemaNode::default(),
            self.preserves_unknown,
            MalformedMetadata::Refuse,
        )
    }

    /// Prunes an object that was stored: metadata that cannot be read is dropped, and a generation that is missing is 1.
    pub(crate) fn prune_stored(&self, object: &mut Value<'_>) {
        // Malformed fields are dropped, so there is no error.
        let _ = self.pruned(object, MalformedMetadata::Drop);
        let generation = object.at(&["metadata", "generation"]).and_then(Value::as_int);
        if let (Value::Object(members), true) = (object, generation.unwrap_or_default() == 0) {
            set_generation(members, 1);
        }
    }

    fn pruned(
        &self,
        object: &mut Value<'_>,
        malformed: MalformedMetadata,
    ) -> Result<Vec<String>, DecodeError> {
        if self.is_of_kind(object) {
            pruned(object, &self.compiled.schema, self.preserves_unknown, malformed)
        } else {
            let (metadata, unknown) = read_metadata(object, malformed)?;
            set_metadata(object, metadata);
            Ok(unknown)
        }
    }

    /// Fills in the defaults of the schema, and gives the paths of the fields that were set.
    pub fn default(&self, object: &mut Value<'_>) -> Vec<String> {
        let mut set = Vec::new();
        if self.is_of_kind(object) {
            default(object, &self.compiled.schema, &mut set, &Path::ROOT);
        }
        set
    }

    /// Prepares a new object: `status` is removed where it is a subresource, and the generation is 1.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, PrepareForCreate
    pub fn prepare_create(&self, object: &mut Value<'_>) {
        if let Value::Object(members) = object {
            if self.has_status {
                members.remove("status");
            }
            set_generation(members, 1);
        }
    }

    /// Prepares an object that is to replace another: `status` is the old one where it is a subresource, and the
    /// generation counts changes outside of metadata.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, PrepareForUpdate
    pub fn prepare_update<'a>(&self, object: &mut Value<'a>, old: &Value<'a>) {
        let (Value::Object(members), Value::Object(old_members)) = (object, old) else {
            return;
        };
        if self.has_status {
            match old_members.get("status") {
                Some(status) => drop(members.insert("status", status.clone())),
                None => drop(members.remove("status")),
            }
        }
        let count = |object: &Object<'_>| object.len() - usize::from(object.contains_key("metadata"));
        let same =
            |(name, value): (&str, &Value<'_>)| name == "metadata" || old_members.get(name) == Some(value);
        if count(members) != count(old_members) || !members.iter().all(same) {
            let generation = old.at(&["metadata", "generation"]).and_then(Value::as_int);
            set_generation(members, generation.unwrap_or_default().saturating_add(1));
        }
    }

    /// Prepares an object with which `status` is to be set: it is the old one with the new `status` and `managedFields`.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/status_strategy.go, PrepareForUpdate
    pub fn prepare_status_update<'a>(&self, object: &mut Value<'a>, old: &Value<'a>) {
        let mut prepared = old.clone();
        let (Value::Object(changed), Value::Object(members)) = (object, &mut prepared) else {
            return;
        };
        let managed = match changed.get_mut("metadata") {
            Some(Value::Object(metadata)) => metadata.remove("managedFields"),
            _ => None,
        };
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            match managed {
                Some(managed) => drop(metadata.insert("managedFields", managed)),
                None => drop(metadata.remove("managedFields")),
            }
        }
        match changed.remove("status") {
            Some(status) => drop(members.insert("status", status)),
            None => drop(members.remove("status")),
        }
        std::mem::swap(changed, members);
    }

    /// Validates a new object, which was pruned, defaulted and prepared before.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, Validate
    pub fn validate_create(&self, new: &Value<'_>) -> Validation {
        let mut errors = ErrorList::default();
        let metadata = metadata_of(new);
        if self.type_meta(new, &mut errors) {
            let (is_namespaced, path) = (self.is_namespaced, Path::METADATA);
            let faults = object_meta::validate(metadata, is_namespaced, subdomain_name, self.release, &path);
            errors.append(faults);
            value::validate(new, &self.compiled.schema, None, &Path::ROOT, &mut errors);
            self.scaled(new, &mut errors);
        }
        self.validate_embedded(new, &mut errors);
        lists::validate(new, &self.compiled.schema, &Path::ROOT, &mut errors);
        let mut validation = self.validate_rules(new, None, errors);
        validation.warnings.extend(warnings::finalizers(metadata, None));
        validation
    }

    /// Validates an object that is to replace another, both of which were pruned and defaulted before. What was wrong before
    /// and did not change may stay.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, ValidateUpdate
    pub fn validate_update<'a>(&self, new: &Value<'a>, old: &Value<'a>) -> Validation {
        let mut errors = ErrorList::default();
        let (new_metadata, old_metadata) = (metadata_of(new), metadata_of(old));
        if self.type_meta(new, &mut errors) {
            let faults = object_meta::validate_update(new_metadata, old_metadata, self.release);
            errors.append(faults);
            value::validate(new, &self.compiled.schema, Some(old), &Path::ROOT, &mut errors);
            self.scaled(new, &mut errors);
        }
        self.validate_embedded(new, &mut errors);
        lists::validate_unless(old, new, &self.compiled.schema, &mut errors);
        let mut validation = self.validate_rules(new, Some(old), errors);
        let finalizers = warnings::finalizers(new_metadata, Some(old_metadata));
        validation.warnings.extend(finalizers);
        validation
    }

    /// Validates an object whose `status` is to be set.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/status_strategy.go, ValidateUpdate
    pub fn validate_status_update<'a>(&self, new: &Value<'a>, old: &Value<'a>) -> Validation {
        let mut errors = ErrorList::default();
        if self.type_meta(new, &mut errors) {
            let faults = object_meta::validate_update(metadata_of(new), metadata_of(old), self.release);
            errors.append(faults);
            if let (Some(status), Some(schema)) =
                (new.get("status"), self.compiled.schema.properties.get("status"))
            {
                let path = Path::ROOT.child("status");
                value::validate(status, schema, old.get("status"), &path, &mut errors);
            }
            if let Some(of) = &self.scale {
                scale::validate_status(new, of, &mut errors);
            }
        }
        lists::validate_unless(old, new, &self.compiled.schema, &mut errors);
        self.validate_rules(new, Some(old), errors)
    }

    /// Evaluates the rules over an object that was validated otherwise, with these errors.
    fn validate_rules<'a>(
        &self,
        new: &Value<'a>,
        old: Option<&Value<'a>>,
        mut errors: ErrorList,
    ) -> Validation {
        let mut warnings = Vec::new();
        let correlated = old.map(|old| CorrelatedValue::new(new, old, &self.compiled.schema));
        let rules = &self.compiled.rules;
        rules.validate(
            new,
            correlated.as_ref(),
            &self.compiled.schema,
            &mut errors,
            &mut warnings,
        );
        Validation {
            errors: errors.into_vec(),
            warnings,
        }
    }

    /// Validates the fields that all kinds have in common, of an object that is to replace another. A server does so
    /// before it validates the object as one of its kind.
    pub fn validate_common_update(&self, new: &Value<'_>, old: &Value<'_>) -> Vec<Error> {
        let [new, old] = [new, old].map(metadata_of);
        object_meta::validate_common_update(new, old, self.is_namespaced, self.release).into_vec()
    }

    /// The message with which a server refuses an object: `Widget.example.com "w" is invalid: …`
    pub fn message(&self, object: &Value<'_>, errors: &[Error]) -> String {
        let kind = GroupKind::new(&self.group, &self.kind);
        status::invalid(kind, ObjectRef::new(object).name(), errors).message
    }

    fn validate_embedded(&self, object: &Value<'_>, errors: &mut ErrorList) {
        let schema = (&self.compiled.schema, false);
        embedded_resource::validate(object, schema, self.release, &Path::ROOT, errors);
    }

    fn scaled(&self, object: &Value<'_>, errors: &mut ErrorList) {
        if let Some(of) = &self.scale {
            scale::validate(object, of, errors);
        }
    }

    /// Whether an object states this kind, in any version: others are left as they are.
    pub(crate) fn is_of_kind(&self, object: &Value<'_>) -> bool {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
        text("kind") == &*self.kind && group == &*self.group
    }

    /// Whether an object is of this version's kind.
    // Upstream: apiextensions-apiserver/pkg/registry/customresource/validator.go, ValidateTypeMeta
    fn type_meta(&self, object: &Value<'_>, errors: &mut ErrorList) -> bool {
        let api_version = self.api_version();
        let mut fits = true;
        for (name, expected) in [("kind", &*self.kind), ("apiVersion", &api_version)] {
            let stated = object.get(name).and_then(Value::as_str).unwrap_or_default();
            if stated != expected {
                let detail = format!("must be {expected}");
                errors.push(Error::invalid(name.to_owned(), stated, &detail));
                fits = false;
            }
        }
        fits
    }
}

/// Prunes an object of the kind by a schema.
fn pruned(
    object: &mut Value<'_>,
    schema: &SchemaNode,
    preserves_unknown: bool,
    malformed: MalformedMetadata,
) -> Result<Vec<String>, DecodeError> {
    let (metadata, mut unknown) = read_metadata(object, malformed)?;
    if let (Value::Object(members), false) = (&mut *object, preserves_unknown) {
        unknown.extend(prune(members, schema));
        prune_nulls(object, schema);
    }
    let embedded = metadata::coerce(object, schema, false, malformed);
    unknown.extend(embedded.map_err(|error| DecodeError(error.to_string()))?);
    set_metadata(object, metadata);
    Ok(unknown)
}

/// The metadata of an object in the form of its type, and the paths of fields that the type does not know.
fn read_metadata(
    object: &Value<'_>,
    malformed: MalformedMetadata,
) -> Result<(Option<Value<'static>>, Vec<String>), DecodeError> {
    let Some(metadata) = object.get("metadata") else {
        return Ok((None, Vec::new()));
    };
    let read = metadata::read(metadata, malformed).map_err(DecodeError)?;
    let unknown = read.unknown.iter().map(|name| format!("metadata.{name}"));
    Ok((Some(read.metadata), unknown.collect()))
}

fn set_metadata(object: &mut Value<'_>, metadata: Option<Value<'static>>) {
    if let (Value::Object(members), Some(metadata)) = (object, metadata) {
        members.insert("metadata", metadata);
    }
}

fn metadata_of<'v, 'a>(object: &'v Value<'a>) -> &'v Value<'a> {
    object.get("metadata").unwrap_or(&Value::Null)
}

fn scale_of(subresource: &Value<'_>) -> Scale {
    let text = |name: &str| subresource.get(name).and_then(Value::as_str);
    Scale {
        spec_replicas_path: text("specReplicasPath").unwrap_or_default().into(),
        status_replicas_path: text("statusReplicasPath").unwrap_or_default().into(),
        label_selector_path: text("labelSelectorPath").map(Box::from),
    }
}

fn set_generation(members: &mut Object<'_>, generation: i64) {
    if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
        metadata.insert("generation", generation);
        return;
    }
    let mut metadata = Object::new();
    metadata.insert("generation", generation);
    members.insert("metadata", metadata);
}
