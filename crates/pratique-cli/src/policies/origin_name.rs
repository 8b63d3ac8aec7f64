//! Where objects come from, by the name on the command line.

use clap::ValueEnum;
use pratique_policy::Origin;

/// Where objects come from, by the name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OriginName {
    /// Static manifests, which an API server reads from its disk.
    Static,
    /// Objects of the API, as `kubectl apply` creates them.
    Api,
}

impl From<OriginName> for Origin {
    fn from(name: OriginName) -> Self {
        match name {
            OriginName::Static => Origin::Static,
            OriginName::Api => Origin::Api,
        }
    }
}
