//! The state of a cluster that plugins see besides its namespaces: definitions, and the pods of a namespace that is
//! updated.

use std::sync::Arc;
use std::time::Duration;

use kube::api::ListParams;
use kube::{Api, Client};
use pratique::json::Value;
use pratique::plugins::{ClusterState, Lookup, ObjectList, StateKind};
use pratique::types::{AdmissionRequest, GroupVersionKind, ObjectRef, Operation};
use tokio::time::timeout;

use super::definition_uses::DefinedKinds;
use super::failure;
use super::stored_object::{self, KubeObject};

/// The definitions of a moment, and the pods of the namespace of a request.
pub(super) struct PluginState {
    pub(super) defined: Arc<DefinedKinds>,
    pub(super) pods: Option<PodsOf>,
}

/// The pods of a namespace, by name.
pub(super) struct PodsOf {
    namespace: String,
    pods: ObjectList,
}

/// The prefix of the labels of a namespace by which pod security is enforced.
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

/// How many pods are requested at a time.
const PAGE: u32 = 500;

/// The most pods of a namespace that are read. An API server, which has all of them, checks 3,000.
const MOST_PODS: usize = 5_000;

/// How long pods may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The namespace whose pods a request may need: one whose labels enforce another level.
pub(super) fn namespace_of_pods(request: &AdmissionRequest<'_>, kinds: &[StateKind]) -> Option<String> {
    let of_namespaces = request.resource.group.is_empty()
        && request.resource.resource == "namespaces"
        && request.sub_resource.is_empty();
    if !kinds.contains(&StateKind::POD) || !of_namespaces || request.operation != Operation::Update {
        return None;
    }
    let enforced = |object: &Value<'_>| {
        let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object);
        let labels = labels.into_iter().flat_map(|labels| labels.iter());
        let labels = labels.filter(|(name, _)| name.starts_with(ENFORCE));
        let mut all: Vec<(String, Option<String>)> = labels
            .map(|(name, value)| (name.to_owned(), value.as_str().map(str::to_owned)))
            .collect();
        all.sort();
        all
    };
    (enforced(&request.object) != enforced(&request.old_object)).then(|| request.name.clone())
}

/// Reads the pods of a namespace; `None` if that fails, or takes too long.
pub(super) async fn pods(client: Client, namespace: String) -> Option<PodsOf> {
    let reason = match timeout(PATIENCE, list(client, &namespace)).await {
        Ok(Ok(mut pods)) => {
            pods.sort_by(|one, other| ObjectRef::new(one).name().cmp(ObjectRef::new(other).name()));
            return Some(PodsOf {
                namespace,
                pods: pods.into(),
            });
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    tracing::warn!(namespace, reason, "Failed to list pods");
    None
}

/// Why the pods of a namespace are not known.
#[derive(Debug, thiserror::Error)]
enum PodsError {
    #[error("{}", failure::error_text(.0))]
    Request(#[from] kube::Error),
    #[error("there are more than {MOST_PODS}")]
    TooMany,
}

async fn list(client: Client, namespace: &str) -> Result<Vec<Arc<Value<'static>>>, PodsError> {
    let kind = GroupVersionKind::new("", "v1", "Pod");
    let api: Api<KubeObject> =
        Api::namespaced_with(client, namespace, &stored_object::resource(&kind, "pods"));
    let mut all = Vec::new();
    let mut parameters = ListParams::default().limit(PAGE);
    loop {
        let page = api.list(&parameters).await?;
        all.extend(
            page.items
                .into_iter()
                .map(|pod| Arc::new(checked(pod.into_value(&kind)))),
        );
        if all.len() > MOST_PODS {
            return Err(PodsError::TooMany);
        }
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => parameters = parameters.continue_token(&token),
            None => return Ok(all),
        }
    }
}

/// The parts of a pod that are checked.
fn checked(mut pod: Value<'static>) -> Value<'static> {
    if let Value::Object(members) = &mut pod {
        members.remove("status");
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            metadata.remove("managedFields");
        }
    }
    pod
}

impl ClusterState for PluginState {
    fn get<'a>(&'a self, kind: StateKind, namespace: &str, name: &str) -> Lookup<'a> {
        let Some(all) = self.list(kind, namespace) else {
            return Lookup::Unknown;
        };
        match all.binary_search_by(|object| ObjectRef::new(object).name().cmp(name)) {
            Ok(at) => all.get(at).map_or(Lookup::Absent, |object| Lookup::Found(object)),
            Err(_) => Lookup::Absent,
        }
    }

    fn list<'a>(&'a self, kind: StateKind, namespace: &str) -> Option<&'a ObjectList> {
        if kind == StateKind::CUSTOM_RESOURCE_DEFINITION {
            return self.defined.outlines();
        }
        let pods = self.pods.as_ref().filter(|_| kind == StateKind::POD)?;
        (pods.namespace == namespace).then_some(&pods.pods)
    }
}
