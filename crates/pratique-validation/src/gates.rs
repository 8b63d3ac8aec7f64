//! The feature gates of kube-apiserver that rules depend on.

/// Which of them are on, by default as kube-apiserver 1.37 has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureSet {
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
        FeatureSet {
            clears_nominations: true,
            has_restart_rules: true,
            resizes_whole_pods: true,
            moves_volumes: false,
            judges_deletion_costs: true,
            restarts_all_containers: true,
            recreates_sets: false,
            compares_tolerations: false,
            shares_host_network: false,
            reserves_names: true,
        }
    }
}

impl FeatureSet {
    /// Turns a gate on or off by its name. One that no rule depends on is passed over.
    // Upstream: pkg/features/kube_features.go
    pub(crate) fn set(&mut self, name: &str, is_on: bool) {
        let gate = match name {
            "ClearingNominatedNodeNameAfterBinding" => &mut self.clears_nominations,
            "ContainerRestartRules" => &mut self.has_restart_rules,
            "InPlacePodLevelResourcesVerticalScaling" => &mut self.resizes_whole_pods,
            "MutablePVNodeAffinity" => &mut self.moves_volumes,
            "PodDeletionCost" => &mut self.judges_deletion_costs,
            "RestartAllContainersOnContainerExits" => &mut self.restarts_all_containers,
            "StatefulSetRecreateStrategy" => &mut self.recreates_sets,
            "TaintTolerationComparisonOperators" => &mut self.compares_tolerations,
            "ManifestBasedAdmissionControlConfig" => &mut self.reserves_names,
            "UserNamespacesHostNetworkSupport" => &mut self.shares_host_network,
            _ => return,
        };
        *gate = is_on;
    }
}
