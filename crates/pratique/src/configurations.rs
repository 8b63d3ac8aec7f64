//! Configuration of admission that comes from the API, as it is stored: defaulted, and perhaps of another version.

use std::sync::Arc;

use pratique_manifest::ManifestSet;
use pratique_types::admissionregistration::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};

/// The objects of the API that configure admission, of one moment. They are used as far as they go where they are
/// not valid. An object that is still the very same need not be compiled again.
#[derive(Clone, Debug, Default)]
pub struct Configurations {
    /// MutatingAdmissionPolicies.
    pub mutating_policies: Vec<Arc<MutatingAdmissionPolicy>>,
    /// Bindings of MutatingAdmissionPolicies.
    pub mutating_bindings: Vec<Arc<MutatingAdmissionPolicyBinding>>,
    /// MutatingWebhookConfigurations.
    pub mutating_webhooks: Vec<Arc<MutatingWebhookConfiguration>>,
    /// ValidatingAdmissionPolicies.
    pub validating_policies: Vec<Arc<ValidatingAdmissionPolicy>>,
    /// Bindings of ValidatingAdmissionPolicies.
    pub validating_bindings: Vec<Arc<ValidatingAdmissionPolicyBinding>>,
    /// ValidatingWebhookConfigurations.
    pub validating_webhooks: Vec<Arc<ValidatingWebhookConfiguration>>,
}

/// Loaded manifests as objects of the API.
impl From<ManifestSet> for Configurations {
    fn from(set: ManifestSet) -> Self {
        fn objects<T>(list: Vec<pratique_manifest::SourcedObject<T>>) -> Vec<Arc<T>> {
            list.into_iter().map(|loaded| loaded.object).collect()
        }
        Configurations {
            mutating_policies: objects(set.mutating_policies),
            mutating_bindings: objects(set.mutating_bindings),
            mutating_webhooks: objects(set.mutating_webhooks),
            validating_policies: objects(set.validating_policies),
            validating_bindings: objects(set.validating_bindings),
            validating_webhooks: objects(set.validating_webhooks),
        }
    }
}
