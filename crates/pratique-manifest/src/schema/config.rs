//! The kinds of `apiserver.config.k8s.io` that configure admission.

use super::meta::{API_VERSION, KIND};
use super::{Package, Struct, TEXT, Type, optional, written};

/// AdmissionConfiguration.
pub(crate) static ADMISSION_CONFIGURATION: Struct = Struct {
    name: "AdmissionConfiguration",
    package: Package::Api,
    fields: &[
        KIND,
        API_VERSION,
        written("plugins", Type::List(&Type::Struct(&PLUGIN))),
    ],
};

static PLUGIN: Struct = Struct {
    name: "AdmissionPluginConfiguration",
    package: Package::Api,
    fields: &[
        written("name", TEXT),
        written("path", TEXT),
        optional("configuration", Type::Raw),
    ],
};

/// ValidatingAdmissionPolicyConfiguration.
pub(crate) static POLICY_CONFIGURATION_VAP: Struct = Struct {
    name: "ValidatingAdmissionPolicyConfiguration",
    package: Package::Api,
    fields: &[KIND, API_VERSION, written("staticManifestsDir", TEXT)],
};

/// MutatingAdmissionPolicyConfiguration.
pub(crate) static POLICY_CONFIGURATION_MAP: Struct = Struct {
    name: "MutatingAdmissionPolicyConfiguration",
    package: Package::Api,
    fields: &[KIND, API_VERSION, written("staticManifestsDir", TEXT)],
};

/// WebhookAdmissionConfiguration, whose type has a shorter name.
pub(crate) static WEBHOOK_ADMISSION: Struct = Struct {
    name: "WebhookAdmission",
    package: Package::Api,
    fields: &[
        KIND,
        API_VERSION,
        written("kubeConfigFile", TEXT),
        written("staticManifestsDir", TEXT),
    ],
};
