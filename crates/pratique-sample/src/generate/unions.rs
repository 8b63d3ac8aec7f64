//! Types of which one field may be set.

/// A union: a type of which one field may be set, besides common fields.
pub(super) struct TypeUnion {
    pub(super) of: &'static str,
    pub(super) besides: &'static [&'static str],
    /// The default member, if one is required.
    pub(super) otherwise: Option<(&'static str, &'static str)>,
}

pub(super) const UNIONS: [TypeUnion; 9] = [
    TypeUnion {
        of: "core/v1.Volume",
        besides: &["name"],
        otherwise: None,
    },
    TypeUnion {
        of: "core/v1.VolumeProjection",
        besides: &[],
        otherwise: Some(("configMap", r#"{"name":"a"}"#)),
    },
    TypeUnion {
        of: "core/v1.EnvVar",
        besides: &["name"],
        otherwise: None,
    },
    TypeUnion {
        of: "core/v1.EnvVarSource",
        besides: &[],
        otherwise: Some(("fieldRef", r#"{"fieldPath":"metadata.name"}"#)),
    },
    TypeUnion {
        of: "core/v1.EnvFromSource",
        besides: &["prefix"],
        otherwise: Some(("configMapRef", r#"{"name":"a"}"#)),
    },
    TypeUnion {
        of: "core/v1.LifecycleHandler",
        besides: &[],
        otherwise: Some(("exec", r#"{"command":["a"]}"#)),
    },
    TypeUnion {
        of: "core/v1.Probe",
        besides: &[
            "failureThreshold",
            "initialDelaySeconds",
            "periodSeconds",
            "successThreshold",
            "terminationGracePeriodSeconds",
            "timeoutSeconds",
        ],
        otherwise: Some(("exec", r#"{"command":["a"]}"#)),
    },
    TypeUnion {
        of: "networking/v1.IngressBackend",
        besides: &[],
        otherwise: Some(("service", r#"{"name":"a","port":{"number":80}}"#)),
    },
    TypeUnion {
        of: "networking/v1.ServiceBackendPort",
        besides: &[],
        otherwise: Some(("number", "80")),
    },
];
