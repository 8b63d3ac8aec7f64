//! Objects of older versions of the API, which have other defaults.

use pratique_manifest::OlderVersion;

use crate::lint::Lint;
use crate::warning::Warning;

pub(crate) const LINT: Lint = Lint {
    name: "older-version",
    summary: "An object is written in an older version of the API, some of whose defaults are others than those of v1.",
};

/// Warns of an object that means something else in v1.
pub(crate) fn check(older: &OlderVersion) -> Warning {
    let (version, fields) = (older.version, older.defaults.join(", "));
    Warning {
        lint: &LINT,
        message: format!("read as {version}, whose default for {fields} is not that of v1"),
        object: Some(older.name.clone()),
        field: String::new(),
        location: older.location.clone(),
        help: Some("write the field, and the object means the same in every version".into()),
        example: None,
    }
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{Loader, ManifestFile, Options, UncheckedExpressions};

    use super::*;

    #[track_caller]
    fn check_count(version: &str, param_ref: &str, expected: usize) {
        let text = format!(
            "apiVersion: admissionregistration.k8s.io/{version}\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: b}}\n\
             spec: {{policyName: p, paramRef: {{{param_ref}}}, validationActions: [Deny]}}\n"
        );
        let file = ManifestFile {
            path: "b.yaml".into(),
            content: text.into_bytes(),
        };
        let set = Loader::for_api(&Options::new(&UncheckedExpressions))
            .load_files(&[file])
            .unwrap();
        let found = crate::lint(&[&set]);
        assert_eq!(
            found.iter().filter(|warning| *warning.lint == LINT).count(),
            expected
        );
    }

    #[test]
    fn defaults_that_differ() {
        check_count("v1alpha1", "name: limits", 1);
        check_count("v1alpha1", "name: limits, parameterNotFoundAction: Allow", 0);
        check_count("v1", "name: limits, parameterNotFoundAction: Allow", 0);
    }
}
