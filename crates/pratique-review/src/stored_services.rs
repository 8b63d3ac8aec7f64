//! The Services of a run: what one request gets of addresses and ports, those after it do not.
//!
//! A server decides about a Service beside those that it has stored. Where one request after another is reviewed, these are those of
//! the cluster, and those of the requests before that it would have stored.

use std::sync::{Arc, Mutex, PoisonError};

use pratique::api_objects::RequestedService;
use pratique::cluster::{Cluster, NamespaceObject, ParamScope};
use pratique::{AdmissionRequest, Objects, Outcome};
use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_schema::merge::MergeSchema;
use pratique_state::is_stored_request;
use pratique_types::{GroupVersionKind, ObjectRef};

/// The Services that were stored in a run so far.
#[derive(Debug)]
pub(crate) struct StoredServices {
    /// Whether others of the run are stored elsewhere, so that nothing is known of any.
    is_part: bool,
    run: Mutex<Arc<RunServices>>,
}

#[derive(Clone, Debug)]
struct RunServices {
    stored: Vec<Arc<Value<'static>>>,
    /// Whether there may be more.
    has_others: bool,
}

/// A cluster with the Services of a run.
pub(crate) struct ClusterOfRun<'c> {
    cluster: &'c Objects,
    run: Arc<RunServices>,
}

impl StoredServices {
    /// None yet, of a run or of a part of it.
    pub(crate) fn new(is_part: bool) -> Self {
        let run = RunServices {
            stored: Vec::new(),
            has_others: is_part,
        };
        StoredServices {
            is_part,
            run: Mutex::new(Arc::new(run)),
        }
    }

    /// Whether what one request stores is seen by those after it.
    pub(crate) fn is_kept(&self) -> bool {
        !self.is_part
    }

    /// The cluster beside which a request is decided about, if it is for a Service.
    pub(crate) fn cluster_of<'c>(
        &self,
        cluster: &'c Objects,
        request: &AdmissionRequest<'_>,
    ) -> Option<ClusterOfRun<'c>> {
        is_service(&request.kind).then(|| ClusterOfRun {
            cluster,
            run: self.run.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        })
    }

    /// Stores the Service of a request that was decided about.
    pub(crate) fn store(
        &self,
        request: &AdmissionRequest<'_>,
        service: Option<RequestedService>,
        outcome: &Outcome,
    ) {
        let is_stored = self.is_kept() && is_stored_request(request) && outcome.status.is_none();
        let Some(service) = service.filter(|_| is_stored) else {
            return;
        };
        let mut shared = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let run = Arc::make_mut(&mut shared);
        let is_only_open = outcome.undecided.len() == 1 && service.is_certain;
        if outcome.allowed() || is_only_open {
            let own = ObjectRef::new(&service.object);
            let is_other = |stored: &Arc<Value<'static>>| !is_same(ObjectRef::new(stored), own);
            run.stored.retain(is_other);
            run.stored.push(Arc::new(service.object));
        } else {
            run.has_others = true;
        }
    }
}

/// Whether two objects of a kind are one. Those that get their names later are not.
fn is_same(one: ObjectRef<'_>, other: ObjectRef<'_>) -> bool {
    !one.name().is_empty() && one.name() == other.name() && one.namespace() == other.namespace()
}

fn is_service(kind: &GroupVersionKind) -> bool {
    kind.group.is_empty() && kind.kind == "Service"
}

impl Namespaces for ClusterOfRun<'_> {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        self.cluster.namespace(name)
    }
}

impl Cluster for ClusterOfRun<'_> {
    fn equivalents(&self) -> &Equivalents {
        self.cluster.equivalents()
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        self.cluster.param_scope(kind)
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        self.cluster.param(kind, namespace, name)
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        self.cluster.params(kind, namespace)
    }

    fn knows_params(&self, kind: &GroupVersionKind) -> bool {
        self.cluster.knows_params(kind) && !(self.run.has_others && is_service(kind))
    }

    fn objects_of_kind<'a>(&'a self, kind: &GroupVersionKind) -> Option<Vec<&'a Value<'a>>> {
        let mut objects = self.cluster.objects_of_kind(kind)?;
        if is_service(kind) {
            let stored = || self.run.stored.iter().map(|stored| -> &'a Value<'a> { stored });
            let is_kept = |object: &&Value<'_>| {
                !stored().any(|stored| is_same(ObjectRef::new(stored), ObjectRef::new(object)))
            };
            objects.retain(is_kept);
            objects.extend(stored());
        }
        Some(objects)
    }

    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        self.cluster.namespace_object(name)
    }

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        self.cluster.custom_merge_schema(kind)
    }
}
