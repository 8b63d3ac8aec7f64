//! Objects of older versions of the API, which have other defaults.
//!
//! # What
//!
//! An object of a cluster that serves an older version of the API is written in that, and leaves out a field whose default
//! in that version is not the one of `v1`. Of files, a server that serves `v1` only takes none.
//!
//! # Why
//!
//! Who knows `v1` reads the file otherwise than the server does.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1alpha1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: limits}
//! spec: {policyName: limits, paramRef: {name: limits}, validationActions: [Deny]}
//! ```
//!
//! The `paramRef` has no `parameterNotFoundAction`, which is `Deny` in `v1alpha1` and required in `v1`. Write the
//! field.

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::LintReport;
use crate::warning::Warning;

/// The lint `older-version`.
pub(crate) struct OlderVersion;

impl Lint for OlderVersion {
    const META: &'static LintMeta = &LintMeta {
        name: "older-version",
        summary: "An object is written in an older version of the API, some of whose defaults are others than those of v1.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        for older in context.manifest_sets().iter().flat_map(|set| &set.older) {
            let (version, fields) = (older.version, older.defaults.join(", "));
            report.push(Warning {
                lint: Self::META,
                message: format!("read as {version}, whose default for {fields} is not that of v1"),
                object: Some(older.name.clone()),
                field: String::new(),
                location: older.location.clone(),
                help: Some("write the field, and the object means the same in every version".into()),
                example: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};

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
        let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
            .with_older_versions()
            .load_files(&[file])
            .unwrap();
        let found = crate::lint(&[&set]);
        assert_eq!(
            found
                .iter()
                .filter(|warning| warning.lint == OlderVersion::META)
                .count(),
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
