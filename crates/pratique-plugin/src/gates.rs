//! The feature gates that plugins read.

use std::collections::BTreeMap;

/// A feature gate of kube-apiserver 1.36 that a plugin reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its name.
    pub name: &'static str,
    /// Whether it is on by default.
    pub by_default: bool,
}

/// The feature gates of a server, by default as kube-apiserver 1.36 has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginGates {
    set: BTreeMap<String, bool>,
}

impl Gate {
    /// `ClusterTrustBundle`
    pub const CLUSTER_TRUST_BUNDLE: Self = Self::off("ClusterTrustBundle");
    /// `PodTopologyLabelsAdmission`
    pub const POD_TOPOLOGY_LABELS: Self = Self::on("PodTopologyLabelsAdmission");
    /// `NodeDeclaredFeatures`
    pub const NODE_DECLARED_FEATURES: Self = Self::on("NodeDeclaredFeatures");
    /// `GenericWorkload`
    pub const GENERIC_WORKLOAD: Self = Self::off("GenericWorkload");
    /// `WorkloadWithJob`
    pub const WORKLOAD_WITH_JOB: Self = Self::off("WorkloadWithJob");
    /// `WorkloadAwarePreemption`
    pub const WORKLOAD_AWARE_PREEMPTION: Self = Self::off("WorkloadAwarePreemption");
    /// `PodLevelResources`
    pub const POD_LEVEL_RESOURCES: Self = Self::on("PodLevelResources");
    /// `AllowInsecureKubeletCertificateSigningRequests`
    pub const ALLOW_INSECURE_KUBELET_CSR: Self = Self::off("AllowInsecureKubeletCertificateSigningRequests");
    /// `ServiceAccountNodeAudienceRestriction`
    pub const NODE_AUDIENCE_RESTRICTION: Self = Self::on("ServiceAccountNodeAudienceRestriction");
    /// `PodCertificateRequest`
    pub const POD_CERTIFICATE_REQUEST: Self = Self::off("PodCertificateRequest");

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
