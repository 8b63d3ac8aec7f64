//! Feature gates, by the API server's names and with its defaults.

use std::str::FromStr;

/// The gates that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gates {
    /// `ManifestBasedAdmissionControlConfig`, on since 1.37.
    pub(crate) manifests: bool,
}

/// What is wrong with a list of gates.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidGates {
    /// A gate without a value.
    #[error("missing bool value for {0}")]
    NoValue(String),
    /// A value that is no boolean.
    #[error("invalid value of {0}={1}: expected true or false")]
    NoBool(String, String),
    /// A gate that has nothing to do with what this command does.
    #[error("unrecognized feature gate: {0}; known is {MANIFESTS}")]
    Unknown(String),
}

const MANIFESTS: &str = "ManifestBasedAdmissionControlConfig";

impl FromStr for Gates {
    type Err = InvalidGates;

    fn from_str(text: &str) -> Result<Self, InvalidGates> {
        let mut gates = Gates { manifests: true };
        for gate in text.split(',').map(str::trim).filter(|gate| !gate.is_empty()) {
            let (name, value) = gate
                .split_once('=')
                .ok_or_else(|| InvalidGates::NoValue(gate.to_owned()))?;
            let no_bool = |_| InvalidGates::NoBool(name.to_owned(), value.to_owned());
            let on = value.to_ascii_lowercase().parse::<bool>().map_err(no_bool)?;
            match name {
                MANIFESTS => gates.manifests = on,
                _ => return Err(InvalidGates::Unknown(name.to_owned())),
            }
        }
        Ok(gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read() {
        let check = |text: &str| {
            text.parse::<Gates>()
                .map(|gates| gates.manifests)
                .map_err(|error| error.to_string())
        };
        assert_eq!(check(""), Ok(true));
        assert_eq!(check("ManifestBasedAdmissionControlConfig=False"), Ok(false));
        assert_eq!(
            check("ManifestBasedAdmissionControlConfig"),
            Err(format!("missing bool value for {MANIFESTS}"))
        );
        assert_eq!(
            check("X=true"),
            Err(format!("unrecognized feature gate: X; known is {MANIFESTS}"))
        );
    }
}
