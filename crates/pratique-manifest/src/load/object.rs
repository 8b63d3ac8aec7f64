//! An object of any of the kinds.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::set::{Loaded, ManifestSet};
use crate::kind::Kind;
use crate::parse::source::ObjectSource;

/// An object of any of the kinds.
pub(crate) enum Object {
    ValidatingPolicy(Arc<ValidatingAdmissionPolicy>),
    ValidatingBinding(Arc<ValidatingAdmissionPolicyBinding>),
    MutatingPolicy(Arc<MutatingAdmissionPolicy>),
    MutatingBinding(Arc<MutatingAdmissionPolicyBinding>),
    ValidatingWebhooks(Arc<ValidatingWebhookConfiguration>),
    MutatingWebhooks(Arc<MutatingWebhookConfiguration>),
}

impl Object {
    /// Everything in the value has the type that its field has, so this gives one; were it not to, there is none.
    pub(crate) fn of(kind: Kind, mut value: Json) -> Option<Self> {
        if let Some(fields) = value.as_object_mut() {
            fields.insert("apiVersion".to_owned(), "admissionregistration.k8s.io/v1".into());
            fields.insert("kind".to_owned(), kind.name().into());
        }
        match kind {
            Kind::ValidatingAdmissionPolicy => typed(value).map(Object::ValidatingPolicy),
            Kind::ValidatingAdmissionPolicyBinding => typed(value).map(Object::ValidatingBinding),
            Kind::MutatingAdmissionPolicy => typed(value).map(Object::MutatingPolicy),
            Kind::MutatingAdmissionPolicyBinding => typed(value).map(Object::MutatingBinding),
            Kind::ValidatingWebhookConfiguration => typed(value).map(Object::ValidatingWebhooks),
            Kind::MutatingWebhookConfiguration => typed(value).map(Object::MutatingWebhooks),
        }
    }

    /// The policy of a binding, with its kind.
    pub(crate) fn bound_policy(&self) -> Option<(Kind, &str)> {
        match self {
            Object::ValidatingBinding(binding) => {
                Some((Kind::ValidatingAdmissionPolicy, &binding.spec.policy_name))
            }
            Object::MutatingBinding(binding) => {
                let spec = binding.spec.as_ref();
                let name = spec.and_then(|spec| spec.policy_name.as_deref());
                Some((Kind::MutatingAdmissionPolicy, name.unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// Puts it where a set has its kind.
    pub(crate) fn put(self, set: &mut ManifestSet, source: ObjectSource) {
        match self {
            Object::ValidatingPolicy(object) => set.validating_policies.push(Loaded { object, source }),
            Object::ValidatingBinding(object) => set.validating_bindings.push(Loaded { object, source }),
            Object::MutatingPolicy(object) => set.mutating_policies.push(Loaded { object, source }),
            Object::MutatingBinding(object) => set.mutating_bindings.push(Loaded { object, source }),
            Object::ValidatingWebhooks(object) => set.validating_webhooks.push(Loaded { object, source }),
            Object::MutatingWebhooks(object) => set.mutating_webhooks.push(Loaded { object, source }),
        }
    }
}

fn typed<T: DeserializeOwned>(value: Json) -> Option<Arc<T>> {
    serde_json::from_value(value).ok().map(Arc::new)
}
