//! Which fields objects have when admission sees them, though their schema does not say so.

use std::collections::HashMap;

/// Why a field is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldPresence {
    /// The schema requires it.
    Required,
    /// An API server fills it in where it is left out. The value as JSON; `None` where it depends on other values.
    Default(Option<&'static str>),
}

/// The fields of all types of a release that are always present.
#[derive(Debug, Default)]
pub struct GivenFields(HashMap<&'static str, Vec<(&'static str, FieldPresence)>>);

impl GivenFields {
    /// The fields that are always present in their parent in objects of a type, by their path from the type on
    /// (`strategy.type`); paths go through all elements of lists.
    pub fn for_type(&self, type_name: &str) -> &[(&'static str, FieldPresence)] {
        self.0.get(type_name).map_or(&[], Vec::as_slice)
    }
}

/// Parses the table.
pub(crate) fn read(table: &'static str) -> GivenFields {
    let mut types: HashMap<&str, Vec<_>> = HashMap::new();
    let mut current = "";
    for line in table.lines() {
        if let Some(name) = line.strip_prefix("type ") {
            current = name;
        } else if let Some((path, how)) = line.strip_prefix(' ').and_then(|field| field.split_once(' ')) {
            let presence = match how.strip_prefix('=') {
                None => FieldPresence::Required,
                Some(value) => FieldPresence::Default(Some(value).filter(|value| !value.is_empty())),
            };
            types.entry(current).or_default().push((path, presence));
        }
    }
    GivenFields(types)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;

    /// The fields looked at have been the same in all releases.
    #[track_caller]
    fn check(type_name: &str, path: &str, expected: Option<FieldPresence>) {
        for release in Release::list() {
            let mut fields = release.given().for_type(type_name).iter();
            let presence = fields.find(|(known, _)| *known == path).map(|(_, given)| *given);
            assert_eq!(presence, expected, "{release}: {type_name} {path}");
        }
    }

    #[test]
    fn required_and_defaulted_fields() {
        check("core/v1.PodSpec", "containers", Some(FieldPresence::Required));
        check("core/v1.PodSpec", "initContainers", None);
        check(
            "admissionregistration/v1beta1.Variable",
            "expression",
            Some(FieldPresence::Required),
        );
        check(
            "core/v1.PodSpec",
            "restartPolicy",
            Some(FieldPresence::Default(Some("\"Always\""))),
        );
        check(
            "core/v1.PodSpec",
            "securityContext",
            Some(FieldPresence::Default(Some("{}"))),
        );
        check(
            "apps/v1.Deployment",
            "spec.replicas",
            Some(FieldPresence::Default(Some("1"))),
        );
        check(
            "core/v1.Service",
            "spec.ports.targetPort",
            Some(FieldPresence::Default(None)),
        );
        // Filled in for some objects only.
        check("core/v1.Service", "spec.externalTrafficPolicy", None);
        check("core/v1.Pod", "spec.containers.ports.hostPort", None);
    }
}
