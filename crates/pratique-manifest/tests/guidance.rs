//! Every error text of a load has help, or there is a reason why it has none.
//!
//! A row is a manifest with one error. A text without help says itself what to write, or is about something that no manifest can
//! mend. The counts are part of the test: a text that is added belongs into the table.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails may stop"
)]

use std::collections::BTreeSet;

use pratique_manifest::{LoadOptions, Loader, ManifestFile, ManifestPlugin, Rule};

/// Why a text has no help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It has help.
    Helped,
    /// The text says what to write: what is supported, a bound, a pattern with an example.
    SaysItself,
    /// The text names both places, and either may be the mistake.
    NamesBoth,
}

use Reason::{Helped, NamesBoth, SaysItself};

const RULES: &str = "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}";

/// A policy with these fields.
fn policy(fields: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: p.static.k8s.io}}\nspec:\n  \
         {RULES}\n  {fields}\n"
    )
}

fn expression(text: &str) -> String {
    policy(&format!("validations:\n  - expression: |-\n      {text}"))
}

fn binding(spec: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {{name: b.static.k8s.io}}\nspec: \
         {spec}\n"
    )
}

#[track_caller]
fn problems(plugin: Option<ManifestPlugin>, manifest: &str) -> Vec<(Rule, String, bool)> {
    let file = ManifestFile {
        path: "a.yaml".to_owned(),
        content: manifest.as_bytes().to_vec(),
    };
    let options = LoadOptions::checked();
    let loader = match plugin {
        Some(plugin) => Loader::for_plugin(plugin, &options),
        None => Loader::for_api(&options),
    };
    let Err(errors) = loader.load_files(&[file]) else {
        panic!("it loads: {manifest}");
    };
    let problems = errors.problems();
    problems
        .map(|problem| (problem.rule, problem.message.clone(), problem.help.is_some()))
        .collect()
}

/// The listed texts that have help, or a reason why they have none.
fn listed_texts(has_help: bool) -> Vec<&'static str> {
    let sign = if has_help { "+ " } else { "- " };
    let lines: Vec<&str> = include_str!("../testdata/texts.txt").lines().collect();
    let texts = lines.windows(2).filter(|pair| pair[1].starts_with(sign));
    texts.map(|pair| pair[0]).collect()
}

