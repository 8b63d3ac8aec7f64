//! Plugins for nodes, and for what nodes do.

mod declared_features;
mod node_selector;
mod restriction;
mod taint;

pub(crate) use declared_features::NodeDeclaredFeatureValidator;
pub(crate) use restriction::NodeRestriction;
pub(crate) use taint::TaintNodesByCondition;
