//! Policies whose result the server refuses.
//!
//! # What
//!
//! A mutation applies, and the server's validation refuses the object that it leaves: a name that is none, a mount of a volume
//! that is not there, a Pod that is updated in a field that may not change.
//!
//! # Why
//!
//! The request is denied with an error about the object, and its author does not know the field. An update of any field of an
//! existing Pod, such as a label, fails if a policy then changes what may not change.
//!
//! The warning is only given for built-in kinds and the metadata of others, and only if the object is valid without the policy, or an update may not change
//! what the policy changes. An element of a list that lacks a field may be merged into one that is there: it gives a warning
//! where no match condition and no selector picks the objects that have it. A list that the policy empties gives one where it is
//! empty in all objects.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: names}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   mutations:
//!   - patchType: ApplyConfiguration
//!     applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'user': 'a b'}}}"}
//! ```
//!
//! Write a value that the field takes, append to lists with a path that ends in `/-`, and match `CREATE` only where the field
//! may not change.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_expression::ExpressionPurpose;
use pratique_sample::ServerFinding;
use pratique_types::Operation;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::{ExpressionSite, PolicyView};

/// The lint `invalid-result`.
pub(crate) struct InvalidResult;

impl Lint for InvalidResult {
    const META: &'static LintMeta = &LintMeta {
        name: "invalid-result",
        summary: "The server's validation refuses the object that a mutating policy leaves.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        for kind in &subject.trials().kinds {
            for (finding, result) in &kind.reviewed {
                let ServerFinding::Invalid { text } = finding else {
                    continue;
                };
                let example = &result.example;
                // Values of params are generated.
                let site = policy
                    .mutation(result.mutation)
                    .filter(|site| !site.declarations.params);
                let Some(site) = site else { continue };
                let is_partial = is_partial(site, text);
                if is_partial && has_guards(policy) {
                    continue;
                }
                let (kind, operation) = (&kind.served.kind, example.operation.as_str());
                let mut message =
                    format!("{kind}: the server refuses what this policy leaves on {operation}: {text}");
                if is_partial {
                    message.push_str(", where there is no element of this name");
                }
                let help = if is_partial {
                    "set the field as well, or test that there is such an element: list.exists(x, x.name == …) ? … : …"
                } else {
                    help_for(text, example.operation)
                };
                let finding = LintFinding::new(Self::META, message)
                    .example(example.clone())
                    .help(help);
                report.add(&policy.origin, &site.path, finding);
            }
        }
    }
}

/// What names the elements of lists: without it there is nothing to merge into.
const MERGE_KEYS: [&str; 7] = [
    "name",
    "mountPath",
    "devicePath",
    "containerPort",
    "port",
    "ip",
    "topologyKey",
];

/// Whether something selects the objects of a policy besides its rules, such as those that have the element.
fn has_guards(policy: &PolicyView<'_>) -> bool {
    let has_conditions = policy
        .sites
        .iter()
        .any(|site| site.usage == ExpressionPurpose::MatchCondition);
    let selects = |selector: Option<&LabelSelector>| {
        selector.is_some_and(|selector| *selector != LabelSelector::default())
    };
    let of_bindings = policy.bindings.iter().filter_map(|binding| binding.resources);
    has_conditions
        || selects(policy.object_selector)
        || of_bindings
            .into_iter()
            .any(|of| selects(of.object_selector.as_ref()))
}

/// Whether an element lacks a field that an apply configuration may mean to merge into one that is there.
fn is_partial(site: &ExpressionSite<'_>, text: &str) -> bool {
    let field = text.split(": ").next().unwrap_or_default();
    let is_key = field
        .rsplit('.')
        .next()
        .is_some_and(|name| MERGE_KEYS.contains(&name));
    field.contains("].")
        && !is_key
        && text.contains("Required value")
        && site.usage == ExpressionPurpose::ApplyConfiguration
}

