//! Plugins for nodes, and for what nodes do.

mod declared_features;
mod restriction;
mod taint;

pub(crate) use declared_features::FACTORY as NODE_DECLARED_FEATURE_VALIDATOR;
pub(crate) use restriction::FACTORY as NODE_RESTRICTION;
pub(crate) use taint::FACTORY as TAINT_NODES_BY_CONDITION;
