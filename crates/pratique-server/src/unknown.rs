//! What would have to be known of a cluster for a decision to be right.

use pratique::Admission;
use pratique::policy::{Need, NeedKind};

/// What is known of the cluster that requests come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownCluster {
    /// Its objects: namespaces with their labels, params.
    pub objects: bool,
    /// What its users may do.
    pub authorizer: bool,
}

impl KnownCluster {
    /// A real cluster, which can be asked for everything.
    pub const ALL: Self = KnownCluster {
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

/// What is not known, but would have to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// Namespaces are selected by their labels.
    #[error("{name} selects namespaces by their labels, and the namespaces of the cluster are not known")]
    Labels {
        /// The policy, binding or webhook that does.
        name: String,
    },
    /// More of a namespace is read than its name.
    #[error("{name} reads namespaceObject beyond its name, and the namespaces of the cluster are not known")]
    Namespace {
        /// The policy that does.
        name: String,
    },
    /// There are params.
    #[error("{name} takes params from the cluster, and its objects are not known")]
    Params {
        /// The policy that does.
        name: String,
    },
    /// The authorizer is asked.
    #[error("{name} asks the authorizer, and there is no cluster to answer")]
    Authorizer {
        /// The policy or webhook that does.
        name: String,
    },
}

/// The first of it in what requests are judged by.
pub(crate) fn unknown(admission: &Admission, known: KnownCluster) -> Option<Unknown> {
    let needs = admission.needs().into_iter();
    let mut needs = needs.filter(|need| !known.has(need.kind));
    let Need { name, kind } = needs.next()?;
    Some(match kind {
        NeedKind::Params => Unknown::Params { name },
        NeedKind::NamespaceLabels => Unknown::Labels { name },
        NeedKind::Authorizer => Unknown::Authorizer { name },
        _ => Unknown::Namespace { name },
    })
}
