//! The result of a load: the objects of a plugin's manifests, defaulted and valid, with their sources.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use k8s_openapi::Metadata;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value as Json;

use crate::kind::{Kind, with_kinds};
use crate::parse::source::ObjectSource;
use crate::position::Location;
use crate::problem::{Failure, ObjectName};

macro_rules! declare_set {
    ($($kind:ident $list:ident,)*) => {
        /// The objects of a directory of static manifests. Each list is sorted by name, bytewise.
        #[derive(Clone, Debug, Default)]
        pub struct ManifestSet {
            /// `sha256:` and the hash of the files' content; empty when no file has any.
            pub hash: String,
            $(#[doc = concat!("Objects of the kind `", stringify!($kind), "`.")] pub $list: Vec<SourcedObject<$kind>>,)*
            /// Text that follows the end of a document, and that the server does not read.
            pub unread: Vec<Location>,
            /// Objects of older versions of the API, where those have other defaults than v1.
            pub older: Vec<OlderVersion>,
            /// Objects of versions that a server serves only if it is told to.
            pub optional: Vec<OptionalVersion>,
            /// What does not compile of the expressions of [stored](crate::Loader::with_stored_expressions) objects, object by object.
            pub uncompiled: Vec<Failure>,
            /// Objects of the API that others of the same name replace.
            pub replaced: Vec<ReplacedObject>,
        }

        impl ManifestSet {
            /// The objects of all kinds.
            pub fn objects(&self) -> impl Iterator<Item = ObjectRef<'_>> {
                std::iter::empty()$(.chain(self.$list.iter().map(|loaded| loaded.object_ref(Kind::$kind))))*
            }

            /// Adds another set's objects to the end of this one's.
            pub(crate) fn extend(&mut self, other: &Self) {
                $(self.$list.extend_from_slice(&other.$list);)*
                self.unread.extend_from_slice(&other.unread);
                self.older.extend_from_slice(&other.older);
                self.optional.extend_from_slice(&other.optional);
                self.uncompiled.extend_from_slice(&other.uncompiled);
                self.replaced.extend_from_slice(&other.replaced);
            }

            /// Replaces objects, sorted by name, by later ones of the same name.
            pub(crate) fn replace_repeated(&mut self) {
                $(replace_repeated(Kind::$kind, &mut self.$list, &mut self.replaced);)*
            }

            /// Sorts the objects of each kind by name.
            pub(crate) fn sort(&mut self) {
                $(sort(&mut self.$list);)*
            }

            /// Discards the texts that the objects' sources still have.
            pub(crate) fn discard_texts(&mut self) {
                $(self.$list.iter_mut().for_each(|loaded| loaded.source.discard_text());)*
            }
        }

        /// An object of any of the kinds.
        pub(crate) enum ManifestObject {
            $($kind(Arc<$kind>),)*
        }

        impl ManifestObject {
            /// The object that a validated value is; none if it does not have the type after all.
            pub(crate) fn from_json(kind: Kind, mut value: Json) -> Option<Self> {
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("apiVersion".to_owned(), "admissionregistration.k8s.io/v1".into());
                    fields.insert("kind".to_owned(), kind.name().into());
                }
                match kind {
                    $(Kind::$kind => serde_json::from_value(value).ok().map(Arc::new).map(ManifestObject::$kind),)*
                }
            }

            /// Adds the object to the list of its kind.
            pub(crate) fn add_to(self, set: &mut ManifestSet, source: ObjectSource) {
                match self {
                    $(ManifestObject::$kind(object) => set.$list.push(SourcedObject { object, source }),)*
                }
            }
        }
    };
}
with_kinds!(declare_set);

