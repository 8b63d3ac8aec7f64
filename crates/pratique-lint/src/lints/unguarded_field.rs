//! Optional fields that are read without a test of their presence.
//!
//! # What
//!
//! An expression reads an optional field, and fails for objects without it with `no such key`.
//!
//! Rules of CustomResourceDefinitions (`x-kubernetes-validations`) get it as well: the objects are those of the schema.
//!
//! Of policies and match conditions the warning is only given for built-in kinds, and for those whose definition is among the
//! inputs, and only if an evaluation over an object without the field failed. So
//! `has`, `?.`, `in`, conditionals, variables, match conditions, selectors and other operands of `&&` and `||` count as
//! guards. Fields that all objects have give no warning: required fields, fields that a server sets by default
//! (`restartPolicy`, also where that depends on others: the requests of a container that has limits) or by its default
//! admission plugins (`serviceAccountName` of Pods), and fields that its validation requires (`image`). Fields that a
//! server sets in some objects only give a warning with the condition: `spec.strategy.rollingUpdate` is not defaulted
//! in a Deployment whose strategy has the type `Recreate`.
//!
//! # Why
//!
//! The request is denied, or allowed if `failurePolicy` is `Ignore`: the expression below denies every Pod without init
//! containers.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: images}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: "!object.spec.initContainers.exists(c, c.image == 'a')"}]
//! ```
//!
//! Test first, as in `!has(object.spec.initContainers) || …` or `'team' in object.metadata.labels` before
//! `object.metadata.labels['team'] == 'a'`, read it as `object.spec.?initContainers.orValue([])`, or put the test into
//! a match condition.

use std::collections::BTreeMap;

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_types::GroupVersionKind;

use super::type_check::kinds_text;
use crate::analysis::{ParsedExpressions, TextRange, chain_text, constant_key, ident_path, place_of};
use crate::definition_rules::report_unguarded_fields;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::observations::{MissingField, PolicyObservations};
use crate::report::{LintFinding, LintReport, listed};
use crate::subject::{ExpressionSite, PolicyView};

/// The lint `unguarded-field`.
pub(crate) struct UnguardedField;

impl Lint for UnguardedField {
    const META: &'static LintMeta = &LintMeta {
        name: "unguarded-field",
        summary: "An expression reads an optional field without testing whether it is there, and fails for objects without it.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(definition) = context.definition() {
            report_unguarded_fields(definition, Self::META, report);
        }
        if let Some(subject) = context.evaluated() {
            check_policy(subject, report);
        }
    }
}

/// A read that fails.
struct FailingRead {
    site: usize,
    place: TextRange,
    /// The field as written, and optional fields that are read below it.
    names: Vec<String>,
    /// The key that is missing.
    key: String,
    /// Where defaults do not fill it, if they do in other objects.
    unfilled: Option<String>,
    kinds: Vec<GroupVersionKind>,
}

fn check_policy(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    for read in join_chains(reads(subject.parsed(), subject.observations())) {
        let Some(site) = policy.sites.get(read.site) else {
            continue;
        };
        let finding = finding(policy, site, &read);
        report.add_in(&policy.origin, &site.path, read.place, finding);
    }
}

/// The reads that fail, each once in an expression: where it is first.
fn reads(parsed: &ParsedExpressions, observations: &PolicyObservations) -> Vec<FailingRead> {
    let mut by_name: BTreeMap<(usize, String), FailingRead> = BTreeMap::new();
    for kind in &observations.kinds {
        for missing in kind.missing() {
            let Some(Some(ast)) = parsed.asts.get(missing.site) else {
                continue;
            };
            let Some((place, name)) = read(ast, &missing) else {
                continue;
            };
            let read = by_name
                .entry((missing.site, name.clone()))
                .or_insert_with(|| FailingRead {
                    site: missing.site,
                    place: place.clone(),
                    names: vec![name],
                    key: missing.key,
                    unfilled: missing.unfilled.clone(),
                    kinds: Vec::new(),
                });
            if place.start < read.place.start {
                read.place = place;
            }
            if read.unfilled != missing.unfilled {
                // Only a condition that is common to all kinds and places is reported.
                read.unfilled = read.unfilled.take().and(missing.unfilled).map(|_| String::new());
            }
            if !read.kinds.contains(&kind.served.kind) {
                read.kinds.push(kind.served.kind.clone());
            }
        }
    }
    by_name.into_values().collect()
}

