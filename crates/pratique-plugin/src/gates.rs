//! The names of the feature gates that plugins read.

/// On since 1.37.
pub const CLUSTER_TRUST_BUNDLE: &str = "ClusterTrustBundle";
/// Labels of topology on Pods.
pub const POD_TOPOLOGY_LABELS: &str = "PodTopologyLabelsAdmission";
/// Locked since 1.37.
pub const NODE_DECLARED_FEATURES: &str = "NodeDeclaredFeatures";
/// Workloads and groups of Pods.
pub const GENERIC_WORKLOAD: &str = "GenericWorkload";
/// Workloads of Jobs.
pub const WORKLOAD_WITH_JOB: &str = "WorkloadWithJob";
/// Groups of groups of Pods.
pub const COMPOSITE_POD_GROUP: &str = "CompositePodGroup";
/// The preemption policy of groups of Pods.
pub const POD_GROUP_PREEMPTION_POLICY: &str = "PodGroupPreemptionPolicy";
/// Resources of nodes that devices provide.
pub const DRA_NODE_ALLOCATABLE_RESOURCES: &str = "DRANodeAllocatableResources";
/// Extended resources that devices provide.
pub const DRA_EXTENDED_RESOURCE: &str = "DRAExtendedResource";
/// The health of volumes in the status of a CSINode.
pub const CSI_VOLUME_HEALTH: &str = "CSIVolumeHealth";
/// Resources of a whole Pod.
pub const POD_LEVEL_RESOURCES: &str = "PodLevelResources";
/// Pods that are resized. Locked since 1.35, gone since 1.38.
pub const IN_PLACE_POD_VERTICAL_SCALING: &str = "InPlacePodVerticalScaling";
/// Requests for certificates of kubelets under any name.
pub const ALLOW_INSECURE_KUBELET_CSR: &str = "AllowInsecureKubeletCertificateSigningRequests";
/// Tokens for kubelets only of audiences that Pods use.
pub const NODE_AUDIENCE_RESTRICTION: &str = "ServiceAccountNodeAudienceRestriction";
/// On since 1.37.
pub const POD_CERTIFICATE_REQUEST: &str = "PodCertificateRequest";
/// Users of a Pod with its own user namespace are not restricted. Gone since 1.35.
pub const USER_NAMESPACES_POD_SECURITY_STANDARDS: &str = "UserNamespacesPodSecurityStandards";

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[test]
    fn the_newest_release_has_all_gates() {
        let gates = Release::latest().gates();
        for name in [
            CLUSTER_TRUST_BUNDLE,
            POD_TOPOLOGY_LABELS,
            NODE_DECLARED_FEATURES,
            GENERIC_WORKLOAD,
            WORKLOAD_WITH_JOB,
            COMPOSITE_POD_GROUP,
            POD_GROUP_PREEMPTION_POLICY,
            DRA_NODE_ALLOCATABLE_RESOURCES,
            DRA_EXTENDED_RESOURCE,
            CSI_VOLUME_HEALTH,
            POD_LEVEL_RESOURCES,
            IN_PLACE_POD_VERTICAL_SCALING,
            ALLOW_INSECURE_KUBELET_CSR,
            NODE_AUDIENCE_RESTRICTION,
            POD_CERTIFICATE_REQUEST,
        ] {
            assert!(gates.get(name).is_some(), "{name}");
        }
    }

    #[test]
    fn gates_that_are_gone_are_of_older_releases() {
        let has_gate = |release: &Release| {
            release
                .gates()
                .get(USER_NAMESPACES_POD_SECURITY_STANDARDS)
                .is_some()
        };
        assert!(has_gate(Release::by_version("1.34").unwrap()));
        assert!(!has_gate(Release::by_version("1.35").unwrap()));
    }
}
