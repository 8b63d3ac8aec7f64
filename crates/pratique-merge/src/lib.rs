//! How admission changes objects: JSON Patch and structured merge, as the Kubernetes API server does them.

mod go;
pub mod json_patch;
pub mod structured;
