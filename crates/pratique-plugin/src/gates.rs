//! The feature gates that plugins read.

use std::collections::BTreeMap;

/// A feature gate of kube-apiserver 1.37 that a plugin reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its name.
    pub name: &'static str,
    /// Whether it is on by default.
    pub by_default: bool,
}

/// The feature gates of a server, by default as kube-apiserver 1.37 has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginGates {
    set: BTreeMap<String, bool>,
}

impl Gate {
    /// `ClusterTrustBundle`, on since 1.37.
    pub const CLUSTER_TRUST_BUNDLE: Self = Self::on("ClusterTrustBundle");
    /// `PodTopologyLabelsAdmission`
    pub const POD_TOPOLOGY_LABELS: Self = Self::on("PodTopologyLabelsAdmission");
    /// `NodeDeclaredFeatures`, locked since 1.37.
    pub const NODE_DECLARED_FEATURES: Self = Self::on("NodeDeclaredFeatures");
    /// `GenericWorkload`
    pub const GENERIC_WORKLOAD: Self = Self::off("GenericWorkload");
    /// `WorkloadWithJob`
    pub const WORKLOAD_WITH_JOB: Self = Self::off("WorkloadWithJob");
    /// `CompositePodGroup`
    pub const COMPOSITE_POD_GROUP: Self = Self::off("CompositePodGroup");
    /// `PodGroupPreemptionPolicy`
    pub const POD_GROUP_PREEMPTION_POLICY: Self = Self::off("PodGroupPreemptionPolicy");
    /// `DRANodeAllocatableResources`
    pub const DRA_NODE_ALLOCATABLE_RESOURCES: Self = Self::off("DRANodeAllocatableResources");
    /// `CSIVolumeHealth`
    pub const CSI_VOLUME_HEALTH: Self = Self::off("CSIVolumeHealth");
    /// `PodLevelResources`
    pub const POD_LEVEL_RESOURCES: Self = Self::on("PodLevelResources");
    /// `AllowInsecureKubeletCertificateSigningRequests`
    pub const ALLOW_INSECURE_KUBELET_CSR: Self = Self::off("AllowInsecureKubeletCertificateSigningRequests");
    /// `ServiceAccountNodeAudienceRestriction`
    pub const NODE_AUDIENCE_RESTRICTION: Self = Self::on("ServiceAccountNodeAudienceRestriction");
    /// `PodCertificateRequest`, on since 1.37.
    pub const POD_CERTIFICATE_REQUEST: Self = Self::on("PodCertificateRequest");

    /// A gate that is on by default.
    pub const fn on(name: &'static str) -> Self {
        Gate {
            name,
            by_default: true,
        }
    }

    /// A gate that is off by default.
    pub const fn off(name: &'static str) -> Self {
        Gate {
            name,
            by_default: false,
        }
    }
}

impl PluginGates {
    /// Sets a gate.
    pub fn set(&mut self, name: impl Into<String>, on: bool) {
        self.set.insert(name.into(), on);
    }

    /// Whether a gate is on.
    pub fn enabled(&self, gate: Gate) -> bool {
        self.set.get(gate.name).copied().unwrap_or(gate.by_default)
    }
}
