//! The Pods that controllers make of workloads.
//!
//! [`Expander::pod`] gives the Pod that the controller of a workload creates first, with what the controller adds: labels,
//! annotations, owner references, names, tolerations, volumes. What only a cluster knows has a placeholder: UIDs, hashes of
//! templates, the node of a DaemonSet's Pod, the time of a CronJob's run.
//!
//! ```
//! use pratique_expansion::Expander;
//!
//! let deployment = pratique_json::parse(br#"{"apiVersion": "apps/v1", "kind": "Deployment",
//!     "metadata": {"name": "web"}, "spec": {"template": {"metadata": {"labels": {"app": "web"}},
//!     "spec": {"containers": [{"name": "c", "image": "i"}]}}}}"#)?;
//! let made = Expander::default().pod(&deployment)?.ok_or("no workload")?;
//! assert_eq!(made.user, "system:serviceaccount:kube-system:replicaset-controller");
//! let labels = made.pod.at(&["metadata", "labels"]).ok_or("no labels")?;
//! assert!(labels.get("app").is_some() && labels.get("pod-template-hash").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod expander;
mod job;
mod metadata;
mod sets;
mod template;
mod template_search;

pub use expander::{ExpandedPod, Expander, ExpansionError};
pub use template::{PodTemplate, PodTemplateError};
pub use template_search::find_template;
