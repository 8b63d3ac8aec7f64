//! The Pod Security Standards as kube-apiserver 1.37 enforces them.
//!
//! An [`Evaluator`] has the checks by themselves, at every version:
//!
//! ```
//! use pratique_pod_security::{Evaluator, Level, LevelVersion, Pod, Version, details, json};
//!
//! let object = json::parse(br#"{
//!     "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"},
//!     "spec": {"hostNetwork": true, "containers": [{"name": "app", "image": "app:1"}]}
//! }"#)?;
//! // Also a Deployment, or another object with a template. Of a template itself it is `Pod::from_template`.
//! let pod = Pod::from_object(&object)?;
//! let baseline = LevelVersion { level: Level::Baseline, version: Version::Latest };
//! let violations = Evaluator::new().violations(baseline, &pod);
//! assert_eq!(details(&violations), "host namespaces (hostNetwork=true)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`PodSecurity`] is the admission plugin: it reads the [`Policy`] of a namespace from its labels, refuses pods, warns about
//! workloads, records violations in the audit log, knows exemptions, and checks the labels of namespaces themselves.
//!
//! # Features
//!
//! - `plugin`, on by default: the plugin and all that belongs to it. Without it there are the checks, which need neither
//!   the CEL engine nor `k8s-openapi`.

#[cfg(feature = "plugin")]
mod admission;
mod checks;
#[cfg(feature = "plugin")]
mod configuration;
#[cfg(feature = "plugin")]
mod existing_pods;
mod extract;
#[cfg(feature = "plugin")]
mod go_type;
mod level;
#[cfg(feature = "plugin")]
mod namespaces;
#[cfg(feature = "plugin")]
mod observer;
mod pod;
#[cfg(feature = "plugin")]
mod policy;
#[cfg(feature = "plugin")]
mod settings;
#[cfg(feature = "plugin")]
mod significant;
mod violation;

pub use checks::Evaluator;
pub use level::{InvalidLevel, InvalidVersion, Level, LevelVersion, Version};
pub use pod::{Pod, PodError};
pub use pratique_json as json;
pub use violation::{Violation, details, reasons};

#[cfg(feature = "plugin")]
pub use {
    admission::{FACTORY, NAME, PodSecurity},
    configuration::ConfigurationError,
    existing_pods::PodCheckLimits,
    observer::{PodSecurityObserver, PolicyEvaluation, operation_label, resource_label},
    policy::{LabelError, Mode, PREFIX, Policy},
    settings::PodSecuritySettings,
};
