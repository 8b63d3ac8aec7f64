//! Plugins for workloads and groups of pods.

mod job;
mod workload_exists;

pub(crate) use job::JobValidation;
pub(crate) use workload_exists::PodGroupWorkloadExists;
