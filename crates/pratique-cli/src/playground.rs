//! The command `playground`.

#[cfg(feature = "playground")]
mod embedded_site;
mod files;
mod http;
pub(crate) mod playground_error;

use std::net::TcpListener;

use tokio::runtime;

use crate::arguments::PlaygroundArguments;
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::text::text;
use crate::playground::playground_error::PlaygroundError;
use crate::serve::serve_error::ServeError;
use files::SiteFiles;

/// Serves the playground until a signal ends the process.
pub(crate) fn run(arguments: &PlaygroundArguments) -> Result<ExitStatus, CliError> {
    let files = match &arguments.dir {
        Some(directory) => SiteFiles::read(directory)?,
        None => embedded()?,
    };
    let failed = |error: std::io::Error| {
        CliError::Serve(ServeError::Serve(format!(
            "cannot listen on {}: {error}",
            arguments.listen
        )))
    };
    let addresses = arguments.listen.addresses().map_err(failed)?;
    let listener = TcpListener::bind(addresses.as_slice()).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CliError::Thread)?;
    output::print(&text!("http://{}/\n", address))?;
    let served = runtime.block_on(http::serve(listener, files));
    served.map_err(|error| CliError::Serve(ServeError::Serve(error.to_string())))?;
    Ok(ExitStatus::Success)
}

/// The playground in this program.
#[cfg(feature = "playground")]
fn embedded() -> Result<SiteFiles, CliError> {
    Ok(embedded_site::files())
}

#[cfg(not(feature = "playground"))]
fn embedded() -> Result<SiteFiles, CliError> {
    Err(CliError::Playground(PlaygroundError::NoPlayground))
}
