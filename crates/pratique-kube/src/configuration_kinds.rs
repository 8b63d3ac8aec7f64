//! The six kinds that configure admission, as followed.

use std::fmt::Debug;
use std::sync::Arc;

use kube::core::ClusterResourceScope;
use kube::{Api, Client, Resource};
use pratique::Configurations;
use pratique::types::admissionregistration::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::background::BackgroundTask;
use super::follow::{ObjectKeeper, follow};
use super::store::{KindStore, SyncState};

/// Which kinds of a cluster's configuration of admission are followed; the others count as having no objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedKinds {
    /// Policies and their bindings.
    pub policies: bool,
    /// Configurations of webhooks.
    pub webhooks: bool,
}

impl FollowedKinds {
    /// All of it.
    pub const ALL: FollowedKinds = FollowedKinds {
        policies: true,
        webhooks: true,
    };
}

/// The objects that configure admission.
#[derive(Debug)]
pub(super) struct ConfiguredObjects {
    mutating_policies: Arc<KindStore<MutatingAdmissionPolicy>>,
    mutating_bindings: Arc<KindStore<MutatingAdmissionPolicyBinding>>,
    mutating_webhooks: Arc<KindStore<MutatingWebhookConfiguration>>,
    validating_policies: Arc<KindStore<ValidatingAdmissionPolicy>>,
    validating_bindings: Arc<KindStore<ValidatingAdmissionPolicyBinding>>,
    validating_webhooks: Arc<KindStore<ValidatingWebhookConfiguration>>,
}

impl ConfiguredObjects {
    pub(super) fn new(changed: &Arc<Notify>) -> Self {
        ConfiguredObjects {
            mutating_policies: Arc::new(KindStore::new(changed.clone())),
            mutating_bindings: Arc::new(KindStore::new(changed.clone())),
            mutating_webhooks: Arc::new(KindStore::new(changed.clone())),
            validating_policies: Arc::new(KindStore::new(changed.clone())),
            validating_bindings: Arc::new(KindStore::new(changed.clone())),
            validating_webhooks: Arc::new(KindStore::new(changed.clone())),
        }
    }

    /// Starts following them.
    pub(super) fn follow(
        &self,
        follow: FollowedKinds,
        client: &Client,
        handle: &Handle,
    ) -> Vec<BackgroundTask> {
        let tasks = [
            start(follow.policies, client, handle, &self.mutating_policies),
            start(follow.policies, client, handle, &self.mutating_bindings),
            start(follow.webhooks, client, handle, &self.mutating_webhooks),
            start(follow.policies, client, handle, &self.validating_policies),
            start(follow.policies, client, handle, &self.validating_bindings),
            start(follow.webhooks, client, handle, &self.validating_webhooks),
        ];
        tasks.into_iter().flatten().collect()
    }

    /// All of them, by name; `None` until each kind is known.
    pub(super) fn collect(&self) -> Option<Configurations> {
        Some(Configurations {
            mutating_policies: list_all(&self.mutating_policies)?,
            mutating_bindings: list_all(&self.mutating_bindings)?,
            mutating_webhooks: list_all(&self.mutating_webhooks)?,
            validating_policies: list_all(&self.validating_policies)?,
            validating_bindings: list_all(&self.validating_bindings)?,
            validating_webhooks: list_all(&self.validating_webhooks)?,
        })
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let states = [
            self.mutating_policies.sync_state(),
            self.mutating_bindings.sync_state(),
            self.mutating_webhooks.sync_state(),
            self.validating_policies.sync_state(),
            self.validating_bindings.sync_state(),
            self.validating_webhooks.sync_state(),
        ];
        states.into_iter().filter_map(SyncState::problem).collect()
    }
}

fn start<K>(
    wanted: bool,
    client: &Client,
    handle: &Handle,
    store: &Arc<KindStore<K>>,
) -> Option<BackgroundTask>
where
    K: Resource<DynamicType = (), Scope = ClusterResourceScope>,
    K: Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    if !wanted {
        store.not_served();
        return None;
    }
    let api: Api<K> = Api::all(client.clone());
    Some(BackgroundTask::spawn(
        handle,
        follow(api, store.clone(), BareObjects),
    ))
}

fn list_all<T>(store: &KindStore<T>) -> Option<Vec<Arc<T>>> {
    match store.sync_state() {
        SyncState::None | SyncState::Failed(_) => None,
        SyncState::NotServed | SyncState::Complete => Some(
            store
                .objects()
                .values()
                .flat_map(|objects| objects.values().cloned())
                .collect(),
        ),
    }
}

/// Keeps objects without `managedFields`. A new generation is a change; a new status is not.
struct BareObjects;

impl<K: Resource + Clone + Send + Sync> ObjectKeeper<K> for BareObjects {
    type Kept = K;

    fn keep(&self, mut object: K) -> Option<K> {
        object.meta_mut().managed_fields = None;
        Some(object)
    }

    fn same(&self, one: &K, other: &K) -> bool {
        let (one, other) = (one.meta(), other.meta());
        let same_version = one.resource_version.is_some() && one.resource_version == other.resource_version;
        let same_generation =
            one.generation.is_some_and(|generation| generation > 0) && one.generation == other.generation;
        one.uid == other.uid && (same_version || (one.uid.is_some() && same_generation))
    }
}
