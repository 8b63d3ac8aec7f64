//! Names that are reserved for static manifests.

use pratique_types::field::Error;
use pratique_types::{GroupVersionKind, Operation, Status, status};

use crate::configuration::is_configuration;

/// The suffix of the names of static manifests.
pub const RESERVED_SUFFIX: &str = ".static.k8s.io";

/// Whether a name is reserved for static manifests.
pub fn is_reserved(name: &str) -> bool {
    name.ends_with(RESERVED_SUFFIX)
}

/// The error of a new object whose name is reserved.
// Upstream: pkg/apis/admissionregistration/validation/static_suffix.go, ValidateStaticSuffix
pub fn reserved_name_error(name: &str) -> Option<Error> {
    is_reserved(name).then(|| Error::invalid(FIELD, name, &detail()))
}

/// The response of the API to a reserved name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReservedResponse {
    /// It refuses to create it.
    Refused(Box<Status>),
    /// It warns.
    Warned(String),
}

impl ReservedResponse {
    /// The response of the API to a request, if the name is reserved; `gate` is the feature gate `ManifestBasedAdmissionControlConfig`.
    ///
    /// Only configuration of admission has reserved names. What was created before the gate was on can be updated,
    /// with a warning, and deleted.
    pub(crate) fn find(
        operation: Operation,
        kind: &GroupVersionKind,
        name: &str,
        gate: bool,
    ) -> Option<Self> {
        let error = reserved_name_error(name).filter(|_| is_configuration(kind))?;
        match operation {
            Operation::Create if gate => Some(ReservedResponse::Refused(Box::new(status::invalid(
                kind,
                name,
                [error],
            )))),
            Operation::Create | Operation::Update => {
                Some(ReservedResponse::Warned(format!("{FIELD}: {}", detail())))
            }
            Operation::Delete | Operation::Connect | Operation::None => None,
        }
    }
}

const FIELD: &str = "metadata.name";

fn detail() -> String {
    format!(
        "names ending with \"{RESERVED_SUFFIX}\" are reserved for static manifest-based configurations and cannot be \
         managed via the API"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(operation: Operation, kind: &str, name: &str, gate: bool, expected: &str) {
        let kind = GroupVersionKind::new("admissionregistration.k8s.io", "v1", kind);
        let message = match ReservedResponse::find(operation, &kind, name, gate) {
            None => String::new(),
            Some(ReservedResponse::Warned(warning)) => warning,
            Some(ReservedResponse::Refused(status)) => format!("{} {}", status.code, status.message),
        };
        assert_eq!(message, expected);
    }

    #[test]
    fn reserved_names() {
        let policy = "ValidatingAdmissionPolicy";
        let name = "new.static.k8s.io";
        let warning = "metadata.name: names ending with \".static.k8s.io\" are reserved for static manifest-based \
                       configurations and cannot be managed via the API";
        let refusal = "422 ValidatingAdmissionPolicy.admissionregistration.k8s.io \"new.static.k8s.io\" is invalid: \
                       metadata.name: Invalid value: \"new.static.k8s.io\": names ending with \".static.k8s.io\" are \
                       reserved for static manifest-based configurations and cannot be managed via the API";
        check(Operation::Create, policy, name, true, refusal);
        check(Operation::Create, policy, name, false, warning);
        check(Operation::Update, policy, name, true, warning);
        check(Operation::Update, policy, name, false, warning);
        check(Operation::Delete, policy, name, true, "");
        check(Operation::Create, policy, "static.k8s.io", true, "");
        check(Operation::Create, "Other", name, true, "");
    }
}
