//! A cache of clients: one for each endpoint, made at its first call, dropped when its webhook is removed.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;

use super::Certificate;
use super::client::EndpointClient;
use super::credentials::CredentialSource;
use crate::caller::{Call, CallError, CallErrorKind, Endpoint};

/// Clients by endpoint. Looking one up takes no lock.
pub(super) struct EndpointClients {
    source: Arc<dyn CredentialSource>,
    most: usize,
    slots: ArcSwap<ClientsByEndpoint>,
    /// Serialises changes of the cache.
    changes: Mutex<()>,
    /// Counts calls, to find the least recently used client.
    clock: AtomicU64,
}

/// A service's endpoint has one client for each place where the service was found.
type ClientsByEndpoint = HashMap<Arc<Endpoint>, Vec<Arc<ClientSlot>>>;

struct ClientSlot {
    address: Option<String>,
    used: AtomicU64,
    client: OnceLock<Result<Arc<EndpointClient>, CallError>>,
}

impl EndpointClients {
    pub(super) fn new(source: Arc<dyn CredentialSource>, most: usize) -> Self {
        Self {
            source,
            most,
            slots: ArcSwap::default(),
            changes: Mutex::new(()),
            clock: AtomicU64::new(0),
        }
    }

    /// The client for a call.
    pub(super) fn client(&self, call: &Call) -> Result<Arc<EndpointClient>, CallError> {
        let address = call.address.as_deref();
        let slot = find(&self.slots.load(), &call.endpoint, address);
        let slot = slot.unwrap_or_else(|| self.add(&call.endpoint, address));
        slot.used
            .store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let make = || {
            let client = EndpointClient::new(&call.endpoint, address, &*self.source);
            client.map(Arc::new).map_err(|reason| CallError {
                message: format!("could not get REST client: {reason}"),
                kind: CallErrorKind::Client,
            })
        };
        slot.client.get_or_init(make).clone()
    }

    pub(super) fn retain(&self, wanted: &HashSet<&Endpoint>) {
        let _changing = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut clients = ClientsByEndpoint::clone(&self.slots.load());
        clients.retain(|endpoint, _| wanted.contains(&**endpoint));
        self.slots.store(Arc::new(clients));
    }

    pub(super) fn len(&self) -> usize {
        self.slots.load().values().map(Vec::len).sum()
    }

    pub(super) fn certificate(&self, endpoint: &Endpoint) -> Option<Certificate> {
        let clients = self.slots.load();
        let mut slots = clients.get(endpoint)?.iter().rev();
        slots.find_map(|slot| slot.client.get()?.as_ref().ok()?.certificate())
    }

    fn add(&self, endpoint: &Arc<Endpoint>, address: Option<&str>) -> Arc<ClientSlot> {
        let _changing = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.slots.load();
        if let Some(slot) = find(&current, endpoint, address) {
            return slot;
        }
        let mut clients = ClientsByEndpoint::clone(&current);
        while clients.values().map(Vec::len).sum::<usize>() >= self.most {
            drop_oldest(&mut clients);
        }
        let slot = Arc::new(ClientSlot {
            address: address.map(str::to_owned),
            used: AtomicU64::new(self.clock.load(Ordering::Relaxed)),
            client: OnceLock::new(),
        });
        clients
            .entry(Arc::clone(endpoint))
            .or_default()
            .push(Arc::clone(&slot));
        self.slots.store(Arc::new(clients));
        slot
    }
}

fn find(clients: &ClientsByEndpoint, endpoint: &Endpoint, address: Option<&str>) -> Option<Arc<ClientSlot>> {
    let slots = clients.get(endpoint)?;
    slots
        .iter()
        .find(|slot| slot.address.as_deref() == address)
        .cloned()
}

fn drop_oldest(clients: &mut ClientsByEndpoint) {
    let used = |slot: &Arc<ClientSlot>| slot.used.load(Ordering::Relaxed);
    let oldest = clients.values().flatten().map(used).min();
    for slots in clients.values_mut() {
        slots.retain(|slot| Some(used(slot)) != oldest);
    }
    clients.retain(|_, slots| !slots.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::NoCredentials;
    use bytes::Bytes;

    fn call(number: usize, address: Option<&str>) -> Call {
        let endpoint = Endpoint {
            url: format!("https://host{number}.example.com/x"),
            server_name: None,
            ca_bundle: None,
        };
        Call {
            webhook: "x.example.com".into(),
            endpoint: Arc::new(endpoint),
            address: address.map(str::to_owned),
            body: Bytes::new(),
            timeout: None,
            deadline: None,
            is_shortened: false,
            memory: Arc::default(),
        }
    }

    #[test]
    fn equal_endpoints_share_a_client() {
        let clients = EndpointClients::new(Arc::new(NoCredentials), 10);
        let first = clients.client(&call(1, None)).ok().unwrap();
        assert!(Arc::ptr_eq(&first, &clients.client(&call(1, None)).ok().unwrap()));
        assert!(!Arc::ptr_eq(
            &first,
            &clients.client(&call(1, Some("10.0.0.1:443"))).ok().unwrap()
        ));
        assert_eq!(clients.len(), 2);
    }

    #[test]
    fn the_oldest_go_first_and_the_unwanted_at_once() {
        let clients = EndpointClients::new(Arc::new(NoCredentials), 2);
        let first = clients.client(&call(1, None)).ok().unwrap();
        clients.client(&call(2, None)).ok().unwrap();
        clients.client(&call(1, None)).ok().unwrap();
        clients.client(&call(3, None)).ok().unwrap();
        assert_eq!(clients.len(), 2);
        assert!(Arc::ptr_eq(&first, &clients.client(&call(1, None)).ok().unwrap()));
        clients.retain(&HashSet::from([&*call(3, None).endpoint]));
        assert_eq!(clients.len(), 1);
    }
}
