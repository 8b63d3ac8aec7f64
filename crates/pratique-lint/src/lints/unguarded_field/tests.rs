//! Optional fields, and what counts as a test of them.

use std::sync::Arc;

use super::*;
use crate::lints::testing::{check as find, load, mutation, policy, policy_for, webhook};
use crate::{LintOptions, lint_with};

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
fn chains_of_conditions() {
    check(
        "!object.spec.hostNetwork && !object.spec.hostPID && !object.spec.hostIPC",
        &[
            ("object.spec.hostNetwork", "no such key: hostNetwork"),
            ("object.spec.hostPID", "no such key: hostPID"),
            ("object.spec.hostIPC", "no such key: hostIPC"),
        ],
    );
    check(
        "object.spec.hostPID == false && object.spec.hostIPC != true",
        &[
            ("object.spec.hostPID", "no such key: hostPID"),
            ("object.spec.hostIPC", "no such key: hostIPC"),
        ],
    );
    check(
        "object.spec.containers.all(c, has(c.securityContext) && c.securityContext.runAsNonRoot == true && \
         c.securityContext.readOnlyRootFilesystem == true && c.securityContext.allowPrivilegeEscalation == false)",
        &[
            ("c.securityContext.runAsNonRoot", "runAsNonRoot"),
            (
                "c.securityContext.readOnlyRootFilesystem",
                "readOnlyRootFilesystem",
            ),
            (
                "c.securityContext.allowPrivilegeEscalation",
                "allowPrivilegeEscalation",
            ),
        ],
    );
    check(
        "has(object.spec.securityContext) && object.spec.securityContext.runAsNonRoot && \
         object.spec.securityContext.runAsUser > 1000 && object.spec.securityContext.fsGroup > 1000",
        &[
            ("object.spec.securityContext.runAsNonRoot", "runAsNonRoot"),
            ("object.spec.securityContext.runAsUser", "runAsUser"),
            ("object.spec.securityContext.fsGroup", "fsGroup"),
        ],
    );
    for guarded in [
        "!has(object.spec.hostNetwork) && !has(object.spec.hostPID)",
        "!object.spec.?hostNetwork.orValue(false) && !object.spec.?hostPID.orValue(false)",
        "(!has(object.spec.hostNetwork) || !object.spec.hostNetwork) && (!has(object.spec.hostPID) || !object.spec.hostPID)",
    ] {
        check(guarded, &[]);
    }
    // A first read that is wrong is a guard of the second.
    check(
        "object.spec.hostNetwork == true && object.spec.hostNetwork != false",
        &[("object.spec.hostNetwork", "no such key: hostNetwork")],
    );
}

#[test]
fn elements_by_their_index() {
    check(
        "object.spec.containers[1].image != 'a'",
        &[(
            "object.spec.containers",
            "object.spec.containers may have no element 1: then \"index out of bounds: 1\", and the request is denied",
        )],
    );
    check("object.spec.containers[0].image != 'a'", &[]);
    check(
        "object.spec.containers.size() < 2 || object.spec.containers[1].image != 'a'",
        &[],
    );
    check(
        "object.spec.containers.all(c, c.image.split(':')[1] != 'latest')",
        &[(
            "c.image.split(':')",
            "c.image.split(':') may have no element 1: then \"index out of bounds: 1\", and the request is denied",
        )],
    );
    for tested in [
        "object.spec.containers.all(c, c.image.split('/')[0] != 'a')",
        "object.spec.containers.all(c, !c.image.contains(':') || c.image.split(':')[1] != 'latest')",
        "object.spec.containers.all(c, c.image.split(':').size() < 2 || c.image.split(':')[1] != 'latest')",
    ] {
        check(tested, &[]);
    }
}