impl ManifestSet {
    /// The bindings of both kinds, each with the name of its policy.
    pub fn bindings(&self) -> impl Iterator<Item = (ObjectRef<'_>, &str)> {
        let validating = self.validating_bindings.iter().map(|loaded| {
            let policy = loaded.object.spec.policy_name.as_str();
            (loaded.object_ref(Kind::ValidatingAdmissionPolicyBinding), policy)
        });
        let mutating = self.mutating_bindings.iter().map(|loaded| {
            let spec = loaded.object.spec.as_ref();
            let policy = spec.and_then(|spec| spec.policy_name.as_deref());
            let binding = loaded.object_ref(Kind::MutatingAdmissionPolicyBinding);
            (binding, policy.unwrap_or_default())
        });
        validating.chain(mutating)
    }
}

fn sort<T: Metadata<Ty = ObjectMeta>>(list: &mut Vec<SourcedObject<T>>) {
    list.shrink_to_fit();
    list.sort_by(|a, b| a.object.metadata().name.cmp(&b.object.metadata().name));
}

fn replace_repeated<T: Metadata<Ty = ObjectMeta>>(
    kind: Kind,
    list: &mut Vec<SourcedObject<T>>,
    replaced: &mut Vec<ReplacedObject>,
) {
    list.dedup_by(|later, kept| {
        let name = later.object.metadata().name.as_deref();
        let is_same = name == kept.object.metadata().name.as_deref();
        if is_same {
            replaced.push(ReplacedObject {
                name: ObjectName {
                    kind,
                    name: name.unwrap_or_default().to_owned(),
                },
                location: kept.source.locate(&[]),
                by: later.source.locate(&[]),
            });
            // The first of equal elements is kept.
            std::mem::swap(later, kept);
        }
        is_same
    });
}

/// An object and where it came from.
#[derive(Clone, Debug)]
pub struct SourcedObject<T> {
    /// The object, defaulted. After a reload, an unchanged object is the same `Arc`.
    pub object: Arc<T>,
    /// Its source.
    pub source: ObjectSource,
}

impl<T: Metadata<Ty = ObjectMeta>> SourcedObject<T> {
    fn object_ref(&self, kind: Kind) -> ObjectRef<'_> {
        ObjectRef {
            kind,
            name: self.object.metadata().name.as_deref().unwrap_or_default(),
            source: &self.source,
        }
    }
}

/// An object of an older version, some of whose defaults are others than those of v1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OlderVersion {
    /// Its location.
    pub location: Location,
    /// Its kind and name.
    pub name: ObjectName,
    /// The version: `v1alpha1`.
    pub version: &'static str,
    /// The fields with other defaults.
    pub defaults: Vec<String>,
}

/// An object of the API in a version that a server serves only if it is told to: it is loaded as one that was told has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalVersion {
    /// Its location.
    pub location: Location,
    /// Its kind and name.
    pub name: ObjectName,
    /// The version, with its group: `admissionregistration.k8s.io/v1beta1`.
    pub version: String,
    /// The version that every server has instead, if there is one.
    pub usual: Option<&'static str>,
}

impl OptionalVersion {
    /// How to write an object that every server takes, if that is possible.
    pub fn help(&self) -> Option<String> {
        self.usual.map(|usual| format!("write it in {usual}"))
    }
}

/// What is wrong with it.
// Upstream: pkg/controlplane/instance.go, DefaultAPIResourceConfigSource
impl Display for OptionalVersion {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let (version, kind) = (&self.version, self.name.kind);
        write!(
            formatter,
            "{version} {kind} is not served unless the server has --runtime-config={version}=true; it is read as if it had"
        )
    }
}

/// An object of the API that another of the same name replaces, as when both are applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedObject {
    /// Its kind and name.
    pub name: ObjectName,
    /// Where it is.
    pub location: Location,
    /// Where the one is that replaces it.
    pub by: Location,
}

/// The kind, the name and the source of a loaded object of any kind.
#[derive(Clone, Copy, Debug)]
pub struct ObjectRef<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its `metadata.name`.
    pub name: &'a str,
    /// Its source.
    pub source: &'a ObjectSource,
}
