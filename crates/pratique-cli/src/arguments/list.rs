//! The arguments about listing the objects of a cluster.

use std::time::Duration;

use clap::Args;

use super::duration::duration;

/// How the objects of a cluster are listed.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArguments {
    /// How many objects of the cluster are asked for at a time.
    #[arg(long, env = "PRATIQUE_CHUNK_SIZE", value_name = "N", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) chunk_size: u32,
    /// How many requests are sent to the cluster in a second, to list its objects.
    #[arg(long, env = "PRATIQUE_KUBE_API_QPS", value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) kube_api_qps: u32,
    /// How many of these requests are sent at once, if there were fewer before.
    #[arg(long, env = "PRATIQUE_KUBE_API_BURST", value_name = "N", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) kube_api_burst: u32,
    /// How long the cluster may take to answer one of these requests, such as 30s or 2m. Once it has not answered for twice as
    /// long, or cannot be reached, the command ends.
    #[arg(long, env = "PRATIQUE_REQUEST_TIMEOUT", value_name = "DURATION", default_value = "30s", value_parser = request_timeout)]
    pub(crate) request_timeout: Duration,
}

/// Parses the time that a request may take.
fn request_timeout(text: &str) -> Result<Duration, String> {
    let timeout = duration(text)?;
    if (Duration::from_millis(1)..=Duration::from_secs(120)).contains(&timeout) {
        Ok(timeout)
    } else {
        Err("expected 1ms to 2m".to_owned())
    }
}
