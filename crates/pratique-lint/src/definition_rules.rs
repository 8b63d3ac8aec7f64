//! What `swallowed-text` and `unguarded-field` find in the rules of definitions.

use std::collections::BTreeMap;

use pratique_cel::Environment;
use pratique_manifest::{LITERAL_BLOCK, SwallowedText};
use pratique_types::Operation;

use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, listed};
use crate::subject::{DefinitionRule, DefinitionView, RuleFailure};
use crate::warning::WarningExample;

/// Lines that a comment swallows.
pub(crate) fn report_swallowed_text(
    definition: &DefinitionView<'_>,
    meta: &'static LintMeta,
    report: &mut LintReport,
) {
    let source = definition.source;
    for rule in &definition.rules {
        let swallowed = SwallowedText::find_all(source, &rule.path);
        let unfolded = SwallowedText::unfold(&rule.text, &swallowed);
        let Some(first) = swallowed.first() else { continue };
        if Environment::standard().parse(&unfolded).is_err() {
            continue;
        }
        let line = |offset| source.locate_in(&rule.path, offset).start.line;
        let message = format!(
            "the comment of line {} goes on to the end of the rule, whose lines YAML joins: what stands on line {} is never \
             evaluated",
            line(first.comment.start),
            line(first.lost.start)
        );
        let finding = LintFinding::new(meta, message).help(LITERAL_BLOCK);
        report.add_to_definition(source, &rule.path, Some(first.lost.clone()), finding);
    }
}

/// Rules that fail for objects without a field.
pub(crate) fn report_unguarded_fields(
    definition: &DefinitionView<'_>,
    meta: &'static LintMeta,
    report: &mut LintReport,
) {
    for rule in &definition.rules {
        let mut by_key: BTreeMap<&str, Vec<&RuleFailure>> = BTreeMap::new();
        for failure in definition
            .failures()
            .iter()
            .filter(|failure| is_of(failure, rule))
        {
            by_key.entry(&failure.key).or_default().push(failure);
        }
        for failures in by_key.values() {
            report_failures(definition, rule, failures, meta, report);
        }
    }
}

/// Whether a failure is one of a rule, or of another with the same text in the same version.
fn is_of(failure: &RuleFailure, rule: &DefinitionRule) -> bool {
    failure.kind.version == rule.version && failure.rule.split_whitespace().eq(rule.text.split_whitespace())
}

/// Reports failures of a rule with the same missing key.
fn report_failures(
    definition: &DefinitionView<'_>,
    rule: &DefinitionRule,
    failures: &[&RuleFailure],
    meta: &'static LintMeta,
    report: &mut LintReport,
) {
    if let Some(first) = failures.first() {
        let mut fields: Vec<&str> = failures.iter().map(|failure| failure.without.as_str()).collect();
        fields.dedup();
        let message = format!(
            "{}: the rule fails for an object without {} with \"no such key: {}\", and the object is refused",
            first.kind,
            listed(&fields),
            first.key
        );
        let help = format!(
            "test it first, as in !has(self.{key}) || …, or read it as self.?{key}.orValue(…)",
            key = first.key
        );
        let example = WarningExample {
            kind: first.kind.clone(),
            operation: Operation::Create,
            object: first.object.clone(),
            difference: None,
            cost: None,
        };
        let finding = LintFinding::new(meta, message).help(help).example(example);
        report.add_to_definition(definition.source, &rule.path, None, finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::{DefinitionSet, LintOptions, find_lint, lint_definitions};
    use pratique_manifest::{ManifestFile, read_documents};

    fn definition(rules: &str) -> String {
        format!(
            "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties: {{size: {{type: integer}}, most: {{type: integer}}, least: {{type: integer, default: 0}}, last: {{type: integer}}}}
            x-kubernetes-validations:
{rules}"
        )
    }

    /// The lint, the line and the message of each warning about a definition with rules.
    #[track_caller]
    fn check(rules: &str, expected: &[(&str, &str)]) {
        check_definition(definition(rules), &LintOptions::default(), expected);
    }

    #[track_caller]
    fn check_definition(definition: String, options: &LintOptions, expected: &[(&str, &str)]) {
        let file = ManifestFile {
            path: "crd.yaml".to_owned(),
            content: definition.into_bytes(),
        };
        let documents = read_documents(&file).unwrap();
        let sources = documents.iter().map(|document| document.source.clone());
        let warnings = lint_definitions(
            &DefinitionSet::new(pratique_schema::Release::latest(), sources.collect()),
            options,
        );
        let fits = |(warning, (name, part)): (&crate::Warning, &(&str, &str))| {
            warning.lint.name == *name && warning.message.contains(part)
        };
        let all = warnings.len() == expected.len() && warnings.iter().zip(expected).all(fits);
        assert!(all, "expected {expected:#?}\nfound {warnings:#?}");
    }

    #[test]
    fn rules_that_read_what_may_be_absent() {
        check(
            "            - rule: self.size <= self.most\n",
            &[(
                "unguarded-field",
                "for an object without spec.most with \"no such key: most\"",
            )],
        );
    }

    #[test]
    fn rules_that_read_several_fields() {
        check(
            "            - rule: self.most <= self.last\n",
            &[
                (
                    "unguarded-field",
                    "for an object without spec.last with \"no such key: last\"",
                ),
                (
                    "unguarded-field",
                    "for an object without spec.most with \"no such key: most\"",
                ),
            ],
        );
    }

    #[test]
    fn rules_of_several_versions() {
        let first = definition("            - rule: self.size <= self.most\n");
        let (_, version) = first.split_once("  versions:\n").unwrap();
        let second = version
            .replace("name: v1", "name: v2")
            .replace("storage: true", "storage: false")
            .replace("most: {type: integer}", "most: {type: integer, default: 9}");
        check_definition(
            format!("{first}{second}"),
            &LintOptions::default(),
            &[(
                "unguarded-field",
                "/v1, Kind=Widget: the rule fails for an object without spec.most",
            )],
        );
    }

    #[test]
    fn lints_that_are_left_out() {
        let definition = definition("            - rule: self.size <= self.most\n");
        let options = LintOptions::default().without(find_lint("unguarded-field").unwrap());
        check_definition(definition, &options, &[]);
    }

    #[test]
    fn rules_that_test() {
        check(
            "            - rule: '!has(self.most) || self.size <= self.most'\n            - rule: self.size >= self.least\n",
            &[],
        );
        // The first rule refuses the object with a message of its own.
        check(
            "            - {rule: has(self.most), message: most is needed}\n            - rule: self.size <= self.most\n",
            &[],
        );
    }

    #[test]
    fn comments_that_swallow() {
        check(
            "            - rule: >-\n                self.size > 0 // all have it\n                && self.size < 9\n",
            &[("swallowed-text", "never evaluated")],
        );
        check(
            "            - rule: |-\n                self.size > 0 // all have it\n                && self.size < 9\n",
            &[],
        );
    }
}
