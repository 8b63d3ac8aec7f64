//! Matches requests with admission policies and webhooks: rules, scopes, selectors, equivalent resources.
//!
//! Everything is compiled when policies are loaded; a request only compares. [`MatchIndex`] finds the few
//! that can match at all, [`MatchResources`] decides.
//!
//! ```
//! use pratique_match::{Equivalents, MatchResources, Namespace, Namespaces, Target};
//! use pratique_types::builtin::BuiltinResources;
//! use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource};
//!
//! /// A cluster with one namespace, of which only the name is known.
//! struct Shop;
//!
//! impl Namespaces for Shop {
//!     fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
//!         if name == "shop" { Namespace::Named } else { Namespace::Absent }
//!     }
//! }
//!
//! let constraints = serde_json::from_value(serde_json::json!({
//!     "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
//!     "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}},
//!     "objectSelector": {},
//! }))?;
//! let constraints = MatchResources::compile(Some(&constraints));
//!
//! let pod = pratique_json::parse(br#"{"kind": "Pod", "metadata": {"name": "web"}}"#)?;
//! let request = AdmissionRequest {
//!     kind: GroupVersionKind::new("", "v1", "Pod"),
//!     resource: GroupVersionResource::new("", "v1", "pods"),
//!     namespace: "shop".to_owned(),
//!     object: pod,
//!     ..AdmissionRequest::default()
//! };
//! let equivalents = Equivalents::of_release(BuiltinResources::latest());
//! assert!(constraints.matches(&Target::new(&request), &equivalents, &Shop)?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod equivalents;
mod index;
mod mismatch;
mod request;
mod resources;
mod rules;
mod selector;

pub use equivalents::{Equivalent, Equivalents};
pub use index::MatchIndex;
pub use mismatch::{Mismatch, RuleField};
pub use request::{NAME_LABEL, Namespace, Namespaces, Target, labels_of};
pub use resources::{MatchError, MatchResources, MatchedResource};
pub use rules::{MatchedRule, Rule, Rules};
pub use selector::{InvalidSelector, Labels, Selector};
