//! Custom resources by their definitions, in addition to built-in kinds.

use std::sync::Arc;

use pratique_apiextensions::{CustomResource, DefinitionError, Version};
use pratique_json::{Object, Value};
use pratique_objects::{DecodeError, FieldValidation, MediaType, ObjectCodec, unstructured};
use pratique_schema::merge::MergeSchema;
use pratique_schema::{FeatureGates, Release};
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, GroupVersionResource, ObjectForm, Status, field, status};

use crate::scheme::{Scheme, SchemeObject, UndecodedBody};
use crate::target::Target;

/// The custom resources that a server serves. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct CustomResources {
    release: &'static Release,
    served: Vec<Arc<ServedVersion>>,
}

impl Default for CustomResources {
    fn default() -> Self {
        CustomResources {
            release: Release::latest(),
            served: Vec::new(),
        }
    }
}

#[derive(Debug)]
struct ServedVersion {
    resource: CustomResource,
    merging: MergeSchema,
}

/// Why a definition cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnservedError {
    /// Its schema cannot be followed.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// Its schema does not say how objects are merged.
    #[error("the types of {0} cannot be read from its schema")]
    Merging(String),
}

impl CustomResources {
    /// The same of a server of a release, by which definitions are compiled that are served from now on.
    #[must_use]
    pub fn with_release(self, release: &'static Release) -> Self {
        CustomResources { release, ..self }
    }

    /// Serves an existing definition, in place of an earlier one of its name; returns the errors for which a
    /// server would refuse it today.
    ///
    /// # Errors
    /// The definition cannot be served.
    pub fn serve(&mut self, definition: &Value<'_>) -> Result<Vec<field::Error>, UnservedError> {
        let (resource, faults) = CustomResource::stored_in(self.release, definition)?;
        self.add(resource, definition)?;
        Ok(faults)
    }

    /// Serves a definition as a server does to which it is sent, in place of an earlier one of its name.
    ///
    /// # Errors
    /// A server refuses the definition, or serves a built-in resource instead.
    pub fn create(&mut self, definition: &Value<'_>) -> Result<(), UnservedError> {
        let resource = CustomResource::compile_in(self.release, definition)?;
        self.add(resource, definition)
    }

    fn add(&mut self, resource: CustomResource, definition: &Value<'_>) -> Result<(), UnservedError> {
        let merging = MergeSchema::custom(self.release, definition)
            .map_err(|_| UnservedError::Merging(format!("{}.{}", resource.plural(), resource.group())))?;
        self.served.retain(|other| {
            (other.resource.group(), other.resource.plural()) != (resource.group(), resource.plural())
        });
        self.served.push(Arc::new(ServedVersion { resource, merging }));
        Ok(())
    }

    /// The resources that a definition serves once it is [created](Self::create), without their parts. A version that Kubernetes
    /// itself serves has no custom resources.
    pub fn resources(&self, definition: &Value<'_>) -> Vec<ServedResource> {
        let text = |path: &[&str]| definition.at(path).and_then(Value::as_str).unwrap_or_default();
        let (group, plural) = (text(&["spec", "group"]), text(&["spec", "names", "plural"]));
        let is = |served: &&Arc<ServedVersion>| {
            (served.resource.group(), served.resource.plural()) == (group, plural)
        };
        let Some(served) = self.served.iter().find(is) else {
            return Vec::new();
        };
        let short_names = definition.at(&["spec", "names", "shortNames"]);
        let short_names = short_names.and_then(Value::as_array).unwrap_or_default();
        let short_names = short_names.iter().filter_map(Value::as_str);
        let names: Vec<String> = std::iter::once(text(&["spec", "names", "singular"]))
            .chain(short_names)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        let resource = &served.resource;
        let versions = resource.versions().iter();
        versions
            .filter(|version| {
                version.is_served() && !self.release.resources().serves_version(group, version.name())
            })
            .map(|version| ServedResource {
                resource: GroupVersionResource::new(group, version.name(), plural),
                subresource: String::new(),
                kind: GroupVersionKind::new(group, version.name(), resource.kind()),
                namespaced: resource.is_namespaced(),
                short_names: names.clone(),
            })
            .collect()
    }

