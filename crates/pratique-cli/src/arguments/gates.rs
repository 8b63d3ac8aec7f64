//! The feature gates of a server.

use clap::Args;
use pratique_types::FeatureGates;

/// What is switched on and off in kube-apiserver.
#[derive(Clone, Debug, Args)]
pub(crate) struct GateArguments {
    /// Feature gates of kube-apiserver, as NAME=true|false.
    #[arg(
        long,
        env = "PRATIQUE_FEATURE_GATES",
        value_name = "NAME=BOOL,…",
        default_value = ""
    )]
    pub(crate) feature_gates: FeatureGates,
}
