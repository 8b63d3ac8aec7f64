//! Plugins for storage and network.

mod claim_resize;
mod default_class;
mod external_ips;
mod in_use_protection;

pub(crate) use claim_resize::PersistentVolumeClaimResize;
pub(crate) use default_class::{INGRESS_CLASS, STORAGE_CLASS};
pub(crate) use external_ips::DenyServiceExternalIps;
pub(crate) use in_use_protection::{FinalizerProtection, POD_GROUPS, STORAGE};
