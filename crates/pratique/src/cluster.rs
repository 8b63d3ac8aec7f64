//! What a decision may depend on besides the request and the configuration: namespaces, params, and what is served.
//!
//! Policies and webhooks see a [`Cluster`], which does not change during a request; a [`ClusterView`] gives a
//! [`Live`](crate::Live) one for each request. [`Objects`] is a cluster in memory, [`SharedObjects`] a view of one that
//! may change, a [`ParamSource`] gives params that are looked up elsewhere, and [`AssumedNamespaces`] is for programs that
//! know nothing of the cluster. `pratique-kube` has a view of a real one.
//!
//! Everything that an implementation of its own needs is here:
//!
//! ```
//! use pratique::Release;
//! use pratique::cluster::{Cluster, Equivalents, Namespace, Namespaces, ParamScope, StoredObject};
//! use pratique::json::Value;
//! use pratique::types::GroupVersionKind;
//!
//! /// A cluster with one namespace and no params.
//! struct OneNamespace {
//!     name: String,
//!     namespace: StoredObject,
//!     served: Equivalents,
//! }
//!
//! impl Namespaces for OneNamespace {
//!     fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
//!         match name == self.name {
//!             true => Namespace::Stored(self.namespace.value()),
//!             false => Namespace::Absent,
//!         }
//!     }
//! }
//!
//! impl Cluster for OneNamespace {
//!     fn equivalents(&self) -> &Equivalents {
//!         &self.served
//!     }
//!
//!     fn param_scope(&self, _: &GroupVersionKind) -> Option<ParamScope> {
//!         None
//!     }
//!
//!     fn param<'a>(&'a self, _: &GroupVersionKind, _: &str, _: &str) -> Option<&'a Value<'a>> {
//!         None
//!     }
//!
//!     fn params<'a>(&'a self, _: &GroupVersionKind, _: &str) -> Vec<&'a Value<'a>> {
//!         Vec::new()
//!     }
//! }
//!
//! let object = pratique::json::parse(br#"{"kind": "Namespace", "metadata": {"name": "shop"}}"#)?;
//! let cluster = OneNamespace {
//!     name: "shop".to_owned(),
//!     namespace: StoredObject::new(Release::latest(), object.into_owned()),
//!     served: Equivalents::of_release(Release::latest().resources()),
//! };
//! assert_eq!(cluster.namespace("other"), Namespace::Absent);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assuming;
mod objects;
mod overlaid_state;
mod overlay;
mod params;
mod plugin_view;
mod state;
mod stored_objects;
mod view;

pub use assuming::AssumedNamespaces;
pub use objects::Objects;
pub use overlay::ClusterOverlay;
pub(crate) use params::WithParams;
pub use params::{DynParamSource, ParamSource};
pub(crate) use plugin_view::PluginView;
pub use pratique_match::{Equivalent, Equivalents, Namespace, Namespaces};
pub use pratique_policy::{Cluster, NamespaceObject, ParamScope};
pub use pratique_schema::merge::MergeSchema;
pub use state::WithState;
pub use stored_objects::StoredObject;
pub use view::{ClusterView, LookUp, SharedObjects, StateLookUp};
