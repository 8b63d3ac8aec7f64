//! Params that are looked up while a request waits.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_policy::{Cluster, NamespaceObject, ParamScope};
use pratique_schema::merge::MergeSchema;
use pratique_types::{GroupVersionKind, ObjectRef};

/// A source of params of policies, such as another service.
///
/// It is called when a request matches a binding that has such params; the policies of the phase are evaluated again
/// with the result, which counts for this request only. A source that wants to reuse params for later requests has to
/// keep them.
///
/// ```
/// use std::sync::Arc;
///
/// use pratique::cluster::{ParamScope, ParamSource};
/// use pratique::json::Value;
/// use pratique::types::GroupVersionKind;
/// use pratique::Admission;
///
/// struct Limits;
///
/// impl ParamSource for Limits {
///     fn scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
///         (kind.kind == "Limit").then_some(ParamScope::Namespaced)
///     }
///
///     async fn params(&self, _: &GroupVersionKind, namespace: &str) -> Option<Arc<[Value<'static>]>> {
///         let text = load(namespace).await?;
///         Some([pratique::json::parse(text.as_bytes()).ok()?.into_owned()].into())
///     }
/// }
/// # async fn load(_: &str) -> Option<String> { None }
///
/// let builder = Admission::builder().live().params(Limits);
/// ```
pub trait ParamSource: Send + Sync {
    /// Where objects of a kind live; `None` for a kind of which it has none: params of that are the cluster's.
    fn scope(&self, kind: &GroupVersionKind) -> Option<ParamScope>;

    /// All objects of a kind in a namespace (empty for a kind of cluster scope). Where they cannot be had (`None`), policies
    /// that need them are undecided: see [`MissingDependency::Params`](crate::policy::MissingDependency::Params). May be written as an
    /// `async fn`; the future is dropped when the caller does not wait for the answer any more.
    fn params(
        &self,
        kind: &GroupVersionKind,
        namespace: &str,
    ) -> impl Future<Output = Option<Arc<[Value<'static>]>>> + Send;
}

/// Objects to come.
type LookUp<'a> = Pin<Box<dyn Future<Output = Option<Arc<[Value<'static>]>>> + Send + 'a>>;

/// A [`ParamSource`] of any type. Every one is such a source: there is nothing to implement.
pub trait DynParamSource: Send + Sync {
    #[doc(hidden)]
    fn scope(&self, kind: &GroupVersionKind) -> Option<ParamScope>;

    #[doc(hidden)]
    fn params<'a>(&'a self, kind: &'a GroupVersionKind, namespace: &'a str) -> LookUp<'a>;
}

impl<S: ParamSource> DynParamSource for S {
    fn scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        ParamSource::scope(self, kind)
    }

    fn params<'a>(&'a self, kind: &'a GroupVersionKind, namespace: &'a str) -> LookUp<'a> {
        Box::pin(ParamSource::params(self, kind, namespace))
    }
}

/// A kind, and a namespace or none.
type ParamKey = (GroupVersionKind, String);

/// A cluster with the params that were looked up for one request.
pub(crate) struct WithParams<'c> {
    cluster: &'c (dyn Cluster + Sync),
    source: &'c dyn DynParamSource,
    /// The params so far, in the order of their names; `None` where they cannot be looked up.
    params: HashMap<ParamKey, Option<Arc<[Value<'static>]>>, RandomState>,
    /// The params still to be looked up.
    open: Mutex<Vec<ParamKey>>,
}

impl<'c> WithParams<'c> {
    pub(crate) fn new(cluster: &'c (dyn Cluster + Sync), source: &'c dyn DynParamSource) -> Self {
        WithParams {
            cluster,
            source,
            params: HashMap::default(),
            open: Mutex::default(),
        }
    }

    /// Takes the list of params to look up.
    pub(crate) fn take_open(&self) -> Vec<ParamKey> {
        std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks one up.
    pub(crate) fn look_up<'a>(&'a self, (kind, namespace): &'a ParamKey) -> LookUp<'a> {
        self.source.params(kind, namespace)
    }

    /// Adds params that were looked up.
    pub(crate) fn add(&mut self, key: ParamKey, objects: Option<Arc<[Value<'static>]>>) {
        let sorted = objects.map(|objects| {
            if objects.is_sorted_by_key(|object| ObjectRef::new(object).name()) {
                objects
            } else {
                let mut sorted = objects.to_vec();
                sorted.sort_by(|one, other| ObjectRef::new(one).name().cmp(ObjectRef::new(other).name()));
                sorted.into()
            }
        });
        self.params.insert(key, sorted);
    }

    fn is_of_source(&self, kind: &GroupVersionKind) -> bool {
        self.source.scope(kind).is_some()
    }

    fn found(&self, kind: &GroupVersionKind, namespace: &str) -> &[Value<'static>] {
        let params = self.params.get(&(kind.clone(), namespace.to_owned()));
        params.and_then(Option::as_deref).unwrap_or_default()
    }
}

impl Namespaces for WithParams<'_> {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        self.cluster.namespace(name)
    }
}

impl Cluster for WithParams<'_> {
    fn equivalents(&self) -> &Equivalents {
        self.cluster.equivalents()
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        let of_source = self.source.scope(kind);
        of_source.or_else(|| self.cluster.param_scope(kind))
    }

    fn params_synced(&self, kind: &GroupVersionKind) -> bool {
        self.is_of_source(kind) || self.cluster.params_synced(kind)
    }

    fn params_pending(&self, kind: &GroupVersionKind, namespace: &str) -> bool {
        if !self.is_of_source(kind) {
            return self.cluster.params_pending(kind, namespace);
        }
        let key = (kind.clone(), namespace.to_owned());
        if self.params.contains_key(&key) {
            return false;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.contains(&key) {
            open.push(key);
        }
        true
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        if !self.is_of_source(kind) {
            return self.cluster.param(kind, namespace, name);
        }
        let objects: &'a [Value<'static>] = self.found(kind, namespace);
        objects
            .iter()
            .find(|object| ObjectRef::new(object).name() == name)
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        if !self.is_of_source(kind) {
            return self.cluster.params(kind, namespace);
        }
        let objects: &'a [Value<'static>] = self.found(kind, namespace);
        objects.iter().map(|object| -> &'a Value<'a> { object }).collect()
    }

    fn knows_params(&self, kind: &GroupVersionKind) -> bool {
        if !self.is_of_source(kind) {
            return self.cluster.knows_params(kind);
        }
        let mut params = self.params.iter().filter(|((of, _), _)| of == kind);
        params.all(|(_, objects)| objects.is_some())
    }

    fn objects_of_kind<'a>(&'a self, kind: &GroupVersionKind) -> Option<Vec<&'a Value<'a>>> {
        self.cluster.objects_of_kind(kind)
    }

    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        self.cluster.namespace_object(name)
    }

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        self.cluster.custom_merge_schema(kind)
    }
}

impl fmt::Debug for WithParams<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WithParams").finish_non_exhaustive()
    }
}
