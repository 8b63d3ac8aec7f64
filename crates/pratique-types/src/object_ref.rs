//! What objects of every kind have.

use pratique_json::{Object, Value, text_at};

use crate::group_version::{GroupVersion, GroupVersionKind, InvalidGroupVersion};

/// The type and the metadata of an object of any kind, read from its JSON: texts are empty where there is none.
///
/// ```
/// use pratique_types::ObjectRef;
///
/// let pod = pratique_json::parse(br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"a":"b"}}}"#)?;
/// let pod = ObjectRef::new(&pod);
/// assert_eq!((pod.kind(), pod.namespace(), pod.name()), ("Pod", "", "web"));
/// assert!(pod.labels().is_some_and(|labels| labels.contains_key("a")));
/// # Ok::<(), pratique_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ObjectRef<'v>(&'v Value<'v>);

impl<'v> ObjectRef<'v> {
    /// An object by its JSON.
    pub fn new(object: &'v Value<'v>) -> Self {
        ObjectRef(object)
    }

    /// `apiVersion`: `apps/v1`
    pub fn api_version(self) -> &'v str {
        text_at(self.0, &["apiVersion"])
    }

    /// `kind`: `Deployment`
    pub fn kind(self) -> &'v str {
        text_at(self.0, &["kind"])
    }

    /// The kind with its group and version.
    ///
    /// # Errors
    /// Its `apiVersion` is none.
    pub fn group_version_kind(self) -> Result<GroupVersionKind, InvalidGroupVersion> {
        Ok(GroupVersion::parse(self.api_version())?.with_kind(self.kind()))
    }

    /// Whether it states a kind, in its version.
    pub fn is_of(self, kind: &GroupVersionKind) -> bool {
        self.kind() == kind.kind && kind.is_of_version(self.api_version())
    }

    /// `metadata.namespace`
    pub fn namespace(self) -> &'v str {
        text_at(self.0, &["metadata", "namespace"])
    }

    /// `metadata.name`
    pub fn name(self) -> &'v str {
        text_at(self.0, &["metadata", "name"])
    }

    /// `metadata.generateName`
    pub fn generate_name(self) -> &'v str {
        text_at(self.0, &["metadata", "generateName"])
    }

    /// The name, or else the start of the name that a server generates; empty if there is neither.
    pub fn name_or_prefix(self) -> &'v str {
        match self.name() {
            "" => self.generate_name(),
            name => name,
        }
    }

    /// `metadata.uid`
    pub fn uid(self) -> &'v str {
        text_at(self.0, &["metadata", "uid"])
    }

    /// `metadata.labels`
    pub fn labels(self) -> Option<&'v Object<'v>> {
        self.0.at(&["metadata", "labels"])?.as_object()
    }

    /// Whether it is a CustomResourceDefinition of the version that API servers serve.
    pub fn is_custom_resource_definition(self) -> bool {
        self.kind() == "CustomResourceDefinition" && self.api_version() == "apiextensions.k8s.io/v1"
    }
}
