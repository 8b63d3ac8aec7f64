//! The configuration file of the plugin.

use std::collections::HashSet;
use std::fmt::Display;

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{dns1123_label, dns1123_subdomain};
use pratique_manifest::{
    ConfigurationFault, ConfigurationKind, DecodedConfiguration, Failure, FieldStrictness,
    decode_plugin_configuration,
};
use pratique_schema::Release;
use serde_json::Value as Json;

use crate::{Level, LevelVersion, Mode, PodSecuritySettings, Policy, Version};

/// Why a configuration is refused, in the server's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// It cannot be decoded.
    #[error("{}", .0.text)]
    Undecodable(Failure),
    /// Defaults are no levels or versions, or exemptions are not valid.
    #[error("{}", .0.text)]
    Invalid(Failure),
}

const GROUP: &str = "pod-security.admission.config.k8s.io";
const KIND: &str = "PodSecurityConfiguration";

const fn of_version(version: &'static str, type_name: &'static str) -> ConfigurationKind {
    ConfigurationKind::new(GROUP, version, KIND, type_name)
}

/// The versions of the kind, which have the same fields.
const KINDS: [ConfigurationKind; 4] = [
    of_version("v1", "api/v1.PodSecurityConfiguration"),
    of_version("v1beta1", "api/v1beta1.PodSecurityConfiguration"),
    of_version("v1alpha1", "api/v1alpha1.PodSecurityConfiguration"),
    ConfigurationKind::internal(GROUP, KIND),
];

impl PodSecuritySettings {
    /// Reads a configuration file, as a server of a release does when it starts; an empty one has no settings.
    ///
    /// # Errors
    /// The server would not start.
    // Upstream: pod-security-admission/admission/api/load/load.go, LoadFromData
    pub fn read(path: &str, text: &[u8], release: &'static Release) -> Result<Self, ConfigurationError> {
        if text.is_empty() {
            return Ok(PodSecuritySettings::default());
        }
        let decoded = decode_plugin_configuration(path, text, &KINDS, (FieldStrictness::Strict, release))
            .map_err(ConfigurationError::Undecodable)?;
        let value = decoded.value();
        let version = member(value, "apiVersion").as_str().unwrap_or_default();
        if version.ends_with(ConfigurationKind::INTERNAL) {
            return Err(bad_defaults(&decoded, &all_required()));
        }
        let exemptions = |list| texts(member(member(value, "exemptions"), list));
        let settings = PodSecuritySettings {
            defaults: defaults(member(value, "defaults"))
                .map_err(|faults| bad_defaults(&decoded, &faults))?,
            exempt_users: exemptions("usernames"),
            exempt_namespaces: exemptions("namespaces"),
            exempt_runtime_classes: exemptions("runtimeClasses"),
        };
        match settings.faults().as_slice() {
            [] => Ok(settings),
            faults => {
                let text = format!("PodSecurity invalid: {}", ConfigurationFault::aggregate(faults));
                Err(ConfigurationError::Invalid(decoded.invalid(text, faults)))
            }
        }
    }

    // Upstream: pod-security-admission/admission/api/validation/validation.go, ValidatePodSecurityConfiguration
    fn faults(&self) -> Vec<ConfigurationFault> {
        let user = |name: &str| match name {
            "" => vec!["username must not be empty".to_owned()],
            _ => Vec::new(),
        };
        let mut faults = Vec::new();
        check_names("namespaces", &self.exempt_namespaces, dns1123_label, &mut faults);
        check_names(
            "runtimeClasses",
            &self.exempt_runtime_classes,
            dns1123_subdomain,
            &mut faults,
        );
        check_names("usernames", &self.exempt_users, user, &mut faults);
        faults
    }
}

/// Checks a list of exemptions: each valid, and each once.
fn check_names(
    list: &str,
    names: &[String],
    errors: impl Fn(&str) -> Vec<String>,
    faults: &mut Vec<ConfigurationFault>,
) {
    let mut seen = HashSet::new();
    for (index, name) in names.iter().enumerate() {
        let field = format!("exemptions.{list}[{index}]");
        let message = match errors(name).as_slice() {
            [] if seen.insert(name) => continue,
            [] => format!("{field}: Duplicate value: {}", quote(name)),
            errors => format!("{field}: Invalid value: {}: {}", quote(name), errors.join(", ")),
        };
        faults.push(ConfigurationFault::new(field, message));
    }
}

