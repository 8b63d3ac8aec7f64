//! Policies as people have them: static manifests and objects of the API, of all kinds that configure admission, in files,
//! directories and lists, among other objects.

mod failure;
mod files;
mod load;
mod loaded_warnings;
mod origin_name;
mod skipped_files;
mod unread_manifests;

pub(crate) use failure::{LoadFailure, unusable};
pub(crate) use files::{read, read_watched};
#[cfg(feature = "kube")]
pub(crate) use load::load_api_policies;
pub(crate) use load::{
    builder, configuration_options, load, load_files, load_of_cluster, load_sorted, report_read,
};
pub(crate) use loaded_warnings::tell_loaded;
pub(crate) use origin_name::OriginName;
pub(crate) use pratique_review::OriginSets;

pub(crate) use skipped_files::report_skipped_beside_definitions;
pub(crate) use unread_manifests::{has_static, tell_unread_manifests, unread_manifests};

/// How many policies are named in a message.
pub(crate) const NAMED: usize = 5;
