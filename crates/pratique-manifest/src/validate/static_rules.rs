//! The rules of static manifests.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use pratique_exclusion::RESERVED_SUFFIX;
use pratique_gotext::strconv::quote;
use serde_json::Value as Json;

use super::problems::ProblemSubject;
use crate::help::Help;
use crate::kind::Kind;
use crate::parse::source::ObjectSource;
use crate::problem::{Failure, ObjectName, Problem, Rule};
use crate::tree::PathStep;
use pratique_gotext::suggest::{did_you_mean, nearest};

/// The first file with a name, by kind and name.
pub(crate) type FirstNames = foldhash::HashMap<(Kind, Box<str>), Arc<str>>;

/// Checks that a name has the suffix and is unique.
// Upstream: apiserver/pkg/admission/plugin/manifest/validation.go, ValidateManifestName
pub(crate) fn static_name(subject: &ProblemSubject<'_>, names: &mut FirstNames) -> Option<Failure> {
    let name = &subject.name.name;
    if name.ends_with(RESERVED_SUFFIX) {
        return repeated_name(subject, names);
    }
    let text = format!(
        "{} in file {} must have a name ending with {}",
        quote(name),
        quote(subject.file),
        quote(RESERVED_SUFFIX)
    );
    let path = ["metadata", "name"].map(|name| PathStep::Field(name.to_owned()));
    let span = subject.source.tree().nearest_span(subject.source.root(), &path);
    let mut problem = subject.problem_at(Rule::StaticSuffix, &text, &path);
    let full = format!("{name}{RESERVED_SUFFIX}");
    let help = Help::new(format!("name it {}", quote(&full)));
    problem.help = Some(help.replacing(subject.source.document(), span, &full));
    Some(problem.into())
}

/// Checks that a name is unique.
fn repeated_name(subject: &ProblemSubject<'_>, names: &mut FirstNames) -> Option<Failure> {
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
            Some(problem.into())
        }
    }
}

/// Checks an object for fields that only objects of the API may have. The server stops at the first error.
pub(crate) fn static_rules(subject: &ProblemSubject<'_>, value: &Json) -> Vec<Failure> {
    match subject.name.kind {
        kind if kind.is_policy() => policy_rule(subject, value).into_iter().collect(),
        kind if kind.is_binding() => binding_rules(subject, value),
        _ => webhook_rule(subject, value).into_iter().collect(),
    }
}

// Upstream: apiserver/pkg/admission/plugin/policy/manifest/loader/loader.go, validatePolicyManifestConstraints
fn policy_rule(subject: &ProblemSubject<'_>, value: &Json) -> Option<Failure> {
    non_null(value, "/spec/paramKind")?;
    let ObjectName { kind, name } = subject.name;
    let text = format!(
        "{kind} {}: spec.paramKind is not supported for static manifests",
        quote(name)
    );
    let problem = subject.problem(Rule::StaticUnsupported, &text, &["spec", "paramKind"]);
    Some(problem.into())
}

// Upstream: apiserver/pkg/admission/plugin/policy/manifest/loader/loader.go, validateBindingConstraints
fn binding_rules(subject: &ProblemSubject<'_>, value: &Json) -> Vec<Failure> {
    let name = quote(&subject.name.name);
    // Validation reports a missing policy name.
    let policy = non_null(value, "/spec/policyName").and_then(Json::as_str);
    let policy = policy.filter(|policy| !policy.is_empty() && !policy.ends_with(RESERVED_SUFFIX));
    let suffix = policy.map(|policy| {
        let text = format!(
            "binding {name}: spec.policyName {} must end with {}",
            quote(policy),
            quote(RESERVED_SUFFIX)
        );
        let mut problem = subject.problem(Rule::StaticSuffix, &text, &["spec", "policyName"]);
        let full = quote(&format!("{policy}{RESERVED_SUFFIX}"));
        let help = format!("static manifests bind static policies: the policy has to be named {full}, too");
        problem.help = Some(help.into());
        Failure::from(problem)
    });
    let params = non_null(value, "/spec/paramRef").map(|_| {
        let text = format!("binding {name}: spec.paramRef is not supported for static manifests");
        let problem = subject.problem(Rule::StaticUnsupported, &text, &["spec", "paramRef"]);
        Failure::from(problem)
    });
    suffix.into_iter().chain(params).collect()
}

