//! How admission changes objects: structured merge and JSON Patch, as the Kubernetes API server does them.
//!
//! [`structured_merge`] merges what an `ApplyConfiguration` of a MutatingAdmissionPolicy gives into an object, by the
//! schema of the object's kind: structs and maps by member, keyed lists by element, sets by union. What can only be
//! replaced as a whole is refused.
//!
//! [`json_patch`] applies RFC 6902 patches with the deviations of the library that the API server uses, and makes
//! them from two documents.
//!
//! Both change documents in place or take them, look only at what a patch names, and give the API server's error
//! texts. A caller can interrupt either through its [`Progress`](pratique_json::Progress).
//!
//! ```
//! use pratique_json::Progress;
//! use pratique_merge::structured_merge::{apply, Patch};
//! use pratique_schema::Release;
//! use pratique_types::GroupVersionKind;
//!
//! let schema = Release::latest().merge_schema();
//! let pod = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).expect("a built-in kind");
//! let mut object = pratique_json::parse(br#"{"spec": {"containers": [{"name": "app", "image": "app:1"}]}}"#)?;
//! let patch = pratique_json::parse(br#"{"spec": {"containers": [{"name": "proxy"}]}}"#)?;
//!
//! apply(schema, pod, &mut object, Patch::from(patch), &Progress::unwatched())?;
//! assert_eq!(
//!     object.to_string(),
//!     r#"{"spec":{"containers":[{"image":"app:1","name":"app"},{"name":"proxy"}]}}"#
//! );
//!
//! let patch = pratique_json::parse(br#"{"spec": {"tolerations": []}}"#)?;
//! let error = apply(schema, pod, &mut object, Patch::from(patch), &Progress::unwatched()).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tolerations"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod json_patch;
pub mod structured_merge;
