//! Rules that name resources which their built-in groups do not have.
//!
//! # What
//!
//! A rule names a resource that its API groups do not have, though all of them are built in: `pod` for `pods`,
//! `deployments` in the core group, `pods/ephemeralcontainer`.
//!
//! # Why
//!
//! The server does not check these names, and the rule matches nothing.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: singular}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pod], operations: [CREATE]}]
//!   validations: [{expression: 'false'}]
//! ```
//!
//! Resources have plural names: `pods`.

use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_schema::Release;
use pratique_types::builtin::ServedResource;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, SuggestedChange};
use crate::subject::RuleView;

/// The lint `unknown-resource`.
pub(crate) struct UnknownResource;

impl Lint for UnknownResource {
    const META: &'static LintMeta = &LintMeta {
        name: "unknown-resource",
        summary: "A rule names a resource, or a part of one, that its built-in API groups do not have.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(group) = context.expression_group() else {
            return;
        };
        for rule in group.rules.iter().filter(|rule| rule.is_builtin_only()) {
            let served = GroupResources::new(rule);
            let groups: Vec<String> = rule.groups.iter().map(|group| format!("{group:?}")).collect();
            let groups = crate::report::listed(&groups);
            for (index, pattern) in rule.resources.iter().enumerate() {
                if let Some(unknown) = served.unknown(pattern) {
                    report.add(
                        group.origin,
                        &rule.resource_path(index),
                        unknown.finding(&groups, &served),
                    );
                }
            }
        }
    }
}

/// The resources that are served in the groups of a rule, in any version.
pub(crate) struct GroupResources {
    release: &'static Release,
    resources: Vec<&'static ServedResource>,
}

/// A resource, or a part of one, that a pattern names and that is not served.
enum UnknownName<'p> {
    Resource {
        name: &'p str,
        part: &'p str,
    },
    Part {
        name: &'p str,
        part: &'p str,
        /// The parts that are served of the resource.
        parts: Vec<&'static str>,
    },
}

impl GroupResources {
    pub(crate) fn new(rule: &RuleView<'_>) -> Self {
        let in_groups = |served: &&ServedResource| rule.groups.contains(&served.resource.group);
        GroupResources {
            release: rule.release,
            resources: rule
                .release
                .resources()
                .served()
                .iter()
                .filter(in_groups)
                .collect(),
        }
    }

    /// Whether a pattern names a resource that is not served.
    pub(crate) fn lacks(&self, pattern: &str) -> bool {
        self.unknown(pattern).is_some()
    }

    fn unknown<'p>(&self, pattern: &'p str) -> Option<UnknownName<'p>> {
        let (name, part) = pattern.split_once('/').unwrap_or((pattern, ""));
        let of_name = self.resources.iter();
        let of_name = of_name.filter(|served| name == "*" || served.resource.resource == name);
        let parts: Vec<&str> = of_name.map(|served| served.subresource.as_str()).collect();
        if parts.is_empty() {
            let is_optional = self
                .release
                .resources()
                .optional()
                .iter()
                .any(|served| served.resource.resource == name);
            return (!is_optional).then_some(UnknownName::Resource { name, part });
        }
        let is_known = part == "*" || ALPHA_PARTS.contains(&pattern) || parts.contains(&part);
        (!is_known).then_some(UnknownName::Part { name, part, parts })
    }
}

impl UnknownName<'_> {
    fn finding(&self, groups: &str, served: &GroupResources) -> LintFinding {
        let with_part = |name: &str, part: &str| match part {
            "" => name.to_owned(),
            part => format!("{name}/{part}"),
        };
        let (message, meant) = match self {
            UnknownName::Resource { name, part } => (
                format!("the API group {groups} has no resource {name:?}"),
                match meant(name, served) {
                    Some(ProbableResource::Resource(meant)) => {
                        Some((did_you_mean(meant), Some(with_part(meant, part))))
                    }
                    Some(ProbableResource::InGroup(help)) => Some((help, None)),
                    None => None,
                },
            ),
            UnknownName::Part { name, part, parts } => {
                let parts = parts.iter().copied().filter(|part| !part.is_empty());
                let meant = nearest(part, parts).map(|meant| with_part(name, meant));
                (
                    format!("the resource {name:?} has no part {part:?}"),
                    meant.map(|meant| (did_you_mean(&meant), Some(meant))),
                )
            }
        };
        let finding = LintFinding::new(UnknownResource::META, message);
        match meant {
            Some((help, Some(value))) => finding.help(help).replacement(SuggestedChange::Value(value)),
            Some((help, None)) => finding.help(help),
            None => finding,
        }
    }
}

