//! Policies as people have them: static manifests and objects of the API, of all kinds that configure admission, in files,
//! directories and lists, among other objects.

mod failure;
mod files;
mod group;
mod load;
mod skipped;
mod sorted;

pub(crate) use failure::{LoadFailure, unusable};
pub(crate) use files::read;
pub(crate) use group::{Group, OriginName};
#[cfg(feature = "kube")]
pub(crate) use load::load_api_policies;
pub(crate) use load::{OriginSets, load, load_among, load_of_cluster, reload};
pub(crate) use skipped::report_skipped;
pub(crate) use sorted::SortedPolicies;
