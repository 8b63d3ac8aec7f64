//! The built-in kinds as CEL types.

use std::sync::Arc;

use pratique_cel::{Type, TypeProvider};
use pratique_schema::{Release, Scalar, Shape, StructType};
use pratique_types::GroupVersionKind;

/// The types of all built-in kinds of a release, as values of them are at run time: times, quantities and bytes are texts.
#[derive(Debug)]
pub(crate) struct BuiltinTypes {
    pub(crate) release: &'static Release,
}

/// Whether a schema has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPresence {
    /// Objects may have it.
    Defined,
    /// No object has it.
    Undefined,
    /// The schema ends before it.
    Unknown,
}

/// The type of a kind's objects, if the kind is built in.
pub(crate) fn type_of(release: &'static Release, kind: &GroupVersionKind) -> Option<Type> {
    struct_of(release, kind).map(|of| Type::Struct(of.name.into()))
}

/// Whether the schema of a kind has a field path.
pub(crate) fn presence(
    release: &'static Release,
    kind: &GroupVersionKind,
    fields: &[String],
) -> FieldPresence {
    let Some(mut at) = struct_of(release, kind) else {
        return FieldPresence::Unknown;
    };
    let mut fields = fields.iter().peekable();
    while let Some(name) = fields.next() {
        let Some(field) = at.field(name) else {
            return FieldPresence::Undefined;
        };
        match &field.shape {
            Shape::Struct(id) => at = release.schema().get(*id),
            _ if fields.peek().is_none() => return FieldPresence::Defined,
            _ => return FieldPresence::Unknown,
        }
    }
    FieldPresence::Defined
}

fn struct_of(release: &'static Release, kind: &GroupVersionKind) -> Option<&'static StructType> {
    let schema = release.schema();
    schema.kind(kind).map(|id| schema.get(id))
}

impl BuiltinTypes {
    fn named(&self, name: &str) -> Option<&'static StructType> {
        let schema = self.release.schema();
        schema.named(name).map(|id| schema.get(id))
    }
}

impl TypeProvider for BuiltinTypes {
    fn has_type(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    fn has_namespace(&self, _: &str) -> bool {
        // Their names cannot be written in an expression.
        false
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        let own = self.named(type_name)?.field(field);
        let ephemeral = || self.named(EPHEMERAL)?.field(field);
        let field = if type_name == CONTAINER {
            own.or_else(ephemeral)
        } else {
            own
        }?;
        Some(of_shape(self.release, &field.shape))
    }

    fn field_names(&self, type_name: &str) -> Vec<Arc<str>> {
        let of = self.named(type_name);
        of.into_iter()
            .flat_map(|of| of.fields.iter())
            .map(|field| field.name.into())
            .collect()
    }
}

/// Policies concatenate the lists of all sorts of containers, so ephemeral containers have the type of the others,
/// which gets their additional field.
const CONTAINER: &str = "core/v1.Container";
const EPHEMERAL: &str = "core/v1.EphemeralContainer";

fn of_shape(release: &'static Release, shape: &Shape) -> Type {
    match shape {
        Shape::Scalar(scalar) => of_scalar(*scalar),
        Shape::Struct(id) => Type::Struct(match release.schema().get(*id).name {
            EPHEMERAL => CONTAINER.into(),
            name => name.into(),
        }),
        Shape::List(element) => Type::list(of_shape(release, element)),
        Shape::Map(value) => Type::map(Type::String, of_shape(release, value)),
    }
}

fn of_scalar(scalar: Scalar) -> Type {
    match scalar {
        Scalar::Bool => Type::Bool,
        Scalar::Int32 | Scalar::Int64 => Type::Int,
        Scalar::Float => Type::Double,
        Scalar::String
        | Scalar::Bytes
        | Scalar::Quantity
        | Scalar::Time
        | Scalar::MicroTime
        | Scalar::Duration => Type::String,
        Scalar::IntOrString | Scalar::Json => Type::Dyn,
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn fields_of_kinds() {
        let pod = GroupVersionKind::new("", "v1", "Pod");
        let path = |text: &str| -> Vec<String> { text.split('.').map(str::to_owned).collect() };
        for (fields, expected) in [
            ("spec.hostNetwork", FieldPresence::Defined),
            ("spec.hostNetwrk", FieldPresence::Undefined),
            ("metadata.labels", FieldPresence::Defined),
            ("metadata.labels.app", FieldPresence::Unknown),
            ("spec.template", FieldPresence::Undefined),
        ] {
            assert_eq!(
                presence(Release::latest(), &pod, &path(fields)),
                expected,
                "{fields}"
            );
        }
        let custom = GroupVersionKind::new("example.com", "v1", "Gadget");
        assert_eq!(
            presence(Release::latest(), &custom, &path("spec")),
            FieldPresence::Unknown
        );
        assert_eq!(type_of(Release::latest(), &custom), None);
    }

    #[test]
    fn all_built_in_kinds_have_types() {
        for served in Release::latest()
            .resources()
            .served()
            .iter()
            .chain(Release::latest().resources().optional())
        {
            assert!(
                type_of(Release::latest(), &served.kind).is_some(),
                "{:?}",
                served.kind
            );
        }
        let check = |group: &str, version: &str, kind: &str, fields: &[&str], expected| {
            let kind = GroupVersionKind::new(group, version, kind);
            let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
            assert_eq!(
                presence(Release::latest(), &kind, &fields),
                expected,
                "{kind} {fields:?}"
            );
        };
        let definition = |fields: &[&str], expected| {
            check(
                "apiextensions.k8s.io",
                "v1",
                "CustomResourceDefinition",
                fields,
                expected,
            );
        };
        definition(&["spec", "names", "plural"], FieldPresence::Defined);
        definition(&["spec", "version"], FieldPresence::Undefined);
        check(
            "apiregistration.k8s.io",
            "v1",
            "APIService",
            &["spec", "caBundel"],
            FieldPresence::Undefined,
        );
        check(
            "networking.k8s.io",
            "v1beta1",
            "ServiceCIDR",
            &["spec", "cidrs"],
            FieldPresence::Defined,
        );
        check(
            "coordination.k8s.io",
            "v1beta1",
            "LeaseCandidate",
            &["spec", "lease"],
            FieldPresence::Undefined,
        );
    }

    #[test]
    fn values_have_the_types_of_requests() {
        let types = BuiltinTypes {
            release: Release::latest(),
        };
        assert_eq!(
            types.field("meta/v1.ObjectMeta", "creationTimestamp"),
            Some(Type::String)
        );
        assert_eq!(
            types.field("core/v1.PodSpec", "containers").unwrap().to_string(),
            "list(core/v1.Container)"
        );
        assert_eq!(types.field("core/v1.PodSpec", "container"), None);
        let ephemeral = types.field("core/v1.PodSpec", "ephemeralContainers").unwrap();
        assert_eq!(ephemeral.to_string(), "list(core/v1.Container)");
        assert_eq!(
            types.field("core/v1.Container", "targetContainerName"),
            Some(Type::String)
        );
    }
}
