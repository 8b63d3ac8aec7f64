//! The feature gates of kube-apiserver that rules depend on.

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
        }
    };
}

feature_set! {
    clears_nominations: "ClearingNominatedNodeNameAfterBinding",
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

impl Default for FeatureSet {
    fn default() -> Self {
        FeatureSet::new(FeatureGates::default())
    }
}
