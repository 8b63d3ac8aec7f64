//! Plugins for nodes, and for what nodes do.

mod declared_features;
mod taint;

pub(crate) use declared_features::FACTORY as NODE_DECLARED_FEATURE_VALIDATOR;
pub(crate) use taint::FACTORY as TAINT_NODES_BY_CONDITION;
