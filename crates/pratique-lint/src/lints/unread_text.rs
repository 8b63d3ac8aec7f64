//! Text after the end of a YAML document.
//!
//! # What
//!
//! Text follows the end of a YAML document without a line of `---`: after `...`, or after the brackets of a document
//! such as `{kind: …}`. Of an AdmissionConfiguration the server reads only the first document.
//!
//! # Why
//!
//! The server reads one document between two separators and ignores the rest silently, so that a policy there is not
//! enforced.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: first}
//! spec: {policyName: first, validationActions: [Deny]}
//! ...
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: second}
//! spec: {policyName: second, validationActions: [Deny]}
//! ```
//!
//! Begin another document with `---`.

use pratique_manifest::Location;

use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::LintReport;
use crate::warning::Warning;

/// The lint `unread-text`.
pub(crate) struct UnreadText;

impl Lint for UnreadText {
    const META: &'static LintMeta = &LintMeta {
        name: "unread-text",
        summary: "Text follows the end of a document, without a separator: the server does not read it.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        for location in context.manifest_sets().iter().flat_map(|set| &set.unread) {
            report.push(warning(location, "begin another document with a line of `---`"));
        }
        if let LintSubject::ConfigurationRest(location) = context.subject {
            let help = "an AdmissionConfiguration is the only document of its file";
            report.push(warning(location, help));
        }
    }
}

fn warning(location: &Location, help: &str) -> Warning {
    Warning {
        lint: UnreadText::META,
        message: "the document ends before this, which is not read".to_owned(),
        object: None,
        field: String::new(),
        location: location.clone(),
        help: Some(help.into()),
        example: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::load;

    const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: 'true'}]
";

    #[track_caller]
    fn check_lines(text: &str, expected: &[u32]) {
        let found = crate::lint(&[&load(text)]);
        let found = found.iter().filter(|warning| warning.lint == UnreadText::META);
        let lines: Vec<u32> = found.map(|warning| warning.location.start.line).collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn what_follows_the_end() {
        let other = POLICY.replace("p.static", "q.static");
        check_lines(&format!("{POLICY}...\n{other}"), &[9]);
        check_lines(&format!("{POLICY}...\n# no more\n"), &[]);
        check_lines(&format!("{POLICY}---\n{other}"), &[]);
    }
}
