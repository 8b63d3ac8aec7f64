//! The state of a cluster around a request: its objects, what is known to be complete, and who may do what.
//!
//! State comes from files, a [snapshot], roles and their bindings, or a cluster that was read. What nobody gave is not known, and what
//! depends on it is undecided; [`every_cluster`] says what is there all the same. [`ClusterObjects`] are the objects of a cluster with what
//! its definitions serve, a [`KnownCluster`] is what was given of one cluster, a [`TextCluster`] one whose objects somebody gives as texts, a [`ClusterBase`] what engines ask, and a [`PluginState`] what the server's own plugins look up, as one request after
//! another leaves it.
//!
//! ```
//! use pratique_state::{Rule, Rules, authorizer_of};
//! use pratique_rbac::Completeness;
//!
//! let rule = Rule { verbs: vec!["get".into()], resources: vec!["secrets".into()], ..Rule::default() };
//! let authorizer = authorizer_of(Some(Rules(vec![rule])), [], Completeness::Partial);
//! # drop(authorizer);
//! ```

mod authorizer;
pub mod cluster;
mod cluster_objects;
pub mod every_cluster;
mod known_cluster;
mod plugin_state;
mod rule_file;
pub mod snapshot;
mod stored_state;
mod text_cluster;
pub mod yaml;

pub use authorizer::{Rule, Rules, authorizer_of, known_roles};
pub use cluster_objects::{ClusterObjects, ObjectOrigin, UnusableDefinition};
pub use known_cluster::{ClusterBase, KnownCluster};
pub use plugin_state::{PluginState, StoredPart, is_stored_request};
pub use rule_file::{read_rules, rules_schema};
pub use stored_state::{StoredState, StoredStateError, completeness};
pub use text_cluster::{ServerRelease, TextCluster, TextFile, invalid_text, read_object};

/// The `apiVersion` of the kinds of Pratique's own files.
pub const API_VERSION: &str = "pratique/v1alpha1";
