//! Objects of S3-compatible stores, for programs without a runtime of their own.
//!
//! An [`ObjectStore`] reads objects within bounds, and an [`ObjectWriter`] is a [`Write`](std::io::Write) that uploads in parts while it is
//! written to: no more than a part is held, and what was not [finished](ObjectWriter::finish) is never seen by readers.
//!
//! ```no_run
//! use std::io::Write as _;
//!
//! use pratique_s3::{StoreLocation, StoreSettings, ObjectStore};
//!
//! let store = ObjectStore::new(StoreSettings::of_environment()?)?;
//! let location: StoreLocation = "s3://reports/scan/0.json".parse()?;
//! let mut writer = store.writer(location.clone());
//! writer.write_all(b"{}")?;
//! writer.finish()?;
//! assert_eq!(store.read(&location, 1 << 20)?, b"{}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`StoreSettings`] say what the environment names. Requests are signed with version 4 of the signature, and repeated where that
//! may help: after errors of the server, and where the connection breaks.

// Why not `object_store` (0.14): with its `aws-base` and a provider of one's own it signs, repeats and uploads in parts as well. It
// is asynchronous and does not bound what is read, so that locations, errors, bounds and the blocking writer would stay here. It brings
// seven crates, and theirs, that nothing else here needs: for XML, checksums and times.

mod location;
mod settings;
mod store;
mod store_error;
mod writer;

pub use location::{LocationError, StoreLocation};
pub use settings::{SettingsError, StoreSettings};
pub use store::ObjectStore;
pub use store_error::StoreError;
pub use writer::ObjectWriter;
