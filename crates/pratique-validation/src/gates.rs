//! The feature gates of kube-apiserver that rules depend on.

use std::sync::OnceLock;

use pratique_schema::{FeatureGates, Release};

/// A set of the gates that rules ask for: by a name for each in `fields`, by that of the gate itself in `others`.
macro_rules! feature_set {
    (
        fields { $($field:ident: $gate:literal,)* }
        others { $($other:literal,)* }
    ) => {
        /// Which of them are on: rules ask for them more often than a table is to be searched by name.
        // Upstream: pkg/features/kube_features.go
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct FeatureSet {
            pub(crate) release: &'static Release,
            pub(crate) feature_gates: FeatureGates,
            $(pub(crate) $field: bool,)*
        }

        impl FeatureSet {
            /// The names of the gates.
            pub(crate) const NAMES: &'static [&'static str] = &[$($gate,)* $($other,)*];

            /// Those of a server with these gates.
            pub(crate) fn new(gates: FeatureGates) -> Self {
                FeatureSet {
                    release: gates.release(),
                    feature_gates: gates,
                    $($field: gates.is_on($gate),)*
                }
            }
        }
    };
}

feature_set! {
    fields {
        clears_nominations: "ClearingNominatedNodeNameAfterBinding",
        divides_capacity: "DRAFractionalCapacityRange",
        scales_to_zero: "HPAScaleToZero",
        resizes_init_containers: "InPlacePodVerticalScalingInitContainers",
        changes_job_resources: "MutablePodResourcesForSuspendedJobs",
        changes_job_scheduling: "MutableSchedulingDirectivesForSuspendedJobs",
        relaxes_service_names: "RelaxedServiceNameValidation",
        mounts_with_labels: "SELinuxMount",
        validates_addresses_strictly: "StrictIPCIDRValidation",
        limits_volumes: "VolumeLimitScaling",
        signs_with_lattices: "PodCertificateMLDSA",
        has_restart_rules: "ContainerRestartRules",
        resizes_whole_pods: "InPlacePodLevelResourcesVerticalScaling",
        resizes_memory_volumes: "InPlacePodVerticalScalingMemoryBackedVolumes",
        moves_volumes: "MutablePVNodeAffinity",
        changes_allocatable_counts: "MutableCSINodeAllocatableCount",
        consumes_capacity: "DRAConsumableCapacity",
        validates_deletion_costs: "PodDeletionCost",
        pulls_profiles: "SecurityProfileOCI",
        restarts_all_containers: "RestartAllContainersOnContainerExits",
        recreates_sets: "StatefulSetRecreateStrategy",
        compares_tolerations: "TaintTolerationComparisonOperators",
        shares_host_network: "UserNamespacesHostNetworkSupport",
        reserves_names: "ManifestBasedAdmissionControlConfig",
    }
    // Those of the tables of declarative rules, and of the expressions that select devices.
    others {
        "DRAPartitionableDevicesType",
        "InPlacePodVerticalScalingSchedulerPreemption",
        "WorkloadWithJob",
        "CompositePodGroup",
        "PodGroupPreemptionPolicy",
        "TopologyAwareWorkloadScheduling",
        "WorkloadAwarePreemption",
        "ConditionalAuthorization",
    }
}

impl FeatureSet {
    /// Those of a server of a release with its defaults.
    pub(crate) fn of_release(release: &'static Release) -> Self {
        if release == Release::latest() {
            return FeatureSet::default();
        }
        FeatureSet::new(FeatureGates::new(release))
    }
}

impl Default for FeatureSet {
    fn default() -> Self {
        static DEFAULT: OnceLock<FeatureSet> = OnceLock::new();
        *DEFAULT.get_or_init(|| FeatureSet::new(FeatureGates::default()))
    }
}
