//! Objects in versions of the API that a server serves only if it is told to.
//!
//! # What
//!
//! An object is written in an alpha or beta version of the API, which a server of the release serves only with
//! `--runtime-config`. Objects of a cluster are not meant: it serves them.
//!
//! # Why
//!
//! Other servers answer that they could not find the requested resource: the policy is not there, and nothing is refused.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1beta1
//! kind: MutatingAdmissionPolicyBinding
//! metadata: {name: labels}
//! spec: {policyName: labels}
//! ```
//!
//! Write it in `admissionregistration.k8s.io/v1`, which servers have since Kubernetes 1.36.

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::LintReport;
use crate::warning::Warning;

/// The lint `optional-version`.
pub(crate) struct OptionalVersion;

impl Lint for OptionalVersion {
    const META: &'static LintMeta = &LintMeta {
        name: "optional-version",
        summary: "An object is written in a version of the API that servers serve only if they are told to.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        for optional in context.manifest_sets().iter().flat_map(|set| &set.optional) {
            report.push(Warning {
                lint: Self::META,
                message: optional.to_string(),
                object: Some(optional.name.clone()),
                field: String::new(),
                location: optional.location.clone(),
                help: optional.help().map(Into::into),
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
    fn check_count(version: &str, expected: usize) {
        let text = format!(
            "apiVersion: admissionregistration.k8s.io/{version}\nkind: MutatingAdmissionPolicyBinding\nmetadata: {{name: b}}\n\
             spec: {{policyName: p}}\n"
        );
        let file = ManifestFile {
            path: "b.yaml".into(),
            content: text.into_bytes(),
        };
        let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
            .load_files(&[file])
            .unwrap();
        let found = crate::lint(&[&set]);
        let found = found
            .iter()
            .filter(|warning| warning.lint == OptionalVersion::META);
        assert_eq!(found.count(), expected, "{version}");
    }

    #[test]
    fn versions_that_not_all_servers_have() {
        check_count("v1alpha1", 1);
        check_count("v1beta1", 1);
        check_count("v1", 0);
    }
}
