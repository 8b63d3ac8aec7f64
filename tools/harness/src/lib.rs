//! Code that the tools share: the workspace's directories, programs built by Cargo and by Go, processes that run alongside a
//! tool, transcripts of steps, random choices that a seed repeats, and the type of errors.
//!
//! It depends on no crate under `crates/`, so that tools which need none of them build in seconds.

#[cfg(feature = "browser")]
pub mod browser;
pub mod cargo;
#[cfg(feature = "certificates")]
mod certificates;
mod dice;
mod directory;
mod error;
pub mod go;
mod json;
mod lines;
mod process;
mod statistics;
mod together;
mod transcript;
pub mod workspace;

#[cfg(feature = "certificates")]
pub use certificates::TestCertificates;
pub use dice::RandomDice;
pub use directory::entries;
pub use error::ToolError;
pub use json::with;
pub use lines::LineProcess;
pub use process::{RunningProcess, eventually, free_port};
pub use statistics::{SampleSpread, geometric_mean};
pub use together::together;
pub use transcript::{StepTranscript, outcome};
