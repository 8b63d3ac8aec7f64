//! The checks of the Pod Security Standards, and which of them apply at which version.

mod capabilities;
mod host;
mod privileges;
mod profiles;
mod registry;
mod run_as;
mod sysctls;
mod volumes;

pub use registry::Evaluator;
