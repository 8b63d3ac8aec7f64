//! Objects of the API that others of the same name replace.
//!
//! # What
//!
//! An object of the API has the kind and name of another one among the files. Static manifests with equal names are
//! refused, as by a server.
//!
//! # Why
//!
//! When both are applied, the later one replaces it, in the order in which files are read; the earlier one is not
//! evaluated.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: limit}
//! spec: {policyName: limit, validationActions: [Deny]}
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: limit}
//! spec: {policyName: other-limit, validationActions: [Deny]}
//! ```
//!
//! Remove one of them, or give it another name.

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::LintReport;
use crate::warning::Warning;

/// The lint `replaced-object`.
pub(crate) struct ReplacedObject;

impl Lint for ReplacedObject {
    const META: &'static LintMeta = &LintMeta {
        name: "replaced-object",
        summary: "An object of the API has the name of another one, which replaces it when both are applied.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        for replaced in context.manifest_sets().iter().flat_map(|set| &set.replaced) {
            let by = &replaced.by;
            report.push(Warning {
                lint: Self::META,
                message: format!(
                    "the {} {:?} at {}:{}:{} replaces it: an API server has one object of a name",
                    replaced.name.kind, replaced.name.name, by.file, by.start.line, by.start.column
                ),
                object: Some(replaced.name.clone()),
                field: String::new(),
                location: replaced.location.clone(),
                help: Some("remove one of them, or give it another name".into()),
                example: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};

    use super::*;

    #[test]
    fn the_last_object_of_a_name_counts() {
        let file = |path: &str, policy: &str| {
            ManifestFile {
            path: path.to_owned(),
            content: format!(
                "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: b}}\n\
                 spec: {{policyName: {policy}, validationActions: [Deny]}}\n"
            )
            .into_bytes(),
        }
        };
        let files = [file("a.yaml", "p"), file("b.yaml", "q"), file("c.yaml", "r")];
        let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
            .load_files(&files)
            .unwrap();
        let bound: Vec<&str> = set.bindings().map(|(_, policy)| policy).collect();
        assert_eq!(bound, ["r"]);
        let warnings = crate::lint(&[&set]);
        let warnings: Vec<String> = warnings
            .iter()
            .filter(|warning| warning.lint == ReplacedObject::META)
            .map(|warning| format!("{}: {}", warning.location.file, warning.message))
            .collect();
        let expected = |file: &str, by: &str| {
            format!(
                "{file}: the ValidatingAdmissionPolicyBinding \"b\" at {by}:1:1 replaces it: an API server has one object of a name"
            )
        };
        assert_eq!(
            warnings,
            [expected("a.yaml", "b.yaml"), expected("b.yaml", "c.yaml")]
        );
    }
}
