//! Objects of the API that others of the same name replace.

use pratique_manifest::ReplacedObject;

use crate::lint::Lint;
use crate::warning::Warning;

pub(crate) const LINT: Lint = Lint {
    name: "replaced-object",
    summary: "An object of the API has the name of another one, which replaces it when both are applied.",
};

/// Warns of an object that does not count.
pub(crate) fn check(replaced: &ReplacedObject) -> Warning {
    let by = &replaced.by;
    Warning {
        lint: &LINT,
        message: format!(
            "the {} {:?} at {}:{}:{} replaces it: an API server has one object of a name",
            replaced.name.kind, replaced.name.name, by.file, by.start.line, by.start.column
        ),
        object: Some(replaced.name.clone()),
        field: String::new(),
        location: replaced.location.clone(),
        help: Some("remove one of them, or give it another name".into()),
        example: None,
    }
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{Loader, ManifestFile, Options, UncheckedExpressions};

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
        let set = Loader::for_api(&Options::new(&UncheckedExpressions))
            .load_files(&files)
            .unwrap();
        let bound: Vec<&str> = set.bindings().map(|(_, policy)| policy).collect();
        assert_eq!(bound, ["r"]);
        let warnings = crate::lint(&[&set]);
        let warnings: Vec<String> = warnings
            .iter()
            .filter(|warning| *warning.lint == LINT)
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
