//! Objects of S3-compatible stores, for programs without a runtime of their own.
//!
//! A [`Store`] reads objects within bounds, and a [`Writer`] is a [`Write`](std::io::Write) that uploads in parts while it is
//! written to: no more than a part is held, and what was not [finished](Writer::finish) is never seen by readers.
//!
//! ```no_run
//! use std::io::Write as _;
//!
//! use pratique_s3::{Location, Settings, Store};
//!
//! let store = Store::new(Settings::of_environment()?)?;
//! let location: Location = "s3://reports/scan/0.json".parse()?;
//! let mut writer = store.writer(location.clone());
//! writer.write_all(b"{}")?;
//! writer.finish()?;
//! assert_eq!(store.read(&location, 1 << 20)?, b"{}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Settings`] say what the environment names. Requests are signed with version 4 of the signature, and repeated where that
//! may help: after errors of the server, and where the connection breaks.

// Why not `object_store` (0.14): with its `aws-base` and a provider of one's own it signs, repeats and uploads in parts as well. It
// is asynchronous and does not bound what is read, so that locations, errors, bounds and the blocking writer would stay here. It brings
// seven crates, and theirs, that nothing else here needs: for XML, checksums and times.

mod location;
mod settings;
mod store;
mod store_error;
mod writer;

pub use location::{Location, LocationError};
pub use settings::{Settings, SettingsError};
pub use store::Store;
pub use store_error::StoreError;
pub use writer::Writer;
