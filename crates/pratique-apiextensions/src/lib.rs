//! Custom resources as a Kubernetes API server sees them: would this object be accepted, and as what?
//!
//! A [`CustomResource`] is compiled once from its CustomResourceDefinition. Each of its [`Version`]s then does with an
//! object what a server does: it [prunes](Version::prune) fields that the schema does not know, fills in
//! [defaults](Version::default), and validates a [new object](Version::validate_create) or a
//! [change](Version::validate_update), by the schema and by the rules of `x-kubernetes-validations`, with the server's
//! messages.
//!
//! ```
//! use pratique_apiextensions::CustomResource;
//!
//! let definition = pratique_json::parse(br#"{
//!     "metadata": {"name": "widgets.example.com"},
//!     "spec": {
//!         "group": "example.com", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
//!         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
//!             "type": "object",
//!             "properties": {"spec": {
//!                 "type": "object",
//!                 "properties": {
//!                     "size": {"type": "integer", "default": 1, "maximum": 10},
//!                     "parts": {"type": "integer"}
//!                 },
//!                 "x-kubernetes-validations": [{"rule": "self.parts <= self.size", "message": "too many parts"}]
//!             }}
//!         }}}]
//!     }
//! }"#)?;
//! let widgets = CustomResource::compile(&definition)?;
//! let v1 = widgets.version("v1").ok_or("no such version")?;
//!
//! let text = br#"{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
//!     "spec": {"parts": 2, "colour": "red"}}"#;
//! let mut widget = pratique_json::parse(text)?;
//! assert_eq!(v1.prune(&mut widget)?, ["spec.colour"]);
//! assert_eq!(v1.default(&mut widget), ["spec.size"]);
//! let found = v1.validate_create(&widget);
//! assert_eq!(
//!     v1.message(&widget, &found.errors),
//!     r#"Widget.example.com "w" is invalid: spec: Invalid value: too many parts"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check_defaults;
mod custom_defaults;
mod default;
mod definition;
mod definition_rules;
mod definition_warnings;
mod deprecation;
mod duration;
mod email;
mod go_value;
mod metadata;
mod nulls;
mod prune;
mod prune_defaults;
mod rules;
mod schema;
mod storage;
mod surrounding;
mod validate;
mod version;
mod warnings;

pub use custom_defaults::CustomDefaults;
pub use definition::{CustomResource, DefinitionError};
pub use definition_rules::{DEFINITION_KINDS, SCHEMA_COLLECTIONS};
pub use definition_warnings::definition_warnings;
pub use storage::ConversionError;
pub use validate::scale::Scale;
pub use version::{DecodeError, Validation, Version};
