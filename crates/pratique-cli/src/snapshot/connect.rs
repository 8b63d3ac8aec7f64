//! Connects to the cluster that arguments name.

use std::path::Path;

use pratique_kube::{ApiServer, ConnectError};

use crate::exit::CliError;
use crate::project::names_kubeconfig;
use crate::serve::serve_error::ServeError;

/// Connects to the API server of a kubeconfig file, or of the environment.
pub(crate) fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<ApiServer, CliError> {
    let server = match (kubeconfig, context) {
        (Some(path), context) => of_kubeconfig(path, context),
        (None, Some(context)) => ApiServer::context(context),
        (None, None) => ApiServer::infer(),
    };
    server.map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))
}

/// The API server of a kubeconfig file. A command in it is not run where the project file names it: with a change of the
/// repository comes the command.
pub(crate) fn of_kubeconfig(path: &Path, context: Option<&str>) -> Result<ApiServer, ConnectError> {
    if names_kubeconfig(path) {
        ApiServer::kubeconfig_without_commands(path, context)
    } else {
        ApiServer::kubeconfig(path, context)
    }
}