fn help_for(text: &str, operation: Operation) -> &'static str {
    if operation == Operation::Update {
        "match CREATE only, or test request.operation: on an update the field may not change"
    } else if text.contains("Not found") {
        "something else refers to what the policy replaces or removes: append to a list with a path that ends in /-, or remove what refers \
         to it as well"
    } else if text.contains("Duplicate value") {
        "test first that there is none of this name, as in !list.exists(x, x.name == …)"
    } else {
        "write a value that the field takes"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, check_whole, mutation};

    #[track_caller]
    fn check(operations: &str, kind: &str, expression: &str, expected: &[&str]) {
        let pods = mutation(kind, expression)
            .replace("apiGroups: [apps]", "apiGroups: ['']")
            .replace("deployments", "pods")
            .replace("[CREATE]", &format!("[{operations}]"));
        check_whole(InvalidResult::META, &pods, expression, expected);
    }

    #[test]
    fn what_is_refused() {
        check(
            "CREATE",
            "ApplyConfiguration",
            "Object{metadata: Object.metadata{labels: {'user': 'a b'}}}",
            &["metadata.labels: Invalid value"],
        );
        check(
            "CREATE",
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/volumes', value: [Object.spec.volumes{name: 'a'}]}]",
            &["volumeMounts[0].name: Not found"],
        );
        check(
            "CREATE",
            "JSONPatch",
            "[JSONPatch{op: 'replace', path: '/spec/containers', value: []}]",
            &["spec.containers: Required value"],
        );
        check(
            "CREATE, UPDATE",
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/terminationGracePeriodSeconds', value: 5}]",
            &["on UPDATE: spec: Forbidden: pod updates may not change fields other than"],
        );
    }

    #[test]
    fn the_mutation_that_leaves_it_is_named() {
        let labels = |name: &str, value: &str| {
            format!("Object{{metadata: Object.metadata{{labels: {{'{name}': '{value}'}}}}}}")
        };
        let added = |value: &str| {
            let expression = labels("team", value);
            format!(
                "\n  - patchType: ApplyConfiguration\n    applyConfiguration: {{expression: \"{expression}\"}}"
            )
        };
        let wrong = labels("user", "a b");
        for (before, after) in [(0, 0), (1, 0), (2, 1), (0, 2)] {
            let one = mutation("ApplyConfiguration", &wrong)
                .replace("apiGroups: [apps]", "apiGroups: ['']")
                .replace("deployments", "pods");
            let many = |count: usize| {
                (0..count)
                    .map(|index| added(&format!("t{index}")))
                    .collect::<String>()
            };
            let one = one.replace("  mutations:", &format!("  mutations:{}", many(before)));
            let manifests = one.replace("\n---", &format!("{}\n---", many(after)));
            check_whole(
                InvalidResult::META,
                &manifests,
                &wrong,
                &["metadata.labels: Invalid value"],
            );
        }
    }

    #[test]
    fn what_an_update_may_not_change() {
        let of = |group: &str, resource: &str, expression: &str, expected: &str| {
            let manifests = mutation("ApplyConfiguration", expression)
                .replace("apiGroups: [apps]", &format!("apiGroups: ['{group}']"))
                .replace("deployments", resource)
                .replace("[CREATE]", "[CREATE, UPDATE]");
            check_whole(InvalidResult::META, &manifests, expression, &[expected]);
        };
        of(
            "batch",
            "jobs",
            "Object{spec: Object.spec{completionMode: 'Indexed', completions: 7}}",
            "on UPDATE: spec.completions: Invalid value: 7: can only be modified in tandem",
        );
    }

    #[test]
    fn jobs() {
        let of = |resource: &str, expression: &str, expected: &[&str]| {
            let manifests = mutation("ApplyConfiguration", expression)
                .replace("apiGroups: [apps]", "apiGroups: [batch]")
                .replace("deployments", resource)
                .replace("[CREATE]", "[CREATE, UPDATE]");
            check_whole(InvalidResult::META, &manifests, expression, expected);
        };
        for resource in ["jobs", "cronjobs"] {
            of(
                resource,
                "Object{metadata: Object.metadata{labels: {'user': 'a b'}}}",
                &["on CREATE: metadata.labels: Invalid value"],
            );
            of(
                resource,
                "Object{metadata: Object.metadata{labels: {'user': 'a'}}}",
                &[],
            );
        }
        of("jobs", "Object{spec: Object.spec{backoffLimit: 3}}", &[]);
        of(
            "cronjobs",
            "Object{spec: Object.spec{schedule: '@never'}}",
            &["spec.schedule: Invalid value"],
        );
    }

    #[test]
    fn elements_that_are_not_there() {
        let mesh =
            "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'mesh', stdin: true}]}}";
        check(
            "CREATE",
            "ApplyConfiguration",
            mesh,
            &["image: Required value, where there is no element of this name"],
        );
        // Something selects the objects that have it.
        let selected = mutation("ApplyConfiguration", mesh)
            .replace("apiGroups: [apps]", "apiGroups: ['']")
            .replace("deployments", "pods")
            .replace(
                "matchConstraints:",
                "matchConstraints:\n    objectSelector: {matchLabels: {mesh: injected}}",
            );
        find(InvalidResult::META, &selected, &[]);
    }

    #[test]
    fn what_the_request_says() {
        check(
            "CREATE",
            "ApplyConfiguration",
            "Object{metadata: Object.metadata{namespace: 'x'}}",
            &["metadata.namespace: the namespace of the provided object does not match"],
        );
        check(
            "CREATE",
            "ApplyConfiguration",
            "Object{metadata: Object.metadata{labels: {'creator': request.userInfo.username}}}",
            &["metadata.labels: Invalid value: \"system:serviceaccount:"],
        );
        check(
            "CREATE",
            "ApplyConfiguration",
            "Object{metadata: Object.metadata{annotations: {'creator': request.userInfo.username}}}",
            &[],
        );
    }

    #[test]
    fn what_is_not() {
        for (operations, expression) in [
            (
                "CREATE",
                "Object{metadata: Object.metadata{labels: {'user': 'a-b'}}}",
            ),
            (
                "CREATE, UPDATE",
                "Object{metadata: Object.metadata{labels: {'user': 'a-b'}}}",
            ),
            (
                "CREATE",
                "Object{spec: Object.spec{terminationGracePeriodSeconds: 5}}",
            ),
            // It is there, and is merged.
            (
                "CREATE",
                "object.spec.containers.exists(c, c.name == 'mesh') ? Object{spec: Object.spec{containers: \
                 [Object.spec.containers{name: 'mesh', stdin: true}]}} : Object{}",
            ),
            (
                "CREATE",
                "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh', image: 'i'}]}}",
            ),
        ] {
            check(operations, "ApplyConfiguration", expression, &[]);
        }
        for expression in [
            "Object{spec: Object.spec{containers: object.spec.containers.filter(c, !has(c.resources.requests) || \
             !('memory' in c.resources.requests)).map(c, Object.spec.containers{name: c.name, resources: \
             Object.spec.containers.resources{requests: {'memory': '64Mi'}}})}}",
            "Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, resources: \
             Object.spec.containers.resources{limits: {'memory': '1Gi'}}})}}",
        ] {
            check("CREATE", "ApplyConfiguration", expression, &[]);
        }
        // Most objects have more replicas at most than a policy sets at least.
        let replicas = mutation("ApplyConfiguration", "Object{spec: Object.spec{minReplicas: 2}}")
            .replace("apiGroups: [apps]", "apiGroups: [autoscaling]")
            .replace("apiVersions: [v1]", "apiVersions: [v1, v2]")
            .replace("deployments", "horizontalpodautoscalers");
        find(InvalidResult::META, &replicas, &[]);
        // Other Pods keep a container.
        check(
            "CREATE",
            "JSONPatch",
            "[JSONPatch{op: 'replace', path: '/spec/containers', value: object.spec.containers.filter(c, c.name != 'sidecar')}]",
            &[],
        );
        check(
            "CREATE, UPDATE",
            "JSONPatch",
            "request.operation == 'CREATE' ? [JSONPatch{op: 'add', path: '/spec/terminationGracePeriodSeconds', value: 5}] : []",
            &[],
        );
    }
}
