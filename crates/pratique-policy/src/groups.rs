//! Groups policies by their constraints: those with equal ones match the same requests.

use std::collections::HashMap;
use std::sync::Arc;

use pratique_match::{MatchIndex, MatchResources};

use crate::policy_core::PolicyCore;

/// Policies of a set by their constraints, with an index over these.
#[derive(Debug, Default)]
pub(crate) struct PolicyGroups {
    pub(crate) index: MatchIndex,
    pub(crate) groups: Vec<PolicyGroup>,
}

/// Policies with equal constraints.
#[derive(Debug)]
pub(crate) struct PolicyGroup {
    pub(crate) constraints: Arc<MatchResources>,
    /// Their positions, in ascending order.
    pub(crate) members: Vec<u32>,
}

impl PolicyGroups {
    /// Groups policies. Constraints that are the same are equal; equal ones mostly are the same.
    pub(crate) fn new<'h>(cores: impl Iterator<Item = &'h PolicyCore>) -> Self {
        let mut groups: Vec<PolicyGroup> = Vec::new();
        let mut places: HashMap<*const MatchResources, usize> = HashMap::new();
        for (position, core) in cores.enumerate() {
            let place = *places.entry(Arc::as_ptr(&core.constraints)).or_insert_with(|| {
                groups.push(PolicyGroup {
                    constraints: core.constraints.clone(),
                    members: Vec::new(),
                });
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(place) {
                group.members.push(position as u32);
            }
        }
        groups.iter_mut().for_each(|group| group.members.shrink_to_fit());
        PolicyGroups {
            index: MatchIndex::new(groups.iter().map(|group| &*group.constraints)),
            groups,
        }
    }
}