    /// The target of a path, if it is one of a custom resource that is served.
    pub fn target(&self, path: &str) -> Option<Target> {
        Target::read(path, |resource, subresource| {
            self.of_resource(resource, subresource)
        })
    }

    /// The collection that objects of a kind are created in.
    pub fn collection(&self, kind: &GroupVersionKind, namespace: &str) -> Option<Target> {
        let served = self.find(kind)?;
        let plural = served.resource.plural();
        let resource = GroupVersionResource::new(&kind.group, &kind.version, plural);
        let target = self.of_resource(&resource, "")?;
        let namespace = if target.namespaced { namespace } else { "" };
        Some(Target {
            namespace: namespace.to_owned(),
            ..target
        })
    }

    /// The scale of a custom resource, if its version has one.
    pub fn scale(&self, resource: &GroupVersionResource) -> Option<Target> {
        let target = self.of_resource(resource, "scale")?;
        let version = self.version(target.custom.as_ref()?)?;
        version.scale().is_some().then_some(target)
    }

    /// A version of a kind, if it is that of a custom resource.
    pub fn version(&self, kind: &GroupVersionKind) -> Option<&Version> {
        self.find(kind)?.resource.version(&kind.version)
    }

    fn of_resource(&self, resource: &GroupVersionResource, subresource: &str) -> Option<Target> {
        let is = |served: &&Arc<ServedVersion>| {
            served.resource.group() == resource.group && served.resource.plural() == resource.resource
        };
        let served = self.served.iter().find(is)?;
        let version = served.resource.version(&resource.version)?;
        if !version.is_served() {
            return None;
        }
        let own = GroupVersionKind::new(&resource.group, &resource.version, served.resource.kind());
        let kind = match subresource {
            "" | "status" => own.clone(),
            "scale" => GroupVersionKind::new("autoscaling", "v1", "Scale"),
            _ => return None,
        };
        Some(Target {
            resource: resource.clone(),
            subresource: subresource.to_owned(),
            kind,
            namespaced: served.resource.is_namespaced(),
            custom: Some(own),
            ..Target::default()
        })
    }

    fn find(&self, kind: &GroupVersionKind) -> Option<&ServedVersion> {
        let is = |served: &&Arc<ServedVersion>| {
            served.resource.group() == kind.group && served.resource.kind() == kind.kind
        };
        self.served.iter().find(is).map(|served| &**served)
    }
}

/// Built-in kinds and custom resources together.
#[derive(Debug)]
pub struct Kinds<'k> {
    /// Objects of built-in kinds.
    pub builtin: &'k ObjectCodec,
    /// Objects of all others.
    pub custom: &'k CustomResources,
}

