//! The objects of a run of which not all is decided: what a baseline knows of them may still be there.

use std::collections::BTreeSet;

use super::finding_key::FindingKey;
use crate::evaluation::record::DecisionRecord;

/// The objects.
#[derive(Clone, Debug, Default)]
pub(super) struct UndecidedObjects {
    objects: BTreeSet<ObjectName>,
    /// Workloads, `Deployment/web`, whose Pods may be others once they are decided.
    workloads: BTreeSet<WorkloadName>,
}

/// An object as the keys of findings name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectName {
    resource: String,
    namespace: String,
    name: String,
    of: String,
}

/// A workload as the keys of findings about its Pods name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WorkloadName {
    namespace: String,
    of: String,
}

impl ObjectName {
    fn from_key(key: &FindingKey) -> Self {
        ObjectName {
            resource: key.resource.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            of: key.of.clone(),
        }
    }
}

impl UndecidedObjects {
    /// Adds the object of a decision, if anything about it is undecided.
    pub(super) fn count(&mut self, record: &DecisionRecord) {
        if record.undecided.is_empty() {
            return;
        }
        let (name, of) = record.finding_names();
        self.objects.insert(ObjectName {
            resource: record.resource_with_part(),
            namespace: record.namespace.clone(),
            name,
            of,
        });
        self.workloads.insert(WorkloadName {
            namespace: record.namespace.clone(),
            of: format!("{}/{}", record.kind, record.name),
        });
    }

    /// Adds those of a later part.
    pub(super) fn merge(&mut self, other: UndecidedObjects) {
        self.objects.extend(other.objects);
        self.workloads.extend(other.workloads);
    }

    /// Whether the object of a finding is among them, or the workload that makes it.
    pub(super) fn has_object_of(&self, key: &FindingKey) -> bool {
        let workload = WorkloadName {
            namespace: key.namespace.clone(),
            of: key.of.clone(),
        };
        self.objects.contains(&ObjectName::from_key(key)) || self.workloads.contains(&workload)
    }
}
