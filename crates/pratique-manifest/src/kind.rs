//! The six admissionregistration kinds that static manifests may hold.

use std::fmt;

use serde::Serialize;

use crate::plugin::ManifestPlugin;

/// Passes every kind, with the list of a set that its objects are in, to a macro: the one list of them.
macro_rules! with_kinds {
    ($macro:ident) => {
        $macro! {
            ValidatingAdmissionPolicy validating_policies,
            ValidatingAdmissionPolicyBinding validating_bindings,
            MutatingAdmissionPolicy mutating_policies,
            MutatingAdmissionPolicyBinding mutating_bindings,
            ValidatingWebhookConfiguration validating_webhooks,
            MutatingWebhookConfiguration mutating_webhooks,
        }
    };
}
pub(crate) use with_kinds;

macro_rules! declare_kind {
    ($($kind:ident $list:ident,)*) => {
        /// A kind of `admissionregistration.k8s.io/v1` that can be a static manifest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        pub enum Kind {
            $(#[doc = concat!("`", stringify!($kind), "`.")] $kind,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: [Self; 6] = [$(Self::$kind),*];

            /// The kind's name, as in a manifest's `kind`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                }
            }
        }
    };
}
with_kinds!(declare_kind);

impl Kind {
    /// The kind of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The plugin that reads static manifests of the kind.
    #[must_use]
    pub const fn plugin(self) -> ManifestPlugin {
        match self {
            Self::ValidatingAdmissionPolicy | Self::ValidatingAdmissionPolicyBinding => {
                ManifestPlugin::ValidatingAdmissionPolicy
            }
            Self::MutatingAdmissionPolicy | Self::MutatingAdmissionPolicyBinding => {
                ManifestPlugin::MutatingAdmissionPolicy
            }
            Self::ValidatingWebhookConfiguration => ManifestPlugin::ValidatingAdmissionWebhook,
            Self::MutatingWebhookConfiguration => ManifestPlugin::MutatingAdmissionWebhook,
        }
    }

    /// Whether objects of the kind are policies.
    #[must_use]
    pub const fn is_policy(self) -> bool {
        matches!(
            self,
            Self::ValidatingAdmissionPolicy | Self::MutatingAdmissionPolicy
        )
    }

    /// Whether objects of the kind bind a policy.
    #[must_use]
    pub const fn is_binding(self) -> bool {
        self.bound_kind().is_some()
    }

    /// The kind of the policies that objects of the kind bind; none if they bind no policy.
    #[must_use]
    pub const fn bound_kind(self) -> Option<Self> {
        match self {
            Self::ValidatingAdmissionPolicyBinding => Some(Self::ValidatingAdmissionPolicy),
            Self::MutatingAdmissionPolicyBinding => Some(Self::MutatingAdmissionPolicy),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
