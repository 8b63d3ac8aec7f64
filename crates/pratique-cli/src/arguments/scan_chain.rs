//! The arguments about the plugins of an API server that a scan evaluates.

use clap::Args;

use super::{AdmissionPluginArguments, on_or_off};

/// Which of the server's own admission plugins are evaluated.
#[derive(Debug, Args)]
pub(crate) struct ScanChainArguments {
    /// Evaluate the server's own admission plugins too, as far as they decide by what an object is: PodSecurity, by the labels of
    /// namespaces, LimitRanger, and of those that are off by default LimitPodHardAntiAffinityTopology, PodNodeSelector,
    /// PodTolerationRestriction and DenyServiceExternalIPs, if --enable-admission-plugins names them, which turns this on. Each
    /// decides by itself. What they look up comes from the inputs, --objects, --snapshot or --cluster; one that lacks some of
    /// it is undecided.
    #[arg(long, env = "PRATIQUE_CHAIN", num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_name = "on|off", value_parser = on_or_off())]
    pub(crate) chain: Option<bool>,
    #[command(flatten)]
    pub(crate) admission_plugins: AdmissionPluginArguments,
}

impl ScanChainArguments {
    /// Whether plugins are evaluated.
    pub(crate) fn is_on(&self) -> bool {
        let names_some = self.admission_plugins.switches().enabled.is_some();
        self.chain.unwrap_or(names_some)
    }
}
