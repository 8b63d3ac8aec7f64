//! What the rules of a kind are made of, for the kinds whose rules are kept in other crates.
//!
//! The rules of some kinds need more than this crate has: those of CustomResourceDefinitions and of admission policies compile
//! expressions. Their crates state a table of [`KindRules`] as this one does, and whoever wants them validated gives the table to
//! [`Validator::with_kinds`](crate::Validator::with_kinds).
//!
//! ```
//! use pratique_types::GroupVersionKind;
//! use pratique_validation::rules::{KindRules, subdomain_name, validate_object_meta};
//! use pratique_validation::{Candidate, Validator};
//!
//! const WIDGETS: &[KindRules] = &[KindRules {
//!     group: "example.com",
//!     kind: "Widget",
//!     is_namespaced: false,
//!     create: |request, errors| {
//!         validate_object_meta(&request.object.child("metadata"), false, subdomain_name, errors);
//!         let spec = request.object.child("spec");
//!         errors.positive(&spec.child("size"));
//!     },
//!     update: |request, errors| errors.immutable(&request.object.child("spec"), &request.old.child("spec")),
//!     subresources: &[],
//! }];
//!
//! let kind = GroupVersionKind::new("example.com", "v1", "Widget");
//! let object = pratique_json::parse(br#"{"metadata": {"name": "w"}, "spec": {"size": 0}}"#)?;
//! let refused = Validator::new().with_kinds(WIDGETS).create(&Candidate::new(&kind, &object));
//! let message = refused.map_err(|rejection| rejection.to_string());
//! assert_eq!(
//!     message.unwrap_err(),
//!     "Widget.example.com \"w\" is invalid: spec.size: Invalid value: 0: must be greater than zero",
//! );
//! # Ok::<(), pratique_json::Error>(())
//! ```

use pratique_gotext::net::Cidr;
use pratique_json::{Value, same_name};
use pratique_schema::{FeatureGates, Release};
use pratique_types::GroupVersionKind;

pub use crate::conditions::validate_conditions;
pub use crate::errors::{Errors, named};
use crate::gates::FeatureSet;
pub use crate::internal::internal_json;
pub use crate::messages::{NameRule, label_name, path_segment_name, subdomain_name};
pub use crate::node::Node;
pub use crate::object_meta::{
    validate_any_update, validate_core_meta, validate_core_meta_update, validate_meta_declaratively,
    validate_meta_update_declaratively, validate_object_meta, validate_object_meta_update,
};
pub use crate::selector::validate_selector;
use crate::service_state::ServiceState;
pub use crate::webhook_clients::{validate_ca_bundle, validate_webhook_service, validate_webhook_url};

/// A request as the rules of a kind see it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The kind, in the version of the request.
    pub kind: &'r GroupVersionKind,
    /// The part of the resource that is written; empty for the resource itself.
    pub subresource: &'r str,
    /// The object.
    pub object: Node<'static, 'r>,
    /// The stored object; absent where the object is new.
    pub old: Node<'static, 'r>,
    /// What is known beside the objects.
    pub settings: &'r ValidationSettings,
    /// The namespace of the object.
    pub namespace: NamespaceView<'r>,
    /// Of a Service, the others that it may share nothing with; without it, what it asks for is free.
    pub services: Option<ServiceState<'r>>,
    /// Whether the request asks for nothing to be carried out.
    pub is_dry_run: bool,
}

/// The namespace of an object, which some rules ask for labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum NamespaceView<'a> {
    /// Its labels are not known: what depends on them is [left open](crate::OpenQuestion).
    #[default]
    Unknown,
    /// The server cannot read it, for this reason.
    Unreadable(&'a str),
    /// The stored namespace.
    Stored(&'a Value<'a>),
}

/// What is known beside the objects.
#[derive(Clone, Debug, Default)]
pub struct ValidationSettings {
    /// The networks of which Services get their addresses; none where they are unknown.
    pub service_networks: Vec<Cidr>,
    /// What compiles the expressions of claims to devices, if anything does.
    pub compile_device_expression: Option<DeviceCompiler>,
    /// Which features are on.
    pub(crate) gates: FeatureSet,
}

impl ValidationSettings {
    /// Whether the server reads manifests, for which it reserves names.
    pub fn reserves_names(&self) -> bool {
        self.gates.reserves_names
    }

    /// The release of the server.
    pub fn release(&self) -> &'static Release {
        self.gates.release
    }
}

/// Compiles an expression of a new claim or class of devices, which may derive an attribute, for a server of a release with its
/// feature gates; gives the most that it costs, or why the server refuses it.
pub type DeviceCompiler = fn(gates: FeatureGates, expression: &str, is_derived: bool) -> Result<u64, String>;

/// The rules for one way to write an object.
pub type Rule = fn(&Request<'_>, &mut Errors);

/// The rules of a kind: what its strategy validates. What a server validates of all kinds (that metadata are well formed, and
/// what declarative rules say) is no part of them.
#[derive(Clone, Copy, Debug)]
pub struct KindRules {
    /// The API group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// Whether its objects belong to namespaces.
    pub is_namespaced: bool,
    /// `Validate` of the strategy: a new object.
    pub create: Rule,
    /// `ValidateUpdate` of the strategy: a changed object, beside the stored one.
    pub update: Rule,
    /// The subresources that can be updated, each with the rules of its own strategy.
    pub subresources: &'static [(&'static str, Rule)],
}

impl KindRules {
    /// Whether these are the rules of a kind.
    pub(crate) fn apply_to(&self, kind: &GroupVersionKind) -> bool {
        same_name(self.kind, &kind.kind) && same_name(self.group, &kind.group)
    }
}
