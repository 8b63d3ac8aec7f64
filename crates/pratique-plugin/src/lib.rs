//! The interface of admission plugins.
//!
//! A [`Plugin`] has up to two halves: [`admit`](Plugin::admit) may change the object, [`validate`](Plugin::validate) may
//! not. Both answer with a [`Rejection`] or not at all, and tell what else follows in [`Effects`]. What they need to know
//! of the cluster they look up in a [`ClusterState`]; what that was not given makes them
//! [undecided](Rejection::Undecided). A [`PluginChain`] runs plugins in the order of kube-apiserver 1.37 ([`BUILT_IN`]).
//!
//! ```
//! use pratique_core::Attributes;
//! use pratique_json::parse;
//! use pratique_plugin::{
//!     Effects, Handler, MutableAttributes, Plugin, PluginChain, PluginContext, Rejection, Stage, StateObjects,
//! };
//! use pratique_types::{AdmissionRequest, GroupVersionResource, Operation, status};
//!
//! /// Requires an owner, and defaults it to the user.
//! struct Owner;
//!
//! impl Plugin for Owner {
//!     fn handler(&self) -> &Handler {
//!         const { &Handler::new("Owner", &[Operation::Create]).mutating() }
//!     }
//!
//!     fn admit(
//!         &self,
//!         attributes: &mut MutableAttributes<'_, '_>,
//!         _: &PluginContext<'_>,
//!         _: &mut Effects,
//!     ) -> Result<(), Rejection> {
//!         let user = attributes.request.user_info.username.clone();
//!         match attributes.object_mut() {
//!             pratique_json::Value::Object(members) => {
//!                 members.insert("owner", user);
//!                 Ok(())
//!             }
//!             _ => Err(status::forbidden(&attributes.request.resource, "", "no object").into()),
//!         }
//!     }
//! }
//!
//! let chain = PluginChain::new(vec![Box::new(Owner)]);
//! let mut request = AdmissionRequest::default();
//! request.user_info.username = "ann".to_owned();
//! let mut object = parse(b"{}")?;
//! let mut attributes = MutableAttributes::new(&request, &mut object);
//! let state = StateObjects::default();
//! let mut effects = Effects::default();
//! chain.admit(Stage::All, &mut attributes, &PluginContext::new(&state), &mut effects, &mut ())?;
//! assert!(attributes.changed());
//! assert_eq!(object.to_string(), r#"{"owner":"ann"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod attributes;
mod chain;
mod context;
mod derived_values;
mod effects;
pub mod gates;
mod handler;
mod looked_up;
mod object_list;
mod objects;
mod order;
mod plugin;
mod rejection;
mod settings;
mod state;

pub use access::{Access, AccessAnswer, AccessReviewer, NoAccessReviewer, PolicyAuthorizer};
pub use attributes::MutableAttributes;
pub use chain::{PluginChain, PluginObserver, Stage};
pub use context::{ImageReviewAnswer, ImageReviewer, PluginContext};
pub use derived_values::{Derivation, DerivedCache, DerivedValues};
pub use effects::{ChangedQuota, CreatedObject, Effects};
pub use handler::{Handler, Operations};
pub use looked_up::{FieldTree, FieldsRead, LookedUpPart, ObjectText};
pub use object_list::ObjectList;
pub use objects::StateObjects;
pub use order::{default_plugins, default_plugins_of};
pub use plugin::Plugin;
pub use pratique_core::{AdmissionPhase, Attributes};
pub use pratique_types::admission_plugins::{BUILT_IN, BuiltIn};
pub use rejection::{MissingState, Rejection};
pub use settings::{KubeconfigCheck, MakePlugin, PluginFactory, PluginSettings, StartError};
pub use state::{ClusterState, Lookup, StateKind};
