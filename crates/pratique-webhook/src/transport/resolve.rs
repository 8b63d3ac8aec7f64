//! Name resolution: addresses that the caller resolved, and those of the system.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::target::HostPin;

/// A name without address.
#[derive(Debug, thiserror::Error)]
#[error("lookup {0}: no such host")]
pub(super) struct NoSuchHost(pub(super) String);

/// Resolves names, and remembers the first address of each, which messages contain.
#[derive(Clone, Default)]
pub(super) struct NameResolver {
    pinned: Option<HostPin>,
    first: Arc<Mutex<HashMap<String, SocketAddr>>>,
}

impl NameResolver {
    pub(super) fn new(pinned: Option<HostPin>) -> Self {
        Self {
            pinned,
            first: Arc::default(),
        }
    }

    /// The first address of a name, by the last look-up; port 0 where the look-up gave none.
    pub(super) fn first(&self, name: &str) -> Option<SocketAddr> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get(&name.to_ascii_lowercase()).copied()
    }
}

impl Resolve for NameResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_owned();
        let pinned = self
            .pinned
            .as_ref()
            .filter(|pin| pin.name.eq_ignore_ascii_case(&name));
        let pinned = pinned.map(|pin| pin.address.clone());
        let memory = Arc::clone(&self.first);
        Box::pin(async move {
            let looked_up = pinned.clone().unwrap_or_else(|| format!("{name}:0"));
            let lookup = tokio::net::lookup_host(looked_up).await;
            let requested = pinned
                .as_deref()
                .and_then(|address| address.rsplit_once(':'))
                .map(|(host, _)| host);
            let missing = || NoSuchHost(requested.unwrap_or(&name).to_owned());
            let addresses: Vec<SocketAddr> = lookup.map_err(|_| missing())?.collect();
            let first = *addresses.first().ok_or_else(missing)?;
            let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
            // Redirects could name ever more hosts.
            if memory.len() >= 16 {
                memory.clear();
            }
            memory.insert(name.to_ascii_lowercase(), first);
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