/// Parts of resources that only some servers have.
const ALPHA_PARTS: [&str; 2] = ["pods/checkpoint", "nodes/checkpoint"];

/// What was probably meant by a resource that is not served.
enum ProbableResource<'r> {
    /// A resource of the same groups.
    Resource(&'r str),
    /// A resource of another group: where it is.
    InGroup(String),
}

/// The resource that was probably meant: of that kind or short name, in another group, or written like it.
fn meant<'r>(name: &str, known: &'r GroupResources) -> Option<ProbableResource<'r>> {
    let candidates = &known.resources;
    let lower = name.to_lowercase();
    let same = |served: &&&ServedResource| {
        served.subresource.is_empty()
            && (served.kind.kind.eq_ignore_ascii_case(&lower)
                || served.resource.resource == lower
                || served.short_names.contains(&lower))
    };
    if let Some(served) = candidates.iter().find(same) {
        return Some(ProbableResource::Resource(&served.resource.resource));
    }
    if let Some(served) = known
        .release
        .resources()
        .served()
        .iter()
        .find(|served| same(&served))
    {
        let resource = &served.resource;
        return Some(ProbableResource::InGroup(format!(
            "{:?} are in the API group {:?}",
            resource.resource, resource.group
        )));
    }
    let names = candidates.iter().map(|served| served.resource.resource.as_str());
    nearest(name, names).map(ProbableResource::Resource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{load, policy_for};

    #[track_caller]
    fn check(groups: &str, resources: &str, expected: &[(&str, &str)]) {
        let spec = "validations: [{expression: 'true'}]";
        let set = load(&policy_for(groups, "v1", resources, "CREATE", spec));
        let found = crate::lint(&[&set]);
        let matching = found
            .iter()
            .filter(|warning| warning.lint == UnknownResource::META);
        let matching: Vec<_> = matching
            .map(|warning| {
                (
                    warning.message.as_str(),
                    warning.help.as_ref().map_or("", |help| help.text.as_str()),
                )
            })
            .collect();
        assert_eq!(matching, expected);
    }

    #[test]
    fn names_that_nothing_has() {
        check(
            "''",
            "pod",
            &[(
                "the API group \"\" has no resource \"pod\"",
                "did you mean \"pods\"?",
            )],
        );
        check(
            "''",
            "Services",
            &[(
                "the API group \"\" has no resource \"Services\"",
                "did you mean \"services\"?",
            )],
        );
        check(
            "''",
            "deploy",
            &[(
                "the API group \"\" has no resource \"deploy\"",
                "\"deployments\" are in the API group \"apps\"",
            )],
        );
        check(
            "apps",
            "deploymets",
            &[(
                "the API group \"apps\" has no resource \"deploymets\"",
                "did you mean \"deployments\"?",
            )],
        );
        check(
            "''",
            "pods/ephemeralcontainer",
            &[(
                "the resource \"pods\" has no part \"ephemeralcontainer\"",
                "did you mean \"pods/ephemeralcontainers\"?",
            )],
        );
        check(
            "'', apps",
            "gadgets",
            &[("the API group \"\" and \"apps\" has no resource \"gadgets\"", "")],
        );
    }

    #[test]
    fn names_that_something_has() {
        check("'', apps", "pods, deployments, pods/status, '*/scale'", &[]);
        check("'*'", "gadgets", &[]);
        check("example.com", "gadgets", &[]);
        check("'', example.com", "gadgets", &[]);
        check("''", "'*/*'", &[]);
        check("''", "pods/*", &[]);
    }
}
