//! Admission by a real cluster: its configuration, its namespaces and params, and its answers to authorization checks.
//!
//! An [`ApiServer`] gives what a [`LiveBuilder`](pratique::LiveBuilder) takes: [`ApiSource`] is the cluster's policies and
//! webhooks as a [`Source`](pratique::live::Source), [`ApiCluster`] its namespaces and params as a
//! [`ClusterView`](pratique::cluster::ClusterView), and [`SubjectAccessReviewer`] its answers to authorization checks as a
//! [`CheckDecider`](pratique::authorization::CheckDecider). Each can be used without the others. Everything that waits for the
//! network does so on two threads of the [`ApiServer`]'s own: callers need no runtime.
//!
//! ```no_run
//! use pratique::Admission;
//! use pratique_kube::ApiServer;
//!
//! let server = ApiServer::infer()?;
//! let live = Admission::builder()
//!     .live()
//!     .cluster(server.cluster())
//!     .source(server.source())
//!     .decider(server.reviewer())
//!     .start()?;
//! // Once `live.ready()` is done, policies that are created in the cluster take effect here too.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is to be known of a cluster only once is read by a [`ClusterReader`]; collections of any size are read page by page,
//! by [`ListPages`]. Objects of a program, such as its reports, are written by a [`ClusterWriter`].
//!
//! Credentials may come from a command that the kubeconfig names (`exec`): it is run when the [`ApiServer`] is made, when
//! what it gave has expired, and when the API server does not take it any more.
//!
//! The user that this runs as must be allowed to `list` and `watch` what is followed, `get` namespaces, and `create`
//! `subjectaccessreviews` in group `authorization.k8s.io`. What is followed are, by a source, the
//! `validatingadmissionpolicies`, `mutatingadmissionpolicies`, their bindings, and the `validatingwebhookconfigurations`
//! and `mutatingwebhookconfigurations` of `admissionregistration.k8s.io`; by a cluster `namespaces`,
//! `customresourcedefinitions` of `apiextensions.k8s.io`, and the kinds of params that policies name. With the plugin
//! PodSecurity it must be allowed to `list` `pods` as well.

pub mod admission;
mod answers;
mod background;
mod bounded_client;
mod cluster;
mod configuration_kinds;
mod connect;
mod definition_uses;
mod definitions;
mod discovery;
mod exec;
mod failure;
mod files;
mod follow;
mod pages;
mod params;
mod plugin_state;
mod rate;
mod read;
mod renewed_client;
mod requests;
mod review;
mod served_resources;
mod snapshot;
mod snapshot_builder;
mod source;
mod store;
mod stored_object;
mod wanted_params;
mod write;

pub use cluster::ApiCluster;
pub use configuration_kinds::FollowedKinds;
pub use connect::{ApiServer, ConnectError};
pub use discovery::{ApiDiscovery, ResourceVerbs};
pub use kube::{Client, Config};
pub use pages::{ListPage, ListPages, ListPosition, ListedObject, PageOptions};
pub use rate::RateLimit;
pub use read::{ClusterReader, ListOf, ReadError};
pub use review::SubjectAccessReviewer;
pub use source::ApiSource;
pub use write::{ClusterWriter, ObjectName, WriteError, WrittenKind};
