//! The faults that the rules of static manifests find, in the server's words and each with its place.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use pratique_gotext::strconv::quote;
use serde_json::Value as Json;

use crate::help;
use crate::kind::Kind;
use crate::problem::{Failure, ObjectName, Problem, Rule};
use crate::set::ObjectSource;
use crate::tree::Step;
use crate::validate::FieldError;

/// The reserved suffix of static manifests' names.
pub(crate) const SUFFIX: &str = ".static.k8s.io";

/// The file that first had a name, by kind and name.
pub(crate) type Names = HashMap<(Kind, Box<str>), Arc<str>>;

/// The object that something is wrong with.
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a ObjectName,
    pub(crate) source: &'a ObjectSource,
    pub(crate) file: &'a Arc<str>,
}

/// The problems of a field's error: one, or one for each fault of an expression.
pub(crate) fn field(subject: &Subject<'_>, error: FieldError) -> Vec<Problem> {
    let source = subject.source;
    let field = crate::validate::path_text(&error.path);
    let problem = |message: &str, location| {
        let mut problem = Problem::new(error.rule, message)
            .at(location)
            .with_field(field.clone());
        problem.object = Some(subject.name.clone());
        problem
    };
    // What the server makes of the rest of the text follows from the tag.
    let tag = help::tag_instead(source, &error.path);
    if error.issues.is_empty() || tag.is_some() {
        let mut whole = problem(&error.text, source.locate(&error.path));
        whole.help = error.help.or_else(|| help::for_null(source, &error.path));
        if let Some(span) = tag {
            whole.location = Some(source.document().location(span));
            whole.help = Some(help::TAG.to_owned());
        }
        return vec![whole];
    }
    let first = error
        .issues
        .first()
        .map(|issue| format!("{field}: {}", issue.message));
    // The first carries the server's text for the expression as a whole.
    let messages =
        std::iter::once(&error.text).chain(error.issues.iter().skip(1).map(|issue| &issue.message));
    let problems = messages.zip(&error.issues).map(|(message, issue)| {
        let range = issue.offset..issue.offset + issue.length;
        let mut problem = problem(message, source.locate_range(&error.path, range));
        problem.help.clone_from(&issue.help);
        problem
    });
    let mut problems: Vec<Problem> = problems.collect();
    if let Some(problem) = problems.first_mut() {
        problem.summary = first;
    }
    problems
}

/// A name without the suffix, or one that another object has.
pub(crate) fn static_name(subject: &Subject<'_>, names: &mut Names) -> Option<Failure> {
    let name = &subject.name.name;
    if name.ends_with(SUFFIX) {
        return repeated_name(subject, names);
    }
    let text = format!(
        "{} in file {} must have a name ending with {}",
        quote(name),
        quote(subject.file),
        quote(SUFFIX)
    );
    let mut problem = subject.problem(Rule::StaticSuffix, &text, &["metadata", "name"]);
    problem.help = Some(format!("name it {}", quote(&format!("{name}{SUFFIX}"))));
    Some(Failure::single(text, problem))
}

/// A name that another object of the kind has.
pub(crate) fn repeated_name(subject: &Subject<'_>, names: &mut Names) -> Option<Failure> {
    let ObjectName { kind, name } = subject.name;
    match names.entry((*kind, name.as_str().into())) {
        Entry::Vacant(entry) => {
            entry.insert(Arc::clone(subject.file));
            None
        }
        Entry::Occupied(first) => {
            let text = format!(
                "duplicate name {} found in file {} (previously seen in {})",
                quote(name),
                quote(subject.file),
                quote(first.get())
            );
            let problem = subject.problem(Rule::DuplicateName, &text, &["metadata", "name"]);
            Some(Failure::single(text, problem))
        }
    }
}

/// Everything that only objects of the API may have. The server stops at the first.
pub(crate) fn static_rules(subject: &Subject<'_>, value: &Json) -> Vec<Failure> {
    match subject.name.kind {
        Kind::ValidatingAdmissionPolicy | Kind::MutatingAdmissionPolicy => {
            policy_rule(subject, value).into_iter().collect()
        }
        Kind::ValidatingAdmissionPolicyBinding | Kind::MutatingAdmissionPolicyBinding => {
            binding_rules(subject, value)
        }
        Kind::ValidatingWebhookConfiguration | Kind::MutatingWebhookConfiguration => {
            webhook_rule(subject, value).into_iter().collect()
        }
    }
}

