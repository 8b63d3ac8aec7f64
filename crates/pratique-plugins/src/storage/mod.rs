//! Plugins for storage and network.

mod claim_resize;
mod default_class;
mod external_ips;
mod in_use_protection;
mod ingress_class;
mod storage_class;

pub(crate) use claim_resize::FACTORY as PERSISTENT_VOLUME_CLAIM_RESIZE;
pub(crate) use external_ips::FACTORY as DENY_SERVICE_EXTERNAL_IPS;
pub(crate) use in_use_protection::POD_GROUP_PROTECTION;
pub(crate) use in_use_protection::STORAGE_OBJECT_IN_USE_PROTECTION;
pub(crate) use ingress_class::FACTORY as DEFAULT_INGRESS_CLASS;
pub(crate) use storage_class::FACTORY as DEFAULT_STORAGE_CLASS;
