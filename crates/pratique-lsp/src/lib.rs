//! A language server for admission policies of Kubernetes.
//!
//! [`run`] serves one client over a [`Connection`]: what an API server would refuse and what the lints find, as
//! diagnostics while the user types; within CEL expressions completion, hovers, definitions, references and renaming of
//! variables; an outline of policies. A directory is looked at as a whole, as `pratique check DIRECTORY` does. Objects of
//! built-in kinds in plain manifests are decoded and validated as a server does it. Suites of tests have diagnostics as well,
//! and the last outcome of each test; [`run_with`] is given the kinds of other files that the program knows.
//!
//! ```no_run
//! let (connection, threads) = pratique_lsp::stdio().map_err(pratique_lsp::LspError::Io)?;
//! pratique_lsp::run(&connection)?;
//! drop(connection);
//! threads.join().map_err(pratique_lsp::LspError::Io)?;
//! # Ok::<(), pratique_lsp::LspError>(())
//! ```

mod actions;
mod analysis;
mod completion;
mod cursor;
mod definition;
mod diagnostics;
mod documents;
mod fields;
mod files;
mod functions;
mod hover;
mod lint_round;
mod nodes;
mod other_files;
mod plain_objects;
mod requests;
mod scan;
mod server;
mod suites;
mod symbols;
mod text;
mod tokens;
mod transport;
mod workspace;

pub use lsp_server::Connection;
pub use other_files::{FileKind, Findings};
pub use server::{LspError, run, run_with};
pub use transport::{StdioThreads, stdio};