fn policy_rule(subject: &Subject<'_>, value: &Json) -> Option<Failure> {
    given(value, "/spec/paramKind")?;
    let ObjectName { kind, name } = subject.name;
    let text = format!(
        "{kind} {}: spec.paramKind is not supported for static manifests",
        quote(name)
    );
    let problem = subject.problem(Rule::StaticUnsupported, &text, &["spec", "paramKind"]);
    Some(Failure::single(text, problem))
}

fn binding_rules(subject: &Subject<'_>, value: &Json) -> Vec<Failure> {
    let name = quote(&subject.name.name);
    // Without a policy validation has said so.
    let policy = given(value, "/spec/policyName").and_then(Json::as_str);
    let policy = policy.filter(|policy| !policy.is_empty() && !policy.ends_with(SUFFIX));
    let suffix = policy.map(|policy| {
        let text = format!(
            "binding {name}: spec.policyName {} must end with {}",
            quote(policy),
            quote(SUFFIX)
        );
        let mut problem = subject.problem(Rule::StaticSuffix, &text, &["spec", "policyName"]);
        let full = quote(&format!("{policy}{SUFFIX}"));
        problem.help = Some(format!(
            "static manifests bind static policies: the policy has to be named {full}, too"
        ));
        Failure::single(text, problem)
    });
    let params = given(value, "/spec/paramRef").map(|_| {
        let text = format!("binding {name}: spec.paramRef is not supported for static manifests");
        let problem = subject.problem(Rule::StaticUnsupported, &text, &["spec", "paramRef"]);
        Failure::single(text, problem)
    });
    suffix.into_iter().chain(params).collect()
}

/// The webhooks of a configuration that are behind services: the server names the first.
fn webhook_rule(subject: &Subject<'_>, value: &Json) -> Option<Failure> {
    let hooks = given(value, "/webhooks").and_then(Json::as_array)?;
    let behind_services = hooks
        .iter()
        .enumerate()
        .filter(|(_, hook)| hook.pointer("/clientConfig/service").is_some());
    let problems = behind_services.map(|(index, hook)| {
        let hook = quote(hook.get("name").and_then(Json::as_str).unwrap_or_default());
        let text = format!(
            "webhook {hook} in {} (file {}): clientConfig.service is not supported for static manifests; use clientConfig.url instead",
            quote(&subject.name.name),
            quote(subject.file)
        );
        let field = |name: &str| Step::Field(name.to_owned());
        let path = [
            field("webhooks"),
            Step::Index(index),
            field("clientConfig"),
            field("service"),
        ];
        subject.problem_at(Rule::StaticUnsupported, &text, &path)
    });
    let problems: Vec<Problem> = problems.collect();
    let text = problems.first()?.message.clone();
    Some(Failure { text, problems })
}

/// What a value has at a place, unless it is null.
fn given<'v>(value: &'v Json, pointer: &str) -> Option<&'v Json> {
    value.pointer(pointer).filter(|value| !value.is_null())
}

impl Subject<'_> {
    fn problem(&self, rule: Rule, text: &str, fields: &[&str]) -> Problem {
        let path: Vec<Step> = fields
            .iter()
            .map(|name| Step::Field((*name).to_owned()))
            .collect();
        self.problem_at(rule, text, &path)
    }

    fn problem_at(&self, rule: Rule, text: &str, path: &[Step]) -> Problem {
        let field = crate::validate::path_text(path);
        let mut problem = Problem::new(rule, text)
            .at(self.source.locate(path))
            .with_field(field);
        problem.object = Some(self.name.clone());
        problem
    }
}

/// A binding of a policy that is not there.
pub(crate) fn missing_policy<'p>(
    (kind, name): (Kind, &str),
    policy: &str,
    policies: impl Iterator<Item = &'p str>,
    source: &ObjectSource,
) -> Failure {
    let text = format!(
        "binding {} references policy {} which does not exist in the manifest directory",
        quote(name),
        quote(policy)
    );
    let path = [
        Step::Field("spec".to_owned()),
        Step::Field("policyName".to_owned()),
    ];
    let mut problem = Problem::new(Rule::MissingPolicy, text.clone()).at(source.locate(&path));
    problem.field = Some("spec.policyName".to_owned());
    problem.help = Some(help::for_policy(policy, policies));
    problem.object = Some(ObjectName {
        kind,
        name: name.to_owned(),
    });
    Failure::single(text, problem)
}