/// The policy of namespaces without labels. The defaults are the privileged level and the latest version.
// Upstream: pod-security-admission/admission/api/helpers.go, ToPolicy
fn defaults(decoded: &Json) -> Result<Policy, Vec<ConfigurationFault>> {
    let mut faults = Vec::new();
    let mut of_mode = |mode: Mode| {
        let level_field = mode.as_str();
        let version_field = format!("{level_field}-version");
        let value = |field: &str| member(decoded, field).as_str().filter(|text| !text.is_empty());
        let level = value(level_field).map_or(Ok(Level::Privileged), Level::parse);
        let version = value(&version_field).map_or(Ok(Version::Latest), Version::parse);
        let level = noted(level, level_field, &mut faults);
        let version = noted(version, &version_field, &mut faults);
        LevelVersion { level, version }
    };
    let policy = Policy {
        enforce: of_mode(Mode::Enforce),
        audit: of_mode(Mode::Audit),
        warn: of_mode(Mode::Warn),
    };
    if faults.is_empty() {
        Ok(policy)
    } else {
        Err(faults)
    }
}

fn bad_defaults(decoded: &DecodedConfiguration, faults: &[ConfigurationFault]) -> ConfigurationError {
    let text = format!(
        "PodSecurity configuration error: {}",
        ConfigurationFault::aggregate(faults)
    );
    ConfigurationError::Invalid(decoded.invalid(text, faults))
}

/// The faults of a configuration without defaults.
fn all_required() -> Vec<ConfigurationFault> {
    let modes = Mode::ALL.into_iter();
    let fields = modes.flat_map(|mode| ["", "-version"].map(|suffix| format!("{}{suffix}", mode.as_str())));
    fields.map(|field| of_default(&field, "required")).collect()
}

/// The value, or its default with the fault noted.
fn noted<T: Default>(read: Result<T, impl Display>, field: &str, faults: &mut Vec<ConfigurationFault>) -> T {
    read.unwrap_or_else(|error| {
        faults.push(of_default(field, &error.to_string()));
        T::default()
    })
}

/// A fault of a default, whose message has the field without its path.
fn of_default(field: &str, error: &str) -> ConfigurationFault {
    ConfigurationFault::new(format!("defaults.{field}"), format!("{field}: {error}"))
}

/// A field, null where it is missing.
fn member<'a>(value: &'a Json, name: &str) -> &'a Json {
    value.get(name).unwrap_or(&Json::Null)
}

fn texts(list: &Json) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts
        .map(|text| text.as_str().unwrap_or_default().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<PodSecuritySettings, String> {
        let text = format!("apiVersion: {GROUP}/v1\nkind: {KIND}\n{fields}");
        PodSecuritySettings::read("psa.yaml", text.as_bytes(), Release::latest())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_release_reads_them() {
        let text = b"apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\ndefaults: {enforce: baseline}\n";
        for release in Release::list() {
            assert!(
                PodSecuritySettings::read("psa.yaml", text, release).is_ok(),
                "{release}"
            );
        }
    }

    #[test]
    fn settings() {
        let settings =
            read("defaults: {enforce: baseline, enforce-version: v1.30}\nexemptions: {usernames: [ann]}\n");
        let settings = settings.unwrap();
        assert_eq!(settings.defaults.enforce.to_string(), "baseline:v1.30");
        assert_eq!(settings.defaults.warn, LevelVersion::default());
        assert_eq!(settings.exempt_users, ["ann"]);
        assert_eq!(
            PodSecuritySettings::read("none", b"", Release::latest()),
            Ok(PodSecuritySettings::default())
        );
    }

    #[test]
    fn errors() {
        assert_eq!(
            read("defaults: {enforce: all, warn-version: '1.2'}\n").unwrap_err(),
            "PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, warn-version: must \
             be \"latest\" or \"v1.x\"]"
        );
        assert_eq!(
            read("exemptions: {usernames: [ann, '', ann]}\n").unwrap_err(),
            "PodSecurity invalid: [exemptions.usernames[1]: Invalid value: \"\": username must not be empty, \
             exemptions.usernames[2]: Duplicate value: \"ann\"]"
        );
        let internal = format!("apiVersion: {GROUP}/__internal\nkind: {KIND}\n");
        let error =
            PodSecuritySettings::read("psa.yaml", internal.as_bytes(), Release::latest()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "PodSecurity configuration error: [enforce: required, enforce-version: required, audit: required, \
             audit-version: required, warn: required, warn-version: required]"
        );
        assert_eq!(
            read("defaults: {enforced: x}\n").unwrap_err(),
            "strict decoding error: unknown field \"defaults.enforced\""
        );
    }
}
