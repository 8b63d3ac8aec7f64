//! The structured types of admission, as the type checker knows them.
//!
//! At run time their values are maps like any other; only the checker is strict. The request's `uid`, `object` and
//! `oldObject` are left out, of a namespace's metadata what has no place in policies.

use std::sync::Arc;

use pratique_cel::{StructType, Type, TypeProvider};

/// The type of `request`.
pub const REQUEST_TYPE: &str = "kubernetes.AdmissionRequest";

/// The type of `namespaceObject`.
pub const NAMESPACE_TYPE: &str = "kubernetes.Namespace";

/// The type of `variables`.
pub const VARIABLES_TYPE: &str = "kubernetes.variables";

/// All of them but the variables.
pub(crate) fn providers() -> Vec<Arc<dyn TypeProvider>> {
    let types = request_types().into_iter().chain(namespace_types());
    types.map(|of| Arc::new(of) as Arc<dyn TypeProvider>).collect()
}

// Upstream: plugin/cel/compile.go, BuildRequestType
fn request_types() -> Vec<StructType> {
    let (kind, resource) = ("kubernetes.GroupVersionKind", "kubernetes.GroupVersionResource");
    let user = "kubernetes.UserInfo";
    let texts = || Type::list(Type::String);
    vec![
        strings(kind, &["group", "version", "kind"]),
        strings(resource, &["group", "version", "resource"]),
        StructType::new(
            user,
            &[
                ("username", Type::String),
                ("uid", Type::String),
                ("groups", texts()),
                ("extra", Type::map(Type::String, texts())),
            ],
        ),
        StructType::new(
            REQUEST_TYPE,
            &[
                ("kind", Type::named(kind)),
                ("resource", Type::named(resource)),
                ("subResource", Type::String),
                ("requestKind", Type::named(kind)),
                ("requestResource", Type::named(resource)),
                ("requestSubResource", Type::String),
                ("name", Type::String),
                ("namespace", Type::String),
                ("operation", Type::String),
                ("userInfo", Type::named(user)),
                ("dryRun", Type::Bool),
                ("options", Type::Dyn),
            ],
        ),
    ]
}

// Upstream: plugin/cel/compile.go, BuildNamespaceType
fn namespace_types() -> Vec<StructType> {
    let condition = "kubernetes.NamespaceCondition";
    let labels = || Type::map(Type::String, Type::String);
    vec![
        StructType::new(
            "kubernetes.NamespaceSpec",
            &[("finalizers", Type::list(Type::String))],
        ),
        StructType::new(
            condition,
            &[
                ("status", Type::String),
                ("type", Type::String),
                ("lastTransitionTime", Type::Timestamp),
                ("message", Type::String),
                ("reason", Type::String),
            ],
        ),
        StructType::new(
            "kubernetes.NamespaceStatus",
            &[
                ("conditions", Type::list(Type::named(condition))),
                ("phase", Type::String),
            ],
        ),
        StructType::new(
            "kubernetes.NamespaceMetadata",
            &[
                ("name", Type::String),
                ("generateName", Type::String),
                ("namespace", Type::String),
                ("labels", labels()),
                ("annotations", labels()),
                ("UID", Type::String),
                ("creationTimestamp", Type::Timestamp),
                ("deletionGracePeriodSeconds", Type::Int),
                ("deletionTimestamp", Type::Timestamp),
                ("generation", Type::Int),
                ("resourceVersion", Type::String),
                ("finalizers", Type::list(Type::String)),
            ],
        ),
        StructType::new(
            NAMESPACE_TYPE,
            &[
                ("metadata", Type::named("kubernetes.NamespaceMetadata")),
                ("spec", Type::named("kubernetes.NamespaceSpec")),
                ("status", Type::named("kubernetes.NamespaceStatus")),
            ],
        ),
    ]
}

fn strings(name: &str, fields: &[&str]) -> StructType {
    let fields: Vec<_> = fields.iter().map(|field| (*field, Type::String)).collect();
    StructType::new(name, &fields)
}
