//! The API server that is followed, if any, and the release with its feature gates that everything is of.

#[cfg(feature = "kube")]
use pratique_kube::ApiServer;
use pratique_schema::FeatureGates;

use crate::arguments::{GateArguments, ServeArguments};
use crate::exit::CliError;
#[cfg(feature = "kube")]
use crate::serve::serve_error::ServeError;

/// An API server, and its release.
pub(super) struct FollowedServer {
    #[cfg(feature = "kube")]
    pub(super) api: Option<ApiServer>,
    /// Those of the API server, unless the flags name a release.
    pub(super) gates: FeatureGates,
}

impl FollowedServer {
    /// No server: the gates are those of the flags.
    ///
    /// # Errors
    /// The release does not have them.
    pub(super) fn none(gates: &GateArguments) -> Result<Self, CliError> {
        Ok(FollowedServer {
            #[cfg(feature = "kube")]
            api: None,
            gates: gates.of_server(None)?.feature_gates,
        })
    }

    /// The API server that the arguments name, if any.
    ///
    /// # Errors
    /// It cannot be connected to, or its release does not have the gates of the flags.
    #[cfg(feature = "kube")]
    pub(super) fn connect(arguments: &ServeArguments) -> Result<Self, CliError> {
        let cluster = &arguments.cluster;
        let server = match &cluster.kubeconfig {
            Some(path) => crate::snapshot::of_kubeconfig(path, cluster.context.as_deref()),
            None if cluster.cluster || cluster.follows() => ApiServer::infer(),
            None => return FollowedServer::none(&arguments.gates),
        };
        let server = server.map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))?;
        Ok(FollowedServer {
            gates: gates_of(&server, &arguments.gates)?,
            api: Some(server),
        })
    }

    /// No server: nothing here can ask one.
    ///
    /// # Errors
    /// The release of the flags does not have their gates.
    #[cfg(not(feature = "kube"))]
    pub(super) fn connect(arguments: &ServeArguments) -> Result<Self, CliError> {
        FollowedServer::none(&arguments.gates)
    }
}

/// The feature gates of a server's own release, where none is named.
#[cfg(feature = "kube")]
fn gates_of(server: &ApiServer, arguments: &GateArguments) -> Result<FeatureGates, CliError> {
    // Of a cluster that does not answer yet, nothing is known; its state is waited for later.
    let version = server.reader().version().unwrap_or_default();
    let name = format!("cluster {}", server.url().trim_end_matches('/'));
    let gates = arguments.of_server(Some((name, version)))?;
    if let Some(notice) = gates.server_notice() {
        tracing::warn!("{}", notice.line());
    }
    Ok(gates.feature_gates)
}
