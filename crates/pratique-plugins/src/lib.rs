//! The admission plugins that are built into kube-apiserver 1.37, apart from those for policies and webhooks. PodSecurity
//! and ResourceQuota are in `pratique-pod-security` and `pratique-quota`.
//!
//! [`FACTORIES`] makes each of them from its configuration; a [`PluginChain`](pratique_plugin::PluginChain) runs them.
//! What a plugin would look up in the cluster and was not given makes it undecided.
//!
//! ```
//! use pratique_json::parse;
//! use pratique_plugin::{
//!     Effects, MutableAttributes, PluginChain, PluginContext, PluginSettings, Stage, StateObjects,
//! };
//! use pratique_plugins::factory;
//! use pratique_schema::FeatureGates;
//! use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource};
//!
//! let gates = FeatureGates::default();
//! let priority = factory("Priority").ok_or("no such plugin")?;
//! let chain = PluginChain::new(vec![priority.start(&PluginSettings::new(gates))?]);
//!
//! let mut cluster = StateObjects::whole();
//! cluster.insert(parse(br#"{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
//!     "metadata": {"name": "high"}, "value": 1000}"#)?.into_owned())?;
//! let request = AdmissionRequest {
//!     kind: GroupVersionKind::new("", "v1", "Pod"),
//!     resource: GroupVersionResource::new("", "v1", "pods"),
//!     ..AdmissionRequest::default()
//! };
//! let mut pod = parse(br#"{"apiVersion": "v1", "kind": "Pod", "spec": {"priorityClassName": "high"}}"#)?;
//! let mut attributes = MutableAttributes::new(&request, &mut pod);
//! let context = PluginContext::new(&cluster);
//! chain.admit(Stage::All, &mut attributes, &context, &mut Effects::default(), &mut ())?;
//! assert_eq!(pod.at(&["spec", "priority"]).and_then(|priority| priority.as_int()), Some(1000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod always;
mod answer;
mod built_in;
mod configuration;
mod events;
mod factories;
mod identity;
mod namespaces;
mod nodes;
mod object;
mod pods;
mod scheduling;
mod storage;

pub use factories::{FACTORIES, ask_authorizer, factory, state_kinds};
pub use pods::ImagePolicyBackend;
pub use pratique_types::admission_plugins::{RefusedPlugin, refused};
