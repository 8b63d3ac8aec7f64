//! A language server for admission policies of Kubernetes.
//!
//! [`run`] serves one client over a [`Connection`]: what an API server would refuse and what the lints find, as
//! diagnostics while the user types; within CEL expressions completion, hovers, definitions, references and renaming of
//! variables; an outline of policies. A directory is looked at as a whole, as `pratique check DIRECTORY` does. Objects of
//! built-in kinds in plain manifests are decoded and validated as a server does it. Suites of tests have diagnostics as well,
//! and the last outcome of each test; [`run_with`] is given the kinds of other files that the program knows.
//!
//! What a server says of a file is asked of the crates that the commands ask: `pratique-manifest` loads, `pratique-lint` warns, types and
//! estimates, `pratique-review` reviews plain objects of a `ClusterObjects` of `pratique-state`, `pratique-suite` runs tests. Of its own
//! this crate has the protocol; the cursor, which is a line and a column of a `Location` and then a byte of an expression, also of one
//! that is not finished; what is shown there (the names of an expression, the sentences on functions, variables and fields in `data`);
//! and what changes while one types: open texts, cached files, what was found before.
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
