//! Which plugins are on: what `--enable-admission-plugins` and `--disable-admission-plugins` say.

use std::fmt::{self, Display, Formatter};

use pratique_types::admission_plugins::{BUILT_IN, Refused, built_in, refused};

/// A flag that names plugins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginFlag {
    /// `--enable-admission-plugins`
    Enable,
    /// `--disable-admission-plugins`
    Disable,
}

/// What is wrong with the names of plugins.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// There is no plugin of the name.
    #[error("{flag} plugin {name:?} is unknown")]
    Unknown {
        /// Which flag names it.
        flag: PluginFlag,
        /// The name.
        name: String,
    },
    /// There is no plugin of the name any more.
    #[error("{flag} plugin {:?} is unknown: {plugin}", .plugin.name)]
    Gone {
        /// Which flag names it.
        flag: PluginFlag,
        /// What became of it.
        plugin: &'static Refused,
    },
    /// Both flags name the same plugins.
    #[error("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", .0.join(" "))]
    Overlapping(Vec<String>),
}

/// The plugins that are on, in the order in which kube-apiserver 1.36 runs them, those for policies and webhooks among
/// them: those of its defaults that are not disabled, and those that are enabled.
///
/// ```
/// use pratique_plugins::enabled;
///
/// let on = enabled(&["AlwaysPullImages"], &["ServiceAccount"])?;
/// assert!(on.contains(&"AlwaysPullImages") && !on.contains(&"ServiceAccount"));
/// let errors = enabled(&["PodSecurityPolicy"], &[]).unwrap_err();
/// assert_eq!(
///     errors[0].to_string(),
///     "enable-admission-plugins plugin \"PodSecurityPolicy\" is unknown: admission plugin PodSecurityPolicy is gone \
///      since Kubernetes 1.25; instead there is PodSecurity, or policies of your own"
/// );
/// # Ok::<(), Vec<pratique_plugins::SelectionError>>(())
/// ```
///
/// # Errors
/// All that is wrong with the names, with an API server's texts.
// Upstream: apiserver/pkg/server/options/admission.go, AdmissionOptions.Validate and enabledPluginNames
pub fn enabled<S: AsRef<str>>(enable: &[S], disable: &[S]) -> Result<Vec<&'static str>, Vec<SelectionError>> {
    let mut errors = unknown(PluginFlag::Enable, enable);
    errors.extend(unknown(PluginFlag::Disable, disable));
    let names = |list: &[S], name: &str| list.iter().any(|listed| listed.as_ref() == name);
    let mut both: Vec<String> = enable.iter().map(|name| name.as_ref().to_owned()).collect();
    both.retain(|name| names(disable, name));
    both.sort();
    both.dedup();
    if !both.is_empty() {
        errors.push(SelectionError::Overlapping(both));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let is_on = |name: &str, by_default: bool| names(enable, name) || (by_default && !names(disable, name));
    let on = BUILT_IN
        .iter()
        .filter(|plugin| is_on(plugin.name, plugin.by_default));
    Ok(on.map(|plugin| plugin.name).collect())
}

fn unknown<S: AsRef<str>>(flag: PluginFlag, names: &[S]) -> Vec<SelectionError> {
    let unknown = names.iter().map(AsRef::as_ref);
    let unknown = unknown.filter(|name| built_in(name).is_none());
    let error = |name: &str| match refused(name) {
        Some(plugin) => SelectionError::Gone { flag, plugin },
        None => SelectionError::Unknown {
            flag,
            name: name.to_owned(),
        },
    };
    unknown.map(error).collect()
}

impl Display for PluginFlag {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PluginFlag::Enable => "enable-admission-plugins",
            PluginFlag::Disable => "disable-admission-plugins",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_flags_the_defaults_are_on() {
        let none: [&str; 0] = [];
        let on = enabled(&none, &none).unwrap();
        assert_eq!(on.len(), 27);
        assert!(on.contains(&"ValidatingAdmissionPolicy") && !on.contains(&"NodeRestriction"));
    }

    #[test]
    fn what_is_enabled_stands_in_its_place() {
        let on = enabled(&["AlwaysDeny", "AlwaysAdmit"], &["PodSecurity"]).unwrap();
        assert_eq!(
            (on.first(), on.last()),
            (Some(&"AlwaysAdmit"), Some(&"AlwaysDeny"))
        );
        assert!(!on.contains(&"PodSecurity"));
    }

    #[test]
    fn wrong_names_are_told_together() {
        let errors = enabled(&["Foo", "Priority"], &["priority", "Priority"]).unwrap_err();
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "enable-admission-plugins plugin \"Foo\" is unknown",
                "disable-admission-plugins plugin \"priority\" is unknown",
                "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped",
            ]
        );
    }
}