/// Whether a text of the list is in a message.
fn is_in(text: &str, message: &str) -> bool {
    let mut rest = message;
    text.split('…').all(|part| match rest.split_once(part) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

#[test]
fn every_text_has_help_or_a_reason() {
    let validations = "validations: [{expression: 'true'}]";
    let of_static = Some(ManifestPlugin::ValidatingAdmissionPolicy);
    let rows: Vec<(Rule, Option<ManifestPlugin>, String, Reason)> = vec![
        (
            Rule::DocumentSeparator,
            None,
            "--- oops\na: b\n".into(),
            SaysItself,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: 'a'b'}]"),
            SaysItself,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations:\n  - expression: 'a' == object.a"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: {{ .Values.x }}}]"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations:\n  - expression: a: b"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: @a}]"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: \"object.a.matches('\\d')\"}]"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations:\n  - expression: |\n\t\ta"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: *a}]"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: * a}]"),
            Helped,
        ),
        (
            Rule::Syntax,
            None,
            policy("validations: [{expression: !!int a}]"),
            Helped,
        ),
        (
            Rule::MissingKind,
            of_static,
            "# nothing\n---\n# nothing\n".into(),
            Helped,
        ),
        (
            Rule::MissingKind,
            of_static,
            "kind: ValidatingAdmissionPolicy\n".into(),
            Helped,
        ),
        (
            Rule::WrongType,
            of_static,
            policy(validations).replace("kind: ", "kind: [a] # "),
            Helped,
        ),
        (
            Rule::UnsupportedKind,
            of_static,
            policy(validations).replace("k8s.io/v1", "k8s.io/v2"),
            Helped,
        ),
        (
            Rule::UnsupportedKind,
            None,
            policy(validations).replace("k8s.io/v1", "k8s.io/v1beta1"),
            Helped,
        ),
        (
            Rule::StaticSuffix,
            of_static,
            binding("{policyName: q, validationActions: [Deny]}"),
            Helped,
        ),
        (
            Rule::UnsupportedKind,
            of_static,
            policy(validations).replace("Validating", "Mutating"),
            Helped,
        ),
        (
            Rule::WrongType,
            None,
            policy("failurePolicy: [Fail]\n  validations: [{expression: 'true'}]"),
            Helped,
        ),
        (
            Rule::WrongType,
            None,
            policy("validations: [{expression: yes}]"),
            Helped,
        ),
        (
            Rule::UnknownField,
            None,
            policy("validation: [{expression: 'true'}]"),
            Helped,
        ),
        (
            Rule::DuplicateField,
            None,
            policy("failurePolicy: Fail\n  failurePolicy: Fail\n  validations: [{expression: 'true'}]"),
            Helped,
        ),
        (
            Rule::StaticSuffix,
            of_static,
            policy(validations).replace("p.static.k8s.io", "p"),
            Helped,
        ),
        (
            Rule::DuplicateName,
            of_static,
            format!("{}---\n{}", policy(validations), policy(validations)),
            NamesBoth,
        ),
        (
            Rule::StaticUnsupported,
            of_static,
            policy("paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: 'true'}]"),
            SaysItself,
        ),
        (
            Rule::MissingPolicy,
            of_static,
            binding("{policyName: q.static.k8s.io, validationActions: [Deny]}"),
            Helped,
        ),
        // Fields.
        (
            Rule::InvalidField,
            None,
            policy("failurePolicy: Fial\n  validations: [{expression: 'true'}]"),
            Helped,
        ),
        (
            Rule::InvalidField,
            None,
            policy("failurePolicy: Deny\n  validations: [{expression: 'true'}]"),
            SaysItself,
        ),
        (
            Rule::InvalidField,
            None,
            policy("validations: [{expression: 'true', reason: Unauthorized}]"),
            Helped,
        ),
        (
            Rule::InvalidField,
            None,
            policy("validations: [{expression: 'true', message: \"a\\nb\"}]"),
            SaysItself,
        ),
        (
            Rule::InvalidField,
            None,
            policy("validations: [{expression: ''}]"),
            SaysItself,
        ),
        (Rule::InvalidField, None, policy("validations: []"), SaysItself),
        (
            Rule::InvalidField,
            None,
            policy("variables: [{name: a-b, expression: '1'}]\n  validations: [{expression: 'true'}]"),
            SaysItself,
        ),
        (
            Rule::InvalidField,
            None,
            policy(
                "matchConditions: [{name: a, expression: 'true'}, {name: a, expression: 'true'}]\n  validations: [{expression: 'true'}]",
            ),
            Helped,
        ),
        (
            Rule::InvalidField,
            None,
            binding("{policyName: p, validationActions: [Deny], paramRef: {name: a}}"),
            Helped,
        ),
        (
            Rule::InvalidField,
            None,
            binding("{policyName: p, validationActions: [Deny], paramRef: {parameterNotFoundAction: Deny}}"),
            SaysItself,
        ),
        (
            Rule::InvalidField,
            None,
            binding("{policyName: p, validationActions: [Deny, Warn]}"),
            SaysItself,
        ),
        (
            Rule::InvalidField,
            None,
            binding("{policyName: p, validationActions: [Deny, Deny]}"),
            Helped,
        ),
        (Rule::InvalidField, None, binding("{policyName: p}"), Helped),
        (
            Rule::InvalidField,
            None,
            binding("{validationActions: [Deny]}"),
            Helped,
        ),
        (
            Rule::InvalidField,
            None,
            binding("{policyName: P!, validationActions: [Deny]}"),
            SaysItself,
        ),
        // Expressions: names.
        (Rule::InvalidExpression, None, expression("objekt.a == 1"), Helped),
        (Rule::InvalidExpression, None, expression("nothing == 1"), Helped),
        (
            Rule::InvalidExpression,
            None,
            expression("unknown(object)"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            expression("exists(object.a, t, t == 1)"),
            Helped,
        ),
        (Rule::InvalidExpression, None, expression("params.a == 1"), Helped),
        (
            Rule::InvalidExpression,
            None,
            expression("object.metadata.labels.a.b/c == 'a'"),
            Helped,
        ),
        // Syntax.
        (Rule::InvalidExpression, None, expression("object.a = 1"), Helped),
        (
            Rule::InvalidExpression,
            None,
            expression("object.a and true"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            expression("(object.a == 1"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            expression("object.a == 1)"),
            SaysItself,
        ),
        (Rule::InvalidExpression, None, expression("has(object)"), Helped),
        (
            Rule::InvalidExpression,
            None,
            expression("object.a.matches('(?!b)')"),
            Helped,
        ),
        // Types.
        (Rule::InvalidExpression, None, expression("object.a"), Helped),
        (
            Rule::InvalidExpression,
            None,
            expression("'a' + 1 == 'b'"),
            Helped,
        ),
        (Rule::InvalidExpression, None, expression("1 < 'a'"), Helped),
        (
            Rule::InvalidExpression,
            None,
            expression("['a', 1].size() == 2"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            expression("{'a': 1, 'b': 'c'}.size() == 2"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            expression("duration('a') == duration('1s')"),
            SaysItself,
        ),
        (Rule::InvalidExpression, None, expression("1.a == 1"), SaysItself),
        (
            Rule::InvalidExpression,
            None,
            expression("quantity(1).isInteger()"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            expression("quantity('1') < quantity('2')"),
            Helped,
        ),
        (
            Rule::InvalidExpression,
            None,
            policy(
                "variables: [{name: a, expression: '1'}]\n  validations: [{expression: variables.b == 1}]",
            ),
            Helped,
        ),
    ];
    let (mut helped, mut reasons) = (0, 0);
    let mut untried = listed_texts(true);
    let mut wrong = Vec::new();
    for (rule, plugin, manifest, reason) in &rows {
        let all = problems(*plugin, manifest);
        let Some((_, message, has_help)) = all.iter().find(|(of, ..)| of == rule) else {
            wrong.push(format!("no {rule:?} but {all:?}: {manifest}"));
            continue;
        };
        if !listed_texts(*has_help).iter().any(|text| is_in(text, message)) {
            wrong.push(format!(
                "testdata/texts.txt has no such text with help {has_help}: {message}"
            ));
        }
        if *has_help != (*reason == Helped) {
            wrong.push(format!("{reason:?}, but help is {has_help}: {message}"));
        }
        if *has_help {
            untried.retain(|text| !is_in(text, message));
        }
        helped += usize::from(*has_help);
        reasons += usize::from(!*has_help);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(untried.is_empty(), "no row shows the help of {untried:#?}");
    assert_eq!(
        (helped, reasons),
        (48, 15),
        "texts with help, and with a reason why there is none"
    );
    let covered: BTreeSet<Rule> = rows.iter().map(|(rule, ..)| *rule).collect();
    // A directory that cannot be read and a plugin that does not start are told by the system, or with the plugin's own text.
    // What a server drops of an object, its review tells.
    let of_system = [Rule::Unreadable, Rule::Configuration, Rule::DroppedField];
    let missing: Vec<&Rule> = Rule::ALL
        .iter()
        .filter(|rule| !covered.contains(rule) && !of_system.contains(rule))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
