//! How admission changes objects: JSON Patch and structured merge, as the Kubernetes API server does them.

pub mod json_patch;
pub mod structured;
