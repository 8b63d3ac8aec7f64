//! State of the cluster that decisions depend on.

use pratique::Admission;
use pratique::policy::{DecisionNeed, NeedKind};

/// The known parts of the cluster that requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownState {
    /// Objects: namespaces with their labels, params, and what plugins look up.
    pub objects: bool,
    /// Permissions of users.
    pub authorizer: bool,
}

impl KnownState {
    /// A real cluster, of which everything is known.
    pub const ALL: Self = KnownState {
        objects: true,
        authorizer: true,
    };

    fn has(self, kind: NeedKind) -> bool {
        match kind {
            NeedKind::Authorizer => self.authorizer,
            _ => self.objects,
        }
    }
}

/// A policy, webhook or plugin that depends on unknown state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownState {
    /// It selects namespaces by their labels.
    #[error("{name} selects namespaces by their labels, and the namespaces of the cluster are not known")]
    Labels {
        /// The policy, binding or webhook.
        name: String,
    },
    /// It reads more of a namespace than its name.
    #[error("{name} reads namespaceObject beyond its name, and the namespaces of the cluster are not known")]
    Namespace {
        /// The policy.
        name: String,
    },
    /// It has params.
    #[error("{name} takes params from the cluster, and its objects are not known")]
    Params {
        /// The policy.
        name: String,
    },
    /// It uses the authorizer.
    #[error("{name} asks the authorizer, and there is no cluster to answer")]
    Authorizer {
        /// The policy, webhook or plugin.
        name: String,
    },
    /// It looks up objects.
    #[error("{name} looks up objects of the cluster, and these are not known")]
    PluginState {
        /// The plugin.
        name: String,
    },
}

/// The first need of the policies, webhooks and plugins that is not known.
pub(crate) fn first_unknown(admission: &Admission, known: KnownState) -> Option<UnknownState> {
    let needs = admission.needs().into_iter().chain(admission.plugin_needs());
    let mut needs = needs.filter(|need| !known.has(need.kind));
    let DecisionNeed { name, kind } = needs.next()?;
    Some(match kind {
        NeedKind::Params => UnknownState::Params { name },
        NeedKind::NamespaceLabels => UnknownState::Labels { name },
        NeedKind::Authorizer => UnknownState::Authorizer { name },
        NeedKind::PluginState => UnknownState::PluginState { name },
        _ => UnknownState::Namespace { name },
    })
}
