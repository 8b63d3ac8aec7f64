//! The targets.

mod answer;
mod configuration;
mod evaluate;
mod expressions;
mod json_patch;
mod manifests;
mod merge;
mod objects;
mod review;
mod selectors;
mod suite;
mod values;

pub use answer::answer;
pub use configuration::{admission_configuration, kubeconfig};
pub use evaluate::evaluate;
pub use expressions::{check, parse};
pub use json_patch::json_patch;
pub use manifests::{decode, documents, load};
pub use merge::merge;
pub use objects::objects;
pub use review::review;
pub use selectors::selectors;
pub use suite::suite;
pub use values::{quantity, regex, time, url};
