//! The feature gates of kube-apiserver that rules depend on.

use pratique_schema::{FeatureGates, Release};

/// Which of them are on: rules ask for them more often than a table is to be searched by name.
// Upstream: pkg/features/kube_features.go
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureSet {
    pub(crate) release: &'static Release,
    pub(crate) clears_nominations: bool,
    pub(crate) has_restart_rules: bool,
    pub(crate) resizes_whole_pods: bool,
    pub(crate) moves_volumes: bool,
    pub(crate) judges_deletion_costs: bool,
    pub(crate) restarts_all_containers: bool,
    pub(crate) recreates_sets: bool,
    pub(crate) compares_tolerations: bool,
    pub(crate) shares_host_network: bool,
    pub(crate) reserves_names: bool,
}

impl Default for FeatureSet {
    fn default() -> Self {
        FeatureSet::new(FeatureGates::default())
    }
}

impl FeatureSet {
    /// Those of a server with these gates.
    pub(crate) fn new(gates: FeatureGates) -> Self {
        FeatureSet {
            release: gates.release(),
            clears_nominations: gates.is_on("ClearingNominatedNodeNameAfterBinding"),
            has_restart_rules: gates.is_on("ContainerRestartRules"),
            resizes_whole_pods: gates.is_on("InPlacePodLevelResourcesVerticalScaling"),
            moves_volumes: gates.is_on("MutablePVNodeAffinity"),
            judges_deletion_costs: gates.is_on("PodDeletionCost"),
            restarts_all_containers: gates.is_on("RestartAllContainersOnContainerExits"),
            recreates_sets: gates.is_on("StatefulSetRecreateStrategy"),
            compares_tolerations: gates.is_on("TaintTolerationComparisonOperators"),
            shares_host_network: gates.is_on("UserNamespacesHostNetworkSupport"),
            reserves_names: gates.is_on("ManifestBasedAdmissionControlConfig"),
        }
    }
}
