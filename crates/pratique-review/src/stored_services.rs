//! The Services of a run: what one request gets of addresses and ports, those after it do not.
//!
//! A server decides about a Service beside those that it has stored. Where one request after another is reviewed, these are those of
//! the cluster, and those of the requests before that it would have stored.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use pratique::api_objects::RequestedService;
use pratique::cluster::{Cluster, NamespaceObject, ParamScope};
use pratique::{AdmissionRequest, Objects, Outcome};
use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_schema::merge::MergeSchema;
use pratique_state::is_stored_request;
use pratique_types::{GroupVersionKind, ObjectRef};
use pratique_validation::allocations;

/// The Services that were stored in a run so far.
#[derive(Debug)]
pub(crate) struct StoredServices {
    /// Whether others of the run are stored elsewhere, so that nothing is known of any.
    is_part: bool,
    run: Mutex<RunServices>,
}

#[derive(Debug, Default)]
struct RunServices {
    stored: HashMap<ServiceName, Arc<Value<'static>>>,
    /// Which of them have an address or a port.
    by_allocation: HashMap<String, HashSet<ServiceName>>,
    /// How many get their names later.
    unnamed: usize,
    /// Whether there may be more.
    has_others: bool,
}

/// A namespace and a name in it.
type ServiceName = (String, String);

/// A cluster with Services of a run.
pub(crate) struct ClusterOfRun<'c> {
    cluster: &'c Objects,
    /// The Services of the cluster that the run did not store anew.
    known: Option<Vec<&'c Value<'c>>>,
    stored: Vec<Arc<Value<'static>>>,
    has_others: bool,
}

impl StoredServices {
    /// None yet, of a run or of a part of it.
    pub(crate) fn new(is_part: bool) -> Self {
        let run = RunServices {
            has_others: is_part,
            ..RunServices::default()
        };
        StoredServices {
            is_part,
            run: Mutex::new(run),
        }
    }

    /// Whether what one request stores is seen by those after it.
    pub(crate) fn is_kept(&self) -> bool {
        !self.is_part
    }

    /// The cluster beside which a request is decided about, if it is for a Service. It has the Services of the run that have what
    /// this one asks for, and all where that may change during admission.
    pub(crate) fn cluster_of<'c>(
        &self,
        cluster: &'c Objects,
        request: &AdmissionRequest<'_>,
        may_change: bool,
    ) -> Option<ClusterOfRun<'c>> {
        if !request.kind.is_core("Service") {
            return None;
        }
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = if may_change {
            run.stored.values().cloned().collect()
        } else {
            run.having(&allocations(&request.object))
        };
        let mut known = cluster.objects_of_kind(&request.kind);
        if let Some(known) = known.as_mut().filter(|_| !run.stored.is_empty()) {
            known.retain(|service| !run.stored.contains_key(&name_of(service)));
        }
        Some(ClusterOfRun {
            cluster,
            known,
            stored,
            has_others: run.has_others,
        })
    }

    /// Stores the Service of a request that was decided about beside a cluster; `asks` is whether it asks for something. It is not known
    /// where the request was left undecided before it was prepared, or came as it was sent to a webhook.
    pub(crate) fn store(
        &self,
        cluster: &Objects,
        (request, asks): (&AdmissionRequest<'_>, bool),
        service: Option<RequestedService>,
        outcome: &Outcome,
    ) {
        let is_stored =
            request.kind.is_core("Service") && is_stored_request(request) && outcome.status.is_none();
        if !self.is_kept() || !is_stored {
            return;
        }
        let is_only_open = |service: &RequestedService| outcome.undecided.len() == 1 && service.is_certain;
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        match service {
            Some(mut service) if outcome.allowed() || is_only_open(&service) => {
                run.keep_allocations(&mut service, request, cluster);
                run.store(service.object);
            }
            _ => run.has_others |= asks,
        }
    }
}

impl RunServices {
    fn having(&self, allocations: &HashSet<String>) -> Vec<Arc<Value<'static>>> {
        let names = allocations.iter().filter_map(|one| self.by_allocation.get(one));
        let names: HashSet<&ServiceName> = names.flatten().collect();
        let services = names.into_iter().filter_map(|name| self.stored.get(name));
        services.cloned().collect()
    }

    /// Gives a Service the addresses and ports that it has already: those of its old object, of the request before for it, or of the
    /// Service of the cluster with its name.
    fn keep_allocations(
        &self,
        service: &mut RequestedService,
        request: &AdmissionRequest<'_>,
        cluster: &Objects,
    ) {
        let name = name_of(&service.object);
        if !request.old_object.is_null() {
            service.keep_allocations(&request.old_object);
        } else if let Some(earlier) = self.stored.get(&name) {
            service.keep_allocations(earlier);
        } else if let Some(known) = cluster.param(&request.kind, &name.0, &name.1) {
            service.keep_allocations(known);
        }
    }

    fn store(&mut self, service: Value<'static>) {
        let name = self.new_name(&service);
        if let Some(earlier) = self.stored.remove(&name) {
            for allocation in allocations(&earlier) {
                if let Some(names) = self.by_allocation.get_mut(&allocation) {
                    names.remove(&name);
                }
            }
        }
        for allocation in allocations(&service) {
            self.by_allocation
                .entry(allocation)
                .or_default()
                .insert(name.clone());
        }
        self.stored.insert(name, Arc::new(service));
    }

    /// The name of a Service, and one that no other has for those that get theirs later.
    fn new_name(&mut self, service: &Value<'_>) -> ServiceName {
        let (namespace, name) = name_of(service);
        if !name.is_empty() {
            return (namespace, name);
        }
        self.unnamed += 1;
        (namespace, format!("/{}", self.unnamed))
    }
}

fn name_of(service: &Value<'_>) -> ServiceName {
    let object = ObjectRef::new(service);
    (object.namespace().to_owned(), object.name().to_owned())
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
        self.cluster.knows_params(kind) && !(self.has_others && kind.is_core("Service"))
    }

    fn objects_of_kind<'a>(&'a self, kind: &GroupVersionKind) -> Option<Vec<&'a Value<'a>>> {
        if !kind.is_core("Service") {
            return self.cluster.objects_of_kind(kind);
        }
        let stored = self.stored.iter().map(|stored| -> &'a Value<'a> { stored });
        let known = self.known.as_ref()?.iter();
        Some(
            known
                .map(|known| -> &'a Value<'a> { known })
                .chain(stored)
                .collect(),
        )
    }

    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        self.cluster.namespace_object(name)
    }

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        self.cluster.custom_merge_schema(kind)
    }
}
