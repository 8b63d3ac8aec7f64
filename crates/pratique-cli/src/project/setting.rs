//! One value of the file: a flag or the positional arguments of a command.

use std::ffi::OsString;

use pratique_manifest::Location;

/// A flag or the positional arguments of a command.
#[derive(Clone, Debug)]
pub(crate) struct CommandSetting {
    /// The name of the command.
    pub(crate) command: &'static str,
    /// The id of the argument.
    pub(crate) argument: String,
    /// The field, with its section if it is in one: `review.failOn`, `policies`.
    pub(crate) field: String,
    /// The flag with its dashes; empty for positional arguments.
    pub(crate) flag: String,
    pub(crate) is_positional: bool,
    /// Whether its values are paths.
    pub(crate) is_path: bool,
    pub(crate) values: SettingValue,
    /// Where the file says it.
    pub(crate) location: Location,
}

/// The value of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingValue {
    /// Whether a flag without a value is set.
    Switch(bool),
    /// One or more values.
    Values(Vec<String>),
}

impl CommandSetting {
    /// Its values; none of a switch.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        let values = match &self.values {
            SettingValue::Switch(_) => [].as_slice(),
            SettingValue::Values(values) => values.as_slice(),
        };
        values.iter().map(String::as_str)
    }

    /// Whether it says nothing: a switch that is off.
    pub(crate) fn is_off(&self) -> bool {
        self.values == SettingValue::Switch(false)
    }

    /// The arguments of the command line that say the same.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        match &self.values {
            SettingValue::Switch(true) => vec![OsString::from(&self.flag)],
            SettingValue::Switch(false) => Vec::new(),
            SettingValue::Values(values) if self.is_positional => values.iter().map(OsString::from).collect(),
            SettingValue::Values(values) => values
                .iter()
                .map(|value| OsString::from(format!("{}={value}", self.flag)))
                .collect(),
        }
    }
}
