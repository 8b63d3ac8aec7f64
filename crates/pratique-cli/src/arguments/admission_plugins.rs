//! Flags of an API server about its admission plugins.

use clap::Args;
use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_types::admission_plugins::{BUILT_IN, BuiltIn, built_in, refused};

use crate::exit::CliError;

/// Which admission plugins an API server runs.
#[derive(Debug, Default, Args)]
pub(crate) struct AdmissionPluginArguments {
    /// Admission plugins that the server runs besides those that are on by default. Without it, those that the
    /// AdmissionConfiguration configures are taken to be on.
    #[arg(
        long,
        env = "PRATIQUE_ENABLE_ADMISSION_PLUGINS",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = known
    )]
    enable_admission_plugins: Option<Vec<&'static BuiltIn>>,
    /// Admission plugins that the server does not run although they are on by default.
    #[arg(
        long,
        env = "PRATIQUE_DISABLE_ADMISSION_PLUGINS",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = known
    )]
    disable_admission_plugins: Vec<&'static BuiltIn>,
}

impl AdmissionPluginArguments {
    /// Checks that no plugin is both on and off.
    // Upstream: apiserver/pkg/server/options/admission.go, AdmissionOptions.Validate
    pub(crate) fn validate(&self) -> Result<(), CliError> {
        let enabled = self.enable_admission_plugins.as_deref().unwrap_or_default();
        let both = self.disable_admission_plugins.iter();
        let mut both: Vec<&str> = both
            .filter(|plugin| enabled.contains(plugin))
            .map(|plugin| plugin.name)
            .collect();
        both.sort_unstable();
        both.dedup();
        match both.is_empty() {
            true => Ok(()),
            false => Err(CliError::PluginsOverlap {
                names: both.join(" "),
            }),
        }
    }

    /// Whether the server runs a plugin, given whether an AdmissionConfiguration configures it.
    pub(crate) fn is_on(&self, plugin: &BuiltIn, is_configured: bool) -> bool {
        let is_among = |plugins: &[&BuiltIn]| plugins.iter().any(|other| other.name == plugin.name);
        if is_among(&self.disable_admission_plugins) {
            return false;
        }
        plugin.by_default
            || self
                .enable_admission_plugins
                .as_deref()
                .map_or(is_configured, is_among)
    }
}

/// The plugin of a name, or why there is none.
fn known(name: &str) -> Result<&'static BuiltIn, String> {
    built_in(name).ok_or_else(|| match refused(name) {
        Some(refused) => refused.to_string(),
        None => {
            let meant = nearest(name, BUILT_IN.map(|plugin| plugin.name)).map(did_you_mean);
            let meant = meant.map(|meant| format!(": {meant}")).unwrap_or_default();
            format!("kube-apiserver 1.36 has no admission plugin {name:?}{meant}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_decide_what_is_on() {
        let on = |arguments: &AdmissionPluginArguments, name: &str, is_configured| {
            arguments.is_on(known(name).unwrap(), is_configured)
        };
        let none = AdmissionPluginArguments::default();
        assert!(on(&none, "PodSecurity", false) && on(&none, "EventRateLimit", true));
        assert!(!on(&none, "EventRateLimit", false));
        let some = AdmissionPluginArguments {
            enable_admission_plugins: Some(vec![known("AlwaysPullImages").unwrap()]),
            disable_admission_plugins: vec![known("PodSecurity").unwrap()],
        };
        assert!(on(&some, "AlwaysPullImages", false) && !on(&some, "EventRateLimit", true));
        assert!(!on(&some, "PodSecurity", true));
    }

    #[test]
    fn names_that_are_no_plugins_are_refused() {
        let error = known("SecurityContextDeny").unwrap_err();
        assert_eq!(
            error,
            "admission plugin SecurityContextDeny is gone since Kubernetes 1.30; instead there is PodSecurity at the level \
             \"restricted\""
        );
        assert!(
            known("EventRateLimits")
                .unwrap_err()
                .ends_with("did you mean \"EventRateLimit\"?")
        );
        let both = AdmissionPluginArguments {
            enable_admission_plugins: Some(vec![known("EventRateLimit").unwrap()]),
            disable_admission_plugins: vec![known("EventRateLimit").unwrap()],
        };
        assert_eq!(
            both.validate().unwrap_err().to_string(),
            "[EventRateLimit] in enable-admission-plugins and disable-admission-plugins overlapped"
        );
    }
}