/// Merges the steps of one field chain: one guard covers all of them.
fn join_chains(reads: Vec<FailingRead>) -> Vec<FailingRead> {
    let mut joined: Vec<FailingRead> = Vec::new();
    for read in reads {
        let is_below = |outer: &&mut FailingRead| {
            let rest = read.names.first().zip(outer.names.first());
            let rest = rest.and_then(|(name, outer)| name.strip_prefix(outer.as_str()));
            outer.site == read.site
                && outer.kinds == read.kinds
                && rest.is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        match joined.iter_mut().find(is_below) {
            Some(outer) => outer.names.extend(read.names),
            None => joined.push(read),
        }
    }
    joined
}

/// Where a missing key is read, and how the read is written; `None` if it is read from no part of an object.
fn read(ast: &Ast, missing: &MissingField) -> Option<(TextRange, String)> {
    let mut pending = vec![missing.node];
    while let Some(node) = pending.pop() {
        match ast.expr(node) {
            // The evaluator reports a branch through the conditional.
            Expr::Call { function, args, .. } if &**function == "_?_:_" => {
                pending.extend(args.iter().skip(1).rev());
            }
            Expr::Call {
                target: Some(target), ..
            } => pending.push(*target),
            _ => {
                if let Some(place) = read_in_chain(ast, node, &missing.key) {
                    return Some(place);
                }
            }
        }
    }
    None
}

/// The same within one chain of fields.
fn read_in_chain(ast: &Ast, outermost: ExprId, missing: &str) -> Option<(TextRange, String)> {
    let mut at = outermost;
    let mut read_node = None;
    loop {
        let (operand, reads) = match ast.expr(at) {
            Expr::Select { operand, field, .. } => (*operand, **field == *missing),
            Expr::Call {
                function,
                target: None,
                args,
            } if &**function == "_[_]" => {
                let (operand, key) = (*args.first()?, *args.get(1)?);
                let reads = match constant_key(ast, key) {
                    Some(key) => key == missing,
                    // A key that is computed may be any.
                    None => at == outermost && is_of_object(ast, operand),
                };
                (operand, reads)
            }
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_?._" | "_[?_]") => (*args.first()?, false),
            _ => break,
        };
        if reads {
            read_node = Some((at, operand));
        }
        at = operand;
    }
    let (node, operand) = read_node?;
    if !is_read_of_data(ast, operand) {
        return None;
    }
    let place = place_of(ast, node);
    let holder = chain_text(ast, operand)?;
    let is_field = matches!(ast.expr(node), Expr::Select { .. });
    let name = if is_field {
        format!("{holder}.{missing}")
    } else {
        format!("{holder}['{missing}']")
    };
    let written = if is_field { &name } else { &holder };
    let rest = ast.source.as_str().get(place.start..)?;
    let place = if rest.starts_with(written.as_str()) {
        place.start..place.start + written.len()
    } else {
        place
    };
    Some((place, name))
}

/// Whether a node is a value of the request's objects, or made of such.
fn is_read_of_data(ast: &Ast, operand: ExprId) -> bool {
    let Some((_, root)) = ident_path(ast, operand) else {
        return false;
    };
    !matches!(root, "request" | "namespaceObject" | "params" | "authorizer")
}

fn is_of_object(ast: &Ast, operand: ExprId) -> bool {
    ident_path(ast, operand).is_some_and(|(_, root)| matches!(root, "object" | "oldObject"))
}

fn finding(policy: &PolicyView<'_>, site: &ExpressionSite<'_>, read: &FailingRead) -> LintFinding {
    let outcome = policy.outcome_of_errors(site.usage);
    let (kinds, names, key) = (kinds_text(&read.kinds), listed(&read.names), &read.key);
    let unfilled = match read.unfilled.as_deref() {
        None => String::new(),
        Some("") => format!(", as {key} is defaulted in some objects only"),
        Some(condition) => format!(", as {key} is not defaulted where {condition}"),
    };
    let message =
        format!("{kinds}: {names} may be left out{unfilled}: then \"no such key: {key}\", and {outcome}");
    let name = read.names.first().map_or("", String::as_str);
    // Fields of an optional value are optional as well.
    let rest = read
        .names
        .iter()
        .filter_map(|text| text.strip_prefix(name))
        .max_by_key(|rest| rest.len());
    let rest = rest.unwrap_or_default();
    if let Some(whole) = dotted_key(site.text, read) {
        let help = format!("a key with dots is written ['{whole}'], after a test: '{whole}' in …");
        return LintFinding::new(UnguardedField::META, message).help(help);
    }
    let text_before = site.text.get(..read.place.start).unwrap_or_default();
    let help = match name.rsplit_once('.') {
        Some((holder, field)) if field == key && text_before.trim_end().ends_with(" in") => {
            format!("read it as an optional value: … in {holder}.?{field}.orValue({{}})")
        }
        Some((holder, field)) if field == key => {
            format!("test it first, as in !has({name}) || …, or read {holder}.?{field}{rest}.orValue(…)")
        }
        _ => format!("test it first, as in '{key}' in …, or read it with [?'{key}']{rest}.orValue(…)"),
    };
    LintFinding::new(UnguardedField::META, message).help(help)
}

/// The key of a label or an annotation with dots, where it is written as a chain of fields.
fn dotted_key(text: &str, read: &FailingRead) -> Option<String> {
    let written = text.get(read.place.start..)?;
    read.names.iter().find_map(|name| {
        let (holder, first) = name.rsplit_once('.')?;
        let is_map = holder.ends_with(".labels") || holder.ends_with(".annotations");
        let rest = written
            .strip_prefix(name.as_str())?
            .strip_prefix('.')
            .filter(|_| is_map)?;
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
        let (rest, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        (!after.starts_with('(')).then(|| format!("{first}.{rest}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, mutation, policy, policy_for, webhook};

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        find(UnguardedField::META, &policy("CREATE, UPDATE", &spec), expected);
    }

    #[test]
    fn optional_fields() {
        check(
            "!object.spec.initContainers.exists(c, c.image == 'a')",
            &[(
                "object.spec.initContainers",
                "/v1, Kind=Pod: object.spec.initContainers may be left out: then \"no such key: initContainers\", and \
                 the request is denied",
            )],
        );
        check(
            "object.spec.containers.all(c, c.securityContext.privileged == false)",
            &[(
                "c.securityContext",
                "c.securityContext and c.securityContext.privileged may be left out",
            )],
        );
        check(
            "has(object.spec.affinity.nodeAffinity)",
            &[("object.spec.affinity", "no such key: affinity")],
        );
        check(
            "object.metadata.labels['team'] == 'a'",
            &[(
                "object.metadata.labels",
                "object.metadata.labels and object.metadata.labels['team'] may be left out",
            )],
        );
        check(
            "object.spec.hostPID == true || object.spec.hostIPC == true",
            &[
                ("object.spec.hostPID", "no such key: hostPID"),
                ("object.spec.hostIPC", "no such key: hostIPC"),
            ],
        );
        check(
            "object.spec.containers[0].resources.requests.memory != ''",
            &[(
                "object.spec.containers[0].resources.requests",
                "object.spec.containers[0].resources.requests and object.spec.containers[0].resources.requests.memory may be",
            )],
        );
        check(
            "object.spec.hostNetwork ? object.spec.nodeName != '' : true",
            &[
                ("object.spec.hostNetwork", "hostNetwork"),
                ("object.spec.nodeName", "nodeName"),
            ],
        );
        check(
            "oldObject == null || object.spec.nodeName == oldObject.spec.nodeName",
            &[
                ("object.spec.nodeName", "object.spec.nodeName"),
                ("oldObject.spec.nodeName", "oldObject.spec.nodeName"),
            ],
        );
    }

    #[test]
    fn conditions_of_webhooks() {
        let of = |condition: &str, expected: &[(&str, &str)]| {
            for kind in ["Validating", "Mutating"] {
                let manifests = webhook(kind, "pods", "CREATE", condition);
                find(UnguardedField::META, &manifests, expected);
            }
        };
        of(
            "object.metadata.labels['name'] != 'a'",
            &[("object.metadata.labels", "the request is denied")],
        );
        of("object.metadata.?labels['name'].orValue('') != 'a'", &[]);
        let ignored = webhook("Validating", "pods", "CREATE", "object.spec.nodeName != 'a'")
            .replace("  sideEffects", "  failurePolicy: Ignore\n  sideEffects");
        find(
            UnguardedField::META,
            &ignored,
            &[("object.spec.nodeName", "and the webhook is not called")],
        );
    }

    #[test]
    fn conditions_that_compare_with_constants() {
        let of = |condition: &str, expected: &[(&str, &str)]| {
            let spec = format!(
                "matchConditions:\n- name: c\n  expression: >-\n    {condition}\nvalidations:\n- expression: \
                 object.spec.nodeName != 'a'\n"
            );
            find(UnguardedField::META, &policy("CREATE, UPDATE", &spec), expected);
        };
        let read = [("object.spec.nodeName", "may be left out")];
        of("request.userInfo.username == 'system:serviceaccount:a:b'", &read);
        of(
            "!(request.namespace != 'shop' || !('admins' in request.userInfo.groups))",
            &read,
        );
        of(
            "request.userInfo.groups.exists(g, g.startsWith('system:serviceaccounts:'))",
            &read,
        );
        of(
            "object.spec.priority > 100 && object.metadata.namespace == 'shop'",
            &read,
        );
        of(
            "request.name == 'a' && object.spec.?schedulerName.orValue('') == 'mine'",
            &read,
        );
        // It is never evaluated.
        of(
            "object.metadata.namespace == 'shop' && has(object.spec.nodeName)",
            &[],
        );
    }

    #[test]
    fn helps() {
        let help = |expression: &str| {
            let spec = format!("validations: [{{expression: \"{expression}\"}}]");
            let set = crate::lints::testing::load(&policy("CREATE", &spec));
            let found = crate::lint(&[&set])
                .into_iter()
                .find(|warning| warning.lint == UnguardedField::META);
            found.and_then(|warning| warning.help).unwrap().text
        };
        assert_eq!(
            help("object.metadata.labels['team'] == 'a'"),
            "test it first, as in !has(object.metadata.labels) || …, or read object.metadata.?labels['team'].orValue(…)"
        );
        assert_eq!(
            help("'team' in object.metadata.labels"),
            "read it as an optional value: … in object.metadata.?labels.orValue({})"
        );
        assert_eq!(
            help("object.metadata.labels.app.kubernetes == 'a'"),
            "a key with dots is written ['app.kubernetes'], after a test: 'app.kubernetes' in …"
        );
        assert_eq!(
            help("object.spec.containers[0].resources.requests.memory == 'a'"),
            "test it first, as in !has(object.spec.containers[0].resources.requests) || …, or read \
             object.spec.containers[0].resources.?requests.memory.orValue(…)"
        );
        assert_eq!(
            help("has(object.metadata.labels) && object.metadata.labels['team'] == 'a'"),
            "test it first, as in 'team' in …, or read it with [?'team'].orValue(…)"
        );
    }

    #[test]
    fn guards() {
        for expression in [
            "!has(object.spec.initContainers) || !object.spec.initContainers.exists(c, c.image == 'a')",
            "!(has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.image == 'a'))",
            "has(object.spec.initContainers) ? object.spec.initContainers.all(c, c.image != 'a') : true",
            "object.spec.?initContainers.orValue([]).all(c, c.image != 'a')",
            "!('initContainers' in object.spec) || object.spec.initContainers.all(c, c.image != 'a')",
            "object.spec.containers.all(c, c.?securityContext.?privileged.orValue(false) == false)",
            "!has(object.metadata.labels) || !('team' in object.metadata.labels) || object.metadata.labels.team == 'a'",
            "object.spec.containers.filter(c, has(c.securityContext)).all(c, c.securityContext != null)",
            "object.spec.containers.exists(c, has(c.ports)) ? true : object.spec.containers.all(c, !has(c.ports))",
            "true || object.spec.nodeName == 'a'",
        ] {
            check(expression, &[]);
        }
    }

    #[test]
    fn what_defaults_fill_in_some_objects() {
        let of = |groups: &str, resources: &str, expression: &str, expected: &[(&str, &str)]| {
            let spec = format!("validations:\n- expression: >-\n    {expression}\n");
            find(
                UnguardedField::META,
                &policy_for(groups, "'*'", resources, "CREATE", &spec),
                expected,
            );
        };
        of(
            "apps",
            "deployments",
            "object.spec.strategy.type != 'RollingUpdate' || object.spec.strategy.rollingUpdate.maxSurge != 0",
            &[],
        );
        // Other strategies have none.
        of(
            "apps",
            "deployments",
            "object.spec.strategy.rollingUpdate.maxSurge != 0",
            &[(
                "object.spec.strategy.rollingUpdate",
                "apps/v1, Kind=Deployment: object.spec.strategy.rollingUpdate may be left out, as rollingUpdate is not \
                 defaulted where type is Recreate: then \"no such key: rollingUpdate\", and the request is denied",
            )],
        );
        of(
            "apps",
            "daemonsets",
            "object.spec.updateStrategy.rollingUpdate.maxUnavailable != 0",
            &[(
                "object.spec.updateStrategy.rollingUpdate",
                "rollingUpdate is not defaulted where type is OnDelete",
            )],
        );
        // A type that is given has no defaults.
        of(
            "apps",
            "statefulsets",
            "object.spec.updateStrategy.type != 'RollingUpdate' || \
             object.spec.updateStrategy.rollingUpdate.partition == 0",
            &[(
                "object.spec.updateStrategy.rollingUpdate",
                "rollingUpdate is defaulted in some objects only",
            )],
        );
        // It is defaulted only if the parallelism is not given either.
        of(
            "batch",
            "jobs",
            "object.spec.completions <= 3",
            &[(
                "object.spec.completions",
                "object.spec.completions may be left out: ",
            )],
        );
        of(
            "batch",
            "jobs",
            "object.spec.backoffLimit <= 3 && object.spec.completionMode == 'Indexed' && object.spec.suspend",
            &[],
        );
        of(
            "apps",
            "deployments",
            "object.spec.replicas > 1 && object.spec.strategy.type == 'Recreate' && object.spec.revisionHistoryLimit < 9",
            &[],
        );
        // Of a container, requests from its limits.
        of(
            "''",
            "pods",
            "object.spec.containers.all(c, !has(c.resources.limits) || !('cpu' in c.resources.limits) || \
             c.resources.requests['cpu'] != '1')",
            &[],
        );
        of(
            "''",
            "pods",
            "object.spec.containers.all(c, c.resources.requests.size() > 0)",
            &[("c.resources.requests", "requests")],
        );
        // Of a probe that there is.
        of(
            "''",
            "pods",
            "object.spec.containers.all(c, !has(c.livenessProbe) || c.livenessProbe.timeoutSeconds < 5)",
            &[],
        );
    }

    #[test]
    fn ports_of_services() {
        let of = |expression: &str, expected: &[(&str, &str)]| {
            let spec = format!("validations:\n- expression: >-\n    {expression}\n");
            find(
                UnguardedField::META,
                &policy_for("''", "v1", "services", "CREATE", &spec),
                expected,
            );
        };
        of(
            "object.spec.ports.all(p, p.port > 10)",
            &[("object.spec.ports", "no such key: ports")],
        );
        // Services of other types have ports.
        of(
            "object.spec.type != 'LoadBalancer' || object.spec.ports.all(p, p.port > 10)",
            &[],
        );
    }

    #[test]
    fn what_objects_always_have() {
        for expression in [
            "object.metadata.name != 'a' && object.metadata.namespace != 'b' && object.metadata.uid != ''",
            "object.spec.restartPolicy == 'Always' && object.spec.securityContext != {}",
            "object.spec.containers.all(c, c.image.contains('/') && c.imagePullPolicy == 'Always')",
            "object.spec.serviceAccountName != 'default' && object.spec.tolerations.size() > 0",
            "object.spec.containers.all(c, c.resources != {} && c.name != '')",
        ] {
            check(expression, &[]);
        }
        let claims = |expression: &str, expected: &[(&str, &str)]| {
            let spec = format!("validations: [{{expression: \"{expression}\"}}]");
            let policy = policy_for("''", "v1", "persistentvolumeclaims", "CREATE", &spec);
            find(UnguardedField::META, &policy, expected);
        };
        claims("object.spec.resources.requests.storage != ''", &[]);
        let of = |groups: &str, resources: &str, expression: &str| {
            let spec = format!("validations:\n- expression: >-\n    {expression}\n");
            find(
                UnguardedField::META,
                &policy_for(groups, "'*'", resources, "CREATE", &spec),
                &[],
            );
        };
        of(
            "''",
            "services",
            "object.spec.type != 'ExternalName' || object.spec.externalName != 'a'",
        );
        of(
            "autoscaling",
            "horizontalpodautoscalers",
            "object.apiVersion != 'autoscaling/v2' || \
            object.spec.metrics.all(m, m.type != 'Resource' || m.resource.name == 'cpu')",
        );
        of(
            "rbac.authorization.k8s.io",
            "rolebindings",
            "!has(object.subjects) || object.subjects.all(s, s.kind != 'ServiceAccount' || s.namespace == 'a')",
        );
        of("apps", "daemonsets", "object.metadata.annotations.size() < 10");
        claims(
            "object.spec.storageClassName != ''",
            &[("object.spec.storageClassName", "")],
        );
    }

    #[test]
    fn guards_elsewhere() {
        let condition = "matchConditions: [{name: c, expression: has(object.spec.nodeName)}]
validations: [{expression: object.spec.nodeName != 'a'}]";
        find(UnguardedField::META, &policy("CREATE", condition), &[]);
        let variables = "variables:
- {name: there, expression: has(object.spec.nodeName)}
- {name: node, expression: object.spec.nodeName}
- {name: unused, expression: object.spec.hostname}
validations:
- {expression: \"!variables.there || variables.node != 'a'\"}
";
        find(UnguardedField::META, &policy("CREATE", variables), &[]);
        let unguarded = variables.replace("!variables.there ||", "variables.there ||");
        let expected = [("object.spec.nodeName", "no such key: nodeName")];
        find(UnguardedField::META, &policy("CREATE", &unguarded), &expected);
        let selector = "validations: [{expression: object.metadata.labels.team != 'a'}]";
        let selected = policy("CREATE", selector).replace(
            "matchConstraints:",
            "matchConstraints:\n    objectSelector: {matchExpressions: [{key: team, operator: Exists}]}",
        );
        find(UnguardedField::META, &selected, &[]);
    }

    #[test]
    fn fields_that_a_kind_never_has() {
        let spec = "validations:
- expression: >-
    has(object.webhooks) ? object.webhooks.size() > 0 : object.spec != {}
";
        let resources = "validatingwebhookconfigurations, validatingadmissionpolicies";
        let policy = policy_for("admissionregistration.k8s.io", "v1", resources, "CREATE", spec);
        find(UnguardedField::META, &policy, &[]);
    }

    #[test]
    fn deletion() {
        let spec = "validations: [{expression: \"oldObject.metadata.labels['keep'] != 'true'\"}]";
        let message = "oldObject.metadata.labels['keep'] may be left out";
        let expected = [("oldObject.metadata.labels", message)];
        find(UnguardedField::META, &policy("DELETE", spec), &expected);
        // A missing object is reported by another lint.
        let spec = "validations: [{expression: object.metadata.name != 'a'}]";
        find(UnguardedField::META, &policy("DELETE, UPDATE", spec), &[]);
    }

    #[test]
    fn who_is_affected() {
        let spec = "failurePolicy: Ignore
validations:
- {expression: object.spec.nodeName != 'a'}
- {expression: \"!has(object.spec.nodeName)\", messageExpression: string(object.spec.hostname)}
";
        find(
            UnguardedField::META,
            &policy("CREATE", spec),
            &[
                ("object.spec.nodeName", "and the request is let in"),
                ("object.spec.hostname", "and the message is replaced"),
            ],
        );
        let patch = mutation(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/a', value: object.metadata.labels}]",
        );
        let expected = [("object.metadata.labels", "apps/v1, Kind=Deployment: ")];
        find(UnguardedField::META, &patch, &expected);
    }
}