/// Checks that no webhook refers to a service: the server names the first that does.
// Upstream: apiserver/pkg/admission/plugin/webhook/manifest/loader/loader.go, ValidateWebhookClientConfig
fn webhook_rule(subject: &ProblemSubject<'_>, value: &Json) -> Option<Failure> {
    let hooks = non_null(value, "/webhooks").and_then(Json::as_array)?;
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
        let field = |name: &str| PathStep::Field(name.to_owned());
        let path = [
            field("webhooks"),
            PathStep::Index(index),
            field("clientConfig"),
            field("service"),
        ];
        subject.problem_at(Rule::StaticUnsupported, &text, &path)
    });
    let problems: Vec<Problem> = problems.collect();
    let text = problems.first()?.message.clone();
    Some(Failure { text, problems })
}

/// The value at a place, unless it is null.
fn non_null<'v>(value: &'v Json, pointer: &str) -> Option<&'v Json> {
    value.pointer(pointer).filter(|value| !value.is_null())
}

/// The failure of a binding whose policy does not exist.
// Upstream: apiserver/pkg/admission/plugin/policy/manifest/loader/loader.go, validateBindingReferences
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
        PathStep::Field("spec".to_owned()),
        PathStep::Field("policyName".to_owned()),
    ];
    let mut problem = Problem::new(Rule::MissingPolicy, text).at(source.locate(&path));
    problem.field = Some("spec.policyName".to_owned());
    let (help, meant) = policy_help(policy, policies);
    let span = source.tree().nearest_span(source.root(), &path);
    problem.help = Some(match meant {
        Some(meant) => Help::new(help).replacing(source.document(), span, &meant),
        None => Help::new(help),
    });
    problem.object = Some(ObjectName {
        kind,
        name: name.to_owned(),
    });
    problem.into()
}

/// Help for a policy that does not exist, by the names of those that do, and the one that was probably meant.
fn policy_help<'p>(policy: &str, policies: impl Iterator<Item = &'p str>) -> (String, Option<String>) {
    let short = |name: &'p str| name.strip_suffix(RESERVED_SUFFIX).unwrap_or(name);
    let mut names: Vec<&str> = policies.map(short).collect();
    names.sort_unstable();
    names.dedup();
    let meant = nearest(
        policy.strip_suffix(RESERVED_SUFFIX).unwrap_or(policy),
        names.iter().copied(),
    );
    let meant = meant.map(|meant| format!("{meant}{RESERVED_SUFFIX}"));
    let text = match (&meant, names.as_slice()) {
        (Some(meant), _) => did_you_mean(meant),
        (None, []) => {
            "there is no policy of that kind here: a static binding needs its policy beside it".to_owned()
        }
        (None, names) if names.len() <= FEW => {
            let names: Vec<String> = names
                .iter()
                .map(|name| format!("{name}{RESERVED_SUFFIX}"))
                .collect();
            format!("policies here: {}", names.join(", "))
        }
        (None, names) => format!("none of the {} policies here has a name like it", names.len()),
    };
    (text, meant)
}

/// How many names are listed at most.
const FEW: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies() {
        let check = |policy: &str, policies: &[&str], expected: &str| {
            assert_eq!(policy_help(policy, policies.iter().copied()).0, expected);
        };
        let policies = ["replicas.static.k8s.io", "images.static.k8s.io"];
        check(
            "replica.static.k8s.io",
            &policies,
            "did you mean \"replicas.static.k8s.io\"?",
        );
        check(
            "other.static.k8s.io",
            &policies,
            "policies here: images.static.k8s.io, replicas.static.k8s.io",
        );
        check(
            "other.static.k8s.io",
            &[],
            "there is no policy of that kind here: a static binding needs its policy beside it",
        );
    }
}
