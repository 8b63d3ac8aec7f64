//! The catalogue of rules and warnings, with links to the documentation.

use pratique_manifest::Rule;

/// The URL of the documentation.
const DOCUMENTATION: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs");

/// The name of webhooks that do not respond where they are asked to.
pub(crate) const UNANSWERED_WEBHOOK: &str = "unanswered-webhook";

/// A rule or a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescribedRule {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) is_error: bool,
}

/// All rules and warnings: rules of loading first.
pub(crate) fn list_rules() -> Vec<DescribedRule> {
    let rules = Rule::ALL.iter().map(|rule| DescribedRule {
        name: rule.name(),
        summary: summary(*rule),
        is_error: true,
    });
    let lints = pratique_lint::list_lints().map(|lint| DescribedRule {
        name: lint.name,
        summary: lint.summary,
        is_error: false,
    });
    let webhook = DescribedRule {
        name: UNANSWERED_WEBHOOK,
        summary: "A webhook does not respond to --connect.",
        is_error: true,
    };
    rules.chain([webhook]).chain(lints).collect()
}

/// The URL of a rule's or warning's documentation.
pub(crate) fn url(name: &str) -> String {
    let page = match pratique_lint::find_lint(name) {
        Some(_) => "warnings.md",
        None => "problems.md",
    };
    format!("{DOCUMENTATION}/{page}#{name}")
}

fn summary(rule: Rule) -> &'static str {
    match rule {
        Rule::Unreadable => "The directory, or a file in it, cannot be read.",
        Rule::DocumentSeparator => "A file does not split into documents.",
        Rule::Syntax => "A document is no YAML, or no JSON.",
        Rule::MissingKind => "A document has no kind, or no apiVersion.",
        Rule::UnsupportedKind => "A document's kind is not known, or not one that the plugin takes.",
        Rule::WrongType => "A value has a type that its field does not take.",
        Rule::UnknownField => "A field does not exist.",
        Rule::DuplicateField => "A key is given twice.",
        Rule::DroppedField => "A server drops a field of an object without a word.",
        Rule::InvalidField => "A field breaks a rule of the API's validation.",
        Rule::InvalidExpression => {
            "A CEL expression does not compile, or yields what its field does not take."
        }
        Rule::StaticSuffix => "The name of a static manifest does not end with .static.k8s.io.",
        Rule::DuplicateName => "Two manifests have the same name.",
        Rule::StaticUnsupported => "A static manifest uses what only objects of the API may use.",
        Rule::MissingPolicy => "A binding refers to a policy that is not among the manifests.",
        Rule::Configuration => "The AdmissionConfiguration names something that cannot be used.",
        _ => "Another rule is broken.",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn everything_is_described() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let page = |name: &str| fs::read_to_string(docs.join(name)).unwrap();
        let (problems, warnings) = (page("problems.md"), page("warnings.md"));
        for described in list_rules() {
            let page = if described.is_error { &problems } else { &warnings };
            let heading = format!("\n## {}\n", described.name);
            assert!(page.contains(&heading), "{} is not described", described.name);
            assert!(
                described.summary.ends_with('.') && described.summary != summary_of_none(),
                "{}",
                described.name
            );
        }
        let headings = |page: &str| page.lines().filter(|line| line.starts_with("## ")).count();
        assert_eq!(headings(&problems) + headings(&warnings), list_rules().len());
    }

    fn summary_of_none() -> &'static str {
        "Another rule is broken."
    }
}
