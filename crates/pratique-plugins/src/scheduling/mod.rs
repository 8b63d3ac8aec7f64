//! Plugins for workloads and groups of pods.

mod job;
mod workload_exists;

pub(crate) use job::FACTORY as JOB_VALIDATION;
pub(crate) use workload_exists::FACTORY as POD_GROUP_WORKLOAD_EXISTS;
