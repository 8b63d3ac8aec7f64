//! ResourceQuota admission as kube-apiserver 1.37 does it.
//!
//! [`ResourceQuota`] is the admission plugin. It measures what an object uses, finds the quotas that cover it, refuses what
//! does not fit, and tells what each quota then has used. Booking it is the caller's: so the objects of one run can be
//! charged one after another.
//!
//! ```
//! use pratique_quota::plugin::{Attributes, Effects, Plugin, PluginContext, StateObjects};
//! use pratique_quota::types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};
//! use pratique_quota::{QuotaSettings, ResourceQuota, json};
//!
//! let mut cluster = StateObjects::whole();
//! cluster.insert(json::parse(br#"{
//!     "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "two", "namespace": "shop"},
//!     "status": {"hard": {"configmaps": "2"}, "used": {"configmaps": "1"}}
//! }"#)?)?;
//! let request = AdmissionRequest {
//!     kind: GroupVersionKind::new("", "v1", "ConfigMap"),
//!     resource: GroupVersionResource::new("", "v1", "configmaps"),
//!     name: "settings".to_owned(),
//!     namespace: "shop".to_owned(),
//!     operation: Operation::Create,
//!     object: json::parse(br#"{"metadata": {"name": "settings"}}"#)?,
//!     ..AdmissionRequest::default()
//! };
//! let plugin = ResourceQuota::new(QuotaSettings::default());
//! let mut effects = Effects::default();
//! plugin.validate(&Attributes::from(&request), &PluginContext::new(&cluster), &mut effects)?;
//! // The second one fits, a third does not.
//! cluster.apply(&effects);
//! let refused = plugin.validate(&Attributes::from(&request), &PluginContext::new(&cluster), &mut effects);
//! assert_eq!(
//!     refused.unwrap_err().to_string(),
//!     "configmaps \"settings\" is forbidden: exceeded quota: two, requested: configmaps=1, used: configmaps=2, \
//!      limited: configmaps=2"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only what is in a quota's `status` limits anything, and a quota that was just created has none: its controller fills
//! `status.hard` and `status.used` in. So on a server, as here, a quota that has only a `spec` charges nothing yet. Objects that
//! no controller has seen, such as those of files, are declared by
//! [`StateObjects::without_controllers`](pratique_plugin::StateObjects::without_controllers): what a quota without
//! `status.hard` would limit is then undecided.

mod admission;
mod check;
mod configuration;
mod error;
mod fields;
mod names;
mod quota_measures;
mod quotas;
mod resource_list;
mod scope;
mod settings;
mod usage;

pub use admission::{FACTORY, NAME, ResourceQuota};
pub use configuration::read_limited_resources;
pub use error::QuotaError;
pub use pratique_json as json;
pub use pratique_plugin as plugin;
pub use pratique_types as types;
pub use resource_list::{ResourceList, quantity};
pub use scope::ScopeSelector;
pub use settings::{LimitedResource, QuotaSettings};
