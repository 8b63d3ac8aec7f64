//! Connects to the cluster that arguments name.

use std::path::Path;

use pratique_kube::ApiServer;

use crate::exit::CliError;

/// Connects to the API server of a kubeconfig file, or of the environment.
pub(crate) fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<ApiServer, CliError> {
    let server = match (kubeconfig, context) {
        (Some(path), context) => ApiServer::kubeconfig(path, context),
        (None, Some(context)) => ApiServer::context(context),
        (None, None) => ApiServer::infer(),
    };
    server.map_err(|error| CliError::Serve(error.to_string()))
}
