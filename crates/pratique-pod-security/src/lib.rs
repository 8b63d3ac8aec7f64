//! The Pod Security Standards as kube-apiserver 1.37 enforces them.
//!
//! An [`Evaluator`] has the checks by themselves, at every version:
//!
//! ```
//! use pratique_pod_security::{Evaluator, Level, LevelVersion, Pod, Version, details};
//!
//! let object = pratique_json::parse(br#"{
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

mod admission;
mod checks;
mod configuration;
mod existing_pods;
mod extract;
mod level;
mod namespaces;
mod observer;
mod pod;
mod policy;
mod settings;
mod significant;
mod violation;

pub use admission::{FACTORY, NAME, PodSecurity};
pub use checks::Evaluator;
pub use configuration::ConfigurationError;
pub use existing_pods::PodCheckLimits;
pub use level::{InvalidLevel, InvalidVersion, Level, LevelVersion, Version};
pub use observer::{PodSecurityObserver, PolicyEvaluation, operation_label, resource_label};
pub use pod::{Pod, PodError};
pub use policy::{LabelError, Mode, PREFIX, Policy};
pub use settings::PodSecuritySettings;
pub use violation::{Violation, details, reasons};
