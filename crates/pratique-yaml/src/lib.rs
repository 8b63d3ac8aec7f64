//! YAML and JSON as a Kubernetes API server reads them.
//!
//! A document becomes a [`Tree`] of values, each with the [`Span`](position::Span) of text that it stands in. What an API
//! server refuses is refused, with the same messages: YAML is 1.1 with merge keys, as `sigs.k8s.io/yaml` reads it, JSON is
//! as `sigs.k8s.io/json` reads it. Nesting costs no stack, and a [`Budget`] bounds the memory, so that aliases cannot
//! exhaust it.
//!
//! ```
//! use pratique_yaml::{Budget, TreeValue, yaml};
//!
//! let document = yaml::parse_text("replicas: 2\nlabels: {app: web}\n", &Budget::unlimited())?;
//! let replicas = document.tree.entry(document.root, "replicas").ok_or("no such key")?;
//! let node = document.tree.get(replicas.value);
//! assert!(matches!(&node.value, TreeValue::Number(text) if **text == *"2"));
//! assert_eq!((node.span.start, node.span.end), (10, 11));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where positions do not matter, [`yaml_as_json`] makes plain JSON of a document:
//!
//! ```
//! assert_eq!(pratique_yaml::yaml_as_json(b"a: [1, yes]")?, r#"{"a":[1,true]}"#);
//! # Ok::<(), pratique_yaml::yaml::SyntaxError>(())
//! ```

pub mod budget;
pub mod json;
pub mod position;
pub mod tree;
mod wire;
pub mod yaml;

pub use budget::Budget;
pub use tree::{NodeId, Tree, TreeValue};
pub use wire::{is_json, json_as_json, wire_bytes, yaml_as_json};
