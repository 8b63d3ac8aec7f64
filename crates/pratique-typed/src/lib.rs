//! Objects as an API server sees them once it has read them into its own types.
//!
//! [`typed`] gives an object the form of its built-in kind in a release, [`settle_object`] does so in place, [`decode`] says which
//! objects cannot have it, and why. [`converted`] brings one into another version of its kind.
//!
//! ```
//! use pratique_json::Progress;
//! use pratique_schema::Release;
//! use pratique_typed::settle_object;
//! use pratique_types::GroupVersionKind;
//!
//! let text = br#"{"metadata": {"labels": {}}, "spec": {"containers": [{"name": "app", "unknown": 1}]}}"#;
//! let mut pod = pratique_json::parse(text)?;
//! settle_object(Release::latest(), &GroupVersionKind::new("", "v1", "Pod"), &mut pod, &Progress::unwatched());
//! // What is empty or unknown is gone, and what is always there has come.
//! assert_eq!(pod.at(&["metadata", "labels"]), None);
//! assert!(pod.at(&["status"]).is_some());
//! assert!(!pod.to_string().contains("unknown"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod added_members;
mod conversion;
pub mod decode;
mod encode;
mod form;
mod go_text;
mod part_type;
mod request;
mod settled_form;

pub use added_members::AddedMembers;
pub use conversion::{ConversionError, changed_back, converted};
pub use encode::Encoder;
pub use form::{
    SettledObject, keeps_form, named, reread, settle_again, settle_edited, settle_in, settle_keeping_empty,
    settle_strict, type_at, typed, typed_as,
};
pub use go_text::{GoValue, ObjectPart, go_value};
pub use part_type::{PartType, part_type};
pub use request::{convert_object, settle_object, settle_request};
