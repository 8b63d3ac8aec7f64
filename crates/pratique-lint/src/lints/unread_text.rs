//! Text after the end of a YAML document.

use pratique_manifest::Location;

use crate::lint::Lint;
use crate::warning::Warning;

pub(crate) const LINT: Lint = Lint {
    name: "unread-text",
    summary: "Text follows the end of a document, without a separator: the server does not read it.",
};

/// Warns of text that is ignored.
pub(crate) fn check(location: &Location) -> Warning {
    warning(location, "begin another document with a line of `---`")
}

/// Warns of a second document in an AdmissionConfiguration file.
pub(crate) fn of_configuration(location: &Location) -> Warning {
    warning(
        location,
        "an AdmissionConfiguration is the only document of its file",
    )
}

fn warning(location: &Location, help: &str) -> Warning {
    Warning {
        lint: &LINT,
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
        let found = found.iter().filter(|warning| *warning.lint == LINT);
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
