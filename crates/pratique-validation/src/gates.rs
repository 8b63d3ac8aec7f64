//! The feature gates of kube-apiserver that rules depend on.

use std::sync::OnceLock;

use pratique_schema::{FeatureGates, Release};

/// A set of the gates that rules ask for, each by a name.
macro_rules! feature_set {
    ($($field:ident: $gate:literal,)*) => {
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
            pub(crate) const NAMES: &'static [&'static str] = &[$($gate),*];

            /// Those of a server with these gates.
            pub(crate) fn new(gates: FeatureGates) -> Self {
                FeatureSet {
                    release: gates.release(),
                    feature_gates: gates,
                    $($field: gates.is_on($gate),)*
                }
            }

            /// Whether one of them is on, by its name.
            pub(crate) fn is_on(&self, name: &str) -> bool {
                match name {
                    $($gate => self.$field,)*
                    _ => false,
                }
            }
        }
    };
}

feature_set! {
    clears_nominations: "ClearingNominatedNodeNameAfterBinding",
    consumes_capacity: "DRAConsumableCapacity",
    divides_capacity: "DRAFractionalCapacityRange",
    types_partitions: "DRAPartitionableDevicesType",
    scales_to_zero: "HPAScaleToZero",
    resizes_init_containers: "InPlacePodVerticalScalingInitContainers",
    preempts_for_resize: "InPlacePodVerticalScalingSchedulerPreemption",
    changes_job_resources: "MutablePodResourcesForSuspendedJobs",
    changes_job_scheduling: "MutableSchedulingDirectivesForSuspendedJobs",
    relaxes_service_names: "RelaxedServiceNameValidation",
    mounts_with_labels: "SELinuxMount",
    judges_addresses_strictly: "StrictIPCIDRValidation",
    limits_volumes: "VolumeLimitScaling",
    groups_jobs: "WorkloadWithJob",
    signs_with_lattices: "PodCertificateMLDSA",
    composes_groups: "CompositePodGroup",
    preempts_groups: "PodGroupPreemptionPolicy",
    schedules_by_topology: "TopologyAwareWorkloadScheduling",
    preempts_for_workloads: "WorkloadAwarePreemption",
    authorizes_conditionally: "ConditionalAuthorization",
    has_restart_rules: "ContainerRestartRules",
    resizes_whole_pods: "InPlacePodLevelResourcesVerticalScaling",
    moves_volumes: "MutablePVNodeAffinity",
    judges_deletion_costs: "PodDeletionCost",
    restarts_all_containers: "RestartAllContainersOnContainerExits",
    recreates_sets: "StatefulSetRecreateStrategy",
    compares_tolerations: "TaintTolerationComparisonOperators",
    shares_host_network: "UserNamespacesHostNetworkSupport",
    reserves_names: "ManifestBasedAdmissionControlConfig",
}

impl FeatureSet {
    /// Those of a server of a release with its defaults.
    pub(crate) fn of_release(release: &'static Release) -> Self {
        FeatureSet::new(FeatureGates::new(release))
    }
}

impl Default for FeatureSet {
    fn default() -> Self {
        static DEFAULT: OnceLock<FeatureSet> = OnceLock::new();
        *DEFAULT.get_or_init(|| FeatureSet::new(FeatureGates::default()))
    }
}
