//! Objects that are loaded together: the static manifests of a plugin, or the objects of the API.

use std::fmt;

use clap::ValueEnum;
use pratique_manifest::Plugin;
use pratique_policy::Origin;

/// What is loaded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// The static manifests of a plugin.
    Static(Plugin),
    /// The objects of the API.
    Api,
}

/// Where objects come from, by the name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OriginName {
    /// Static manifests, which an API server reads from its disk.
    Static,
    /// Objects of the API, as `kubectl apply` creates them.
    Api,
}

impl Group {
    /// The plugin of static manifests.
    pub(crate) fn plugin(self) -> Option<Plugin> {
        match self {
            Group::Static(plugin) => Some(plugin),
            Group::Api => None,
        }
    }

    /// The origin of the objects.
    pub(crate) fn origin(self) -> Origin {
        match self {
            Group::Static(_) => Origin::Static,
            Group::Api => Origin::Api,
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Group::Static(plugin) => plugin.fmt(formatter),
            Group::Api => formatter.write_str("API"),
        }
    }
}
