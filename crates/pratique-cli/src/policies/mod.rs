//! Policies as people have them: static manifests and objects of the API, of all kinds that configure admission, in files,
//! directories and lists, among other objects.

mod files;
mod group;
mod load;
mod skipped;
mod sorted;

pub(crate) use files::read;
pub(crate) use group::{Group, OriginName};
pub(crate) use load::{LoadFailure, OriginSets, load};
pub(crate) use skipped::report_skipped;
pub(crate) use sorted::SortedPolicies;