impl Scheme for Kinds<'_> {
    fn decode(
        &self,
        kind: &GroupVersionKind,
        body: &[u8],
        validation: FieldValidation,
    ) -> Result<SchemeObject, UndecodedBody> {
        match self.custom.find(kind) {
            Some(served) => decode(&served.resource, kind, body, (validation, self.gates().release())),
            None => Scheme::decode(self.builtin, kind, body, validation),
        }
    }

    fn default_again(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), Box<Status>> {
        match self.custom.find(kind) {
            // An object of another version has the defaults of that one.
            Some(served) => {
                if let Some(version) = served.resource.version_of(object) {
                    version.default(object);
                }
                Ok(())
            }
            None => self.builtin.default_again(kind, object),
        }
    }

    fn default_keeping_empty(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        form: ObjectForm,
    ) -> Result<bool, Box<Status>> {
        if self.custom.find(kind).is_none() {
            return Scheme::default_keeping_empty(self.builtin, kind, object, form);
        }
        self.default_again(kind, object).map(|()| false)
    }

    fn gates(&self) -> FeatureGates {
        self.builtin.gates()
    }

    fn field_names(&self) -> &'static str {
        self.builtin.field_names()
    }

    fn empty(&self, kind: &GroupVersionKind) -> Value<'static> {
        if self.custom.find(kind).is_none() {
            return self.builtin.empty(kind);
        }
        let mut empty = Object::new();
        empty.insert("apiVersion", kind.api_version());
        empty.insert("kind", kind.kind.clone());
        empty.into()
    }

    fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        if self.custom.find(kind).is_none() {
            Scheme::settle(self.builtin, kind, object);
        }
    }

    fn settle_edited(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        is_edited: &dyn Fn(&str) -> bool,
    ) {
        if self.custom.find(kind).is_none() {
            Scheme::settle_edited(self.builtin, kind, object, is_edited);
        }
    }

    fn convert(&self, kind: &GroupVersionKind, object: &Value<'static>) -> Option<Value<'static>> {
        let Some(served) = self.custom.find(kind) else {
            return Scheme::convert(self.builtin, kind, object);
        };
        let version = served.resource.version(&kind.version)?;
        let mut object = object.clone();
        served.resource.convert(&mut object, version).ok()?;
        Some(object)
    }

    fn encode(&self, kind: &GroupVersionKind, object: &Value<'static>) -> String {
        match self.custom.find(kind) {
            Some(_) => object.to_string(),
            None => Scheme::encode(self.builtin, kind, object),
        }
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> &MergeSchema {
        self.custom
            .find(kind)
            .map_or_else(|| self.builtin.merge_schema(kind), |served| &served.merging)
    }

    fn read_stored(
        &self,
        kind: &GroupVersionKind,
        stored: Value<'static>,
    ) -> Result<Value<'static>, Box<Status>> {
        let (Some(served), Some(version)) = (self.custom.find(kind), self.custom.version(kind)) else {
            return self.builtin.read_stored(kind, stored);
        };
        let mut object = stored;
        let read = served.resource.read_stored(&mut object, version);
        read.map_err(|error| Box::new(status::internal_error(&error.to_string())))?;
        Ok(object)
    }

    fn through_storage(
        &self,
        kind: &GroupVersionKind,
        object: &Value<'_>,
    ) -> Result<Value<'static>, Box<Status>> {
        let (Some(served), Some(version)) = (self.custom.find(kind), self.custom.version(kind)) else {
            return self.builtin.through_storage(kind, object);
        };
        // It is stored as JSON, in which 1.0 is 1.
        let text = object.to_string();
        let parsed = pratique_json::parse(text.as_bytes());
        let mut object = parsed.unwrap_or_else(|_| object.clone()).into_owned();
        let read = served.resource.through_storage(&mut object, version);
        read.map_err(|error| Box::new(status::internal_error(&error.to_string())))?;
        Ok(object)
    }

    fn custom(&self, kind: &GroupVersionKind) -> Option<&Version> {
        self.custom.version(kind)
    }
}

/// Decodes the body of a request for a custom resource: pruned and defaulted by the version that it states.
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go, schemaCoercingDecoder.Decode
fn decode(
    resource: &CustomResource,
    kind: &GroupVersionKind,
    body: &[u8],
    (validation, release): (FieldValidation, &Release),
) -> Result<SchemeObject, UndecodedBody> {
    let read = unstructured(body, MediaType::Json, kind, release)?;
    let mut object = read.value;
    let unknown = resource.prune(&mut object);
    let undecodable = |cause: &dyn ToString| DecodeError::undecodable(kind, &read.kind, cause.to_string());
    let unknown = unknown.map_err(|error| undecodable(&error))?;
    let mut faults = read.faults;
    faults.extend(
        unknown
            .into_iter()
            .map(|path| format!("unknown field \"{path}\"")),
    );
    let warnings = validation
        .check_faults(&faults)
        .map_err(|error| undecodable(&error))?;
    if let Some(version) = resource.version_of(&object) {
        version.default(&mut object);
    }
    let read_version = read.kind.api_version();
    if read_version != kind.api_version() {
        let other = DecodeError::OtherVersion {
            found: read_version,
            expected: kind.api_version(),
        };
        return Err(UndecodedBody {
            warnings,
            ..UndecodedBody::from(other)
        });
    }
    Ok(SchemeObject { object, warnings })
}