#[test]
fn fields_that_no_definition_declares() {
    let definition = |items: &str| {
        let text = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {{"name": "widgets.example.com"}},
                "spec": {{"group": "example.com", "scope": "Namespaced", "names": {{"kind": "Widget", "plural": "widgets",
                    "singular": "widget", "listKind": "WidgetList"}},
                    "versions": [{{"name": "v1", "served": true, "storage": true,
                        "schema": {{"openAPIV3Schema": {{"type": "object", "required": ["spec"], "properties": {{
                            "spec": {{"type": "object", "required": ["parts"], "properties": {{"parts": {{"type": "array",
                                "items": {items}}}}}}}}}}}}}}}]}}}}"#
        );
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    };
    let declared = r#"{"type": "object", "properties": {"weight": {"type": "integer"}}}"#;
    let open = r#"{"type": "object", "x-kubernetes-preserve-unknown-fields": true}"#;
    let warnings = |items: &str, expression: &str| {
        let kinds = CustomKinds::new(pratique_schema::Release::latest(), &[definition(items)]);
        let options = LintOptions::default().custom_kinds(Arc::new(kinds));
        let spec = format!("validations: [{{expression: \"{expression}\"}}]");
        let set = load(&policy_for("example.com", "v1", "widgets", "CREATE", &spec));
        let warnings = lint_with(&[&set], &options).into_iter();
        let own = warnings.filter(|warning| warning.lint == UnguardedField::META);
        own.map(|warning| {
            (
                warning.message,
                warning.help.map(|help| help.text).unwrap_or_default(),
            )
        })
        .collect::<Vec<_>>()
    };
    let misspelt = warnings(declared, "object.spec.parts.all(p, p.wieght > 3)");
    let [(message, help)] = misspelt.as_slice() else {
        panic!("{misspelt:?}");
    };
    assert!(
        message.contains("p.wieght is none of its fields: then \"no such key: wieght\""),
        "{message}"
    );
    assert_eq!(help, "did you mean \"weight\"?");
    let optional = warnings(declared, "object.spec.parts.all(p, p.weight > 3)");
    assert!(
        optional
            .iter()
            .any(|(message, _)| message.contains("p.weight may be left out")),
        "{optional:?}"
    );
    let any = warnings(open, "object.spec.parts.all(p, p.wieght > 3)");
    assert!(
        any.iter()
            .all(|(message, _)| !message.contains("none of its fields")),
        "{any:?}"
    );
}

#[test]
fn what_a_request_may_lack() {
    check(
        "namespaceObject.metadata.labels['env'] != 'prod'",
        &[(
            "namespaceObject.metadata.labels",
            "/v1, Kind=Pod: namespaceObject.metadata.labels['env'] may be left out: then \"no such key: env\"",
        )],
    );
    check(
        "namespaceObject.metadata.annotations['owner'] != ''",
        &[("namespaceObject.metadata.annotations", "no such key: annotations")],
    );
    check(
        "request.options.fieldManager != 'x'",
        &[("request.options.fieldManager", "no such key: fieldManager")],
    );
    check(
        "request.userInfo.extra['a'][0] != 'b' && request.userInfo.uid != ''",
        &[
            ("request.userInfo.extra", "no such key: extra"),
            ("request.userInfo.uid", "no such key: uid"),
        ],
    );
    for guarded in [
        "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] != 'prod'",
        "namespaceObject.metadata.name != 'a' && namespaceObject.status.phase == 'Active'",
        "namespaceObject.metadata.?labels['env'].orValue('') != 'prod'",
        "!('env' in namespaceObject.metadata.labels) || namespaceObject.metadata.labels['env'] != 'prod'",
        "request.options.kind == 'CreateOptions' || request.userInfo.username != '' && request.dryRun",
        "request.?userInfo.?extra['a'].orValue([]).size() < 5",
    ] {
        check(guarded, &[]);
    }
    let spec = "validations: [{expression: \"namespaceObject.metadata.labels['env'] != 'prod'\"}]";
    let selected = policy("CREATE", spec).replace(
        "matchConstraints:",
        "matchConstraints:\n    namespaceSelector: {matchExpressions: [{key: env, operator: Exists}]}",
    );
    find(UnguardedField::META, &selected, &[]);
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
    of("object.metadata.namespace.matches('^team-.*$')", &read);
    of(
        "object.metadata.?labels['tier'].orValue('').matches('^(gold|silver)$')",
        &read,
    );
    of(
        "object.spec.containers.size() > 2 && object.spec.terminationGracePeriodSeconds > 300",
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
        let warning = crate::lint(&[&set])
            .into_iter()
            .find(|warning| warning.lint == UnguardedField::META);
        warning.and_then(|warning| warning.help).unwrap().text
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
    // Node ports are allocated before policies see the object.
    of(
        "object.spec.type != 'NodePort' || object.spec.ports.all(p, p.nodePort < 30100)",
        &[],
    );
    of(
        "!has(object.spec.ports) || object.spec.ports.all(p, p.nodePort < 30100)",
        &[("p.nodePort", "no such key: nodePort")],
    );
    of(
        "object.spec.clusterIP != 'None'",
        &[(
            "object.spec.clusterIP",
            "object.spec.clusterIP may be left out, as clusterIP is not defaulted where type is ExternalName",
        )],
    );
    of(
        "object.spec.type == 'ExternalName' || object.spec.clusterIP != 'None'",
        &[],
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
