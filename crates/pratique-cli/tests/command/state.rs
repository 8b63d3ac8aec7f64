//! The state of the cluster from files: params, their scopes, and who may do what.

use crate::support::{Directory, Run};

/// A policy whose binding takes params by `param_ref`, and the binding.
fn policy(param_kind: &str, param_ref: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: limit}}
spec:
  paramKind: {{{param_kind}}}
  matchConstraints:
    resourceRules:
    - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}
  validations: [{{expression: \"!('max' in params.data) || size(object.data) <= int(params.data.max)\"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: limit}}
spec:
  policyName: limit
  paramRef: {{{param_ref}}}
  validationActions: [Deny]
"
    )
}

const OBJECT: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {a: b, c: d}\n";

/// A param that allows so many keys.
fn param(name: &str, namespace: &str, max: u32) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, {namespace}labels: {{limit: 'yes'}}}}\ndata: {{max: '{max}'}}\n---\n"
    )
}

#[track_caller]
fn review(directory: &Directory, more: &[&str], code: i32, texts: &[&str]) -> Run {
    let arguments = [&["review", "--policies", "policy.yaml", "object.yaml"], more].concat();
    let run = directory.run(&arguments);
    run.exits(code).shows(texts);
    run
}

const CONFIG_MAPS: &str = "apiVersion: v1, kind: ConfigMap";

#[test]
fn params_by_name() {
    let named = |action: &str, objects: &str| {
        Directory::new()
            .with(
                "policy.yaml",
                policy(
                    CONFIG_MAPS,
                    &format!("name: limits, parameterNotFoundAction: {action}"),
                ),
            )
            .with("objects.yaml", objects)
            .with("object.yaml", OBJECT)
    };
    let given = ["--objects", "objects.yaml"];
    let complete = ["--objects", "objects.yaml", "--objects-complete"];
    review(
        &named("Allow", &param("limits", "namespace: shop, ", 1)),
        &given,
        1,
        &["0 allowed, 1 denied"],
    );
    review(
        &named("Allow", &param("limits", "namespace: shop, ", 2)),
        &given,
        0,
        &["1 allowed"],
    );
    // Another namespace's are not those of the request.
    let other = param("limits", "namespace: other, ", 1);
    let missing = "params of kind '/v1, Kind=ConfigMap' named \"limits\" in namespace \"shop\" are not known";
    let help = "= help: give those that the cluster has, and the definition of their kind, with --objects PATH (and \
                --objects-complete, if these are all)";
    review(&named("Allow", &other), &given, 3, &[missing, help]);
    review(&named("Allow", &other), &complete, 0, &["1 allowed"]);
    let denied = "no params found for policy binding with `Deny` parameterNotFoundAction";
    review(&named("Deny", &other), &complete, 1, &[denied]);
    // A namespaced object without a namespace is in that of the flag.
    let unplaced = named("Allow", &param("limits", "", 1));
    review(&unplaced, &given, 3, &[missing]);
    review(
        &unplaced,
        &["--objects", "objects.yaml", "--namespace", "shop"],
        1,
        &["0 allowed, 1 denied"],
    );
}

#[test]
fn params_by_selector() {
    let selected = |objects: &str| {
        let param_ref = "selector: {matchLabels: {limit: 'yes'}}, parameterNotFoundAction: Deny";
        Directory::new()
            .with("policy.yaml", policy(CONFIG_MAPS, param_ref))
            .with("objects.yaml", objects)
            .with("object.yaml", OBJECT)
    };
    let objects = param("one", "namespace: shop, ", 5) + &param("two", "namespace: shop, ", 1);
    let complete = ["--objects", "objects.yaml", "--objects-complete"];
    review(&selected(&objects), &complete, 1, &["0 allowed, 1 denied"]);
    review(
        &selected(&param("one", "namespace: shop, ", 5)),
        &complete,
        0,
        &["1 allowed"],
    );
    // There may be others that the selector selects.
    review(
        &selected(&objects),
        &complete[..2],
        3,
        &["params of kind '/v1, Kind=ConfigMap' in namespace \"shop\" are not known"],
    );
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limits.example.com}
spec:
  group: example.com
  names: {kind: Limit, plural: limits}
  scope: SCOPE
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
";

#[test]
fn params_of_custom_kinds() {
    let custom = |param_ref: &str, objects: &str| {
        let param_kind = "apiVersion: example.com/v1, kind: Limit";
        Directory::new()
            .with(
                "policy.yaml",
                policy(param_kind, &format!("{param_ref}, parameterNotFoundAction: Deny")),
            )
            .with("objects.yaml", objects)
            .with("object.yaml", OBJECT)
    };
    let limit = |namespace: &str| {
        param("limits", namespace, 1).replace(
            "apiVersion: v1\nkind: ConfigMap",
            "apiVersion: example.com/v1\nkind: Limit",
        )
    };
    let given = ["--objects", "objects.yaml"];
    let cluster = DEFINITION.replace("SCOPE", "Cluster");
    let namespaced = DEFINITION.replace("SCOPE", "Namespaced");
    review(
        &custom("name: limits", &(cluster.clone() + &limit(""))),
        &given,
        1,
        &["0 allowed, 1 denied"],
    );
    let of_cluster = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`";
    review(
        &custom("name: limits, namespace: shop", &(cluster + &limit(""))),
        &given,
        1,
        &[of_cluster],
    );
    review(
        &custom("name: limits", &(namespaced + &limit("namespace: shop, "))),
        &given,
        1,
        &["0 allowed, 1 denied"],
    );
    // Without a definition, a namespace says that the kind is namespaced; else its scope is not known.
    review(
        &custom("name: limits", &limit("namespace: shop, ")),
        &given,
        1,
        &["0 allowed, 1 denied"],
    );
    review(&custom("name: limits", &limit("")), &given, 3, &["are not known"]);
}

/// A policy with a variable `check` and these validations, and its binding.
fn checks(variable: &str, validations: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: asks}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}
  variables: [{{name: check, expression: \"{variable}\"}}]
  validations:
{validations}---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: asks}}
spec: {{policyName: asks, validationActions: [Deny]}}
"
    )
}

/// A policy that allows what an authorization check allows, and knows the reasons.
fn asks() -> String {
    checks(
        "authorizer.group('example.com').resource('quotas').namespace('shop').check('use')",
        "  - {expression: variables.check.allowed(), message: not allowed}
  - message: another reason
    expression: >-
      variables.check.reason() in ['',
      'RBAC: allowed by RoleBinding \"admins/shop\" of ClusterRole \"admin\" to Group \"admins\"',
      'RBAC: allowed by RoleBinding \"admins/shop\" of ClusterRole \"admin\" to ServiceAccount \"deployer/shop\"']
",
    )
}

const ROLES: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: parts, labels: {to: admin}}
rules: [{apiGroups: [example.com], resources: [quotas], verbs: [use]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: admin}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: admin}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: admins, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: admins}
- {kind: ServiceAccount, name: deployer}
";

#[test]
fn roles_and_bindings_answer_authorization_checks() {
    let directory = Directory::new()
        .with("policy.yaml", asks())
        .with("roles.yaml", ROLES)
        .with("no-rules.yaml", "authorizer: []\n")
        .with("object.yaml", OBJECT);
    let unknown = "it is not known whether user \"ann\" may use quotas.example.com";
    review(&directory, &["--as", "ann"], 3, &[unknown]);
    let roles = ["--objects", "roles.yaml", "--as", "ann"];
    let with = |more: &[&'static str]| [&roles[..], more].concat();
    // Other bindings may allow it.
    review(
        &directory,
        &roles,
        3,
        &[unknown, "give roles and bindings with --objects PATH"],
    );
    review(
        &directory,
        &with(&["--objects-complete"]),
        1,
        &["denied request: not allowed"],
    );
    review(&directory, &with(&["--as-group", "admins"]), 0, &["1 allowed"]);
    let account = [
        "--objects",
        "roles.yaml",
        "--as",
        "system:serviceaccount:shop:deployer",
    ];
    review(&directory, &account, 0, &["1 allowed"]);
    let account = [
        "--objects",
        "roles.yaml",
        "--as",
        "system:serviceaccount:other:deployer",
        "--objects-complete",
    ];
    review(&directory, &account, 1, &["0 allowed, 1 denied"]);
    review(
        &directory,
        &with(&["--as-group", "system:masters"]),
        0,
        &["1 allowed"],
    );
    // Rules take precedence.
    review(
        &directory,
        &with(&["--as-group", "admins", "--authorizer", "no-rules.yaml"]),
        1,
        &["0 allowed, 1 denied"],
    );
}

#[test]
fn suites_have_roles_and_bindings() {
    let suite = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policy.yaml]
cluster: {objects: [roles.yaml]}
tests:
- {name: an admin, object: object.yaml, user: {name: ann, groups: [admins]}, expect: allowed}
- {name: someone else, object: object.yaml, user: ann, expect: denied}
";
    let run = Directory::new()
        .with("policy.yaml", asks())
        .with("roles.yaml", ROLES)
        .with("object.yaml", OBJECT)
        .with("suite.yaml", suite)
        .run(&["test", "suite.yaml"]);
    run.exits(0);
}

#[test]
fn users_have_more_than_names() {
    let validation = "variables.check.uid == '7' && variables.check.extra['team'] == ['a', 'b']";
    let policy = checks("request.userInfo", &format!("  - expression: \"{validation}\"\n"));
    let directory = Directory::new()
        .with("policy.yaml", policy)
        .with("object.yaml", OBJECT);
    review(
        &directory,
        &[
            "--as-uid",
            "7",
            "--as-user-extra",
            "team=a",
            "--as-user-extra",
            "Team=b",
        ],
        0,
        &["1 allowed"],
    );
    review(
        &directory,
        &["--as-uid", "8", "--as-user-extra", "team=a,team=b"],
        1,
        &["1 denied"],
    );
    review(
        &directory,
        &["--as-user-extra", "team"],
        2,
        &["expected KEY=VALUE"],
    );
    review(&directory, &["--objects-complete"], 2, &["--objects <PATH>"]);
}

#[test]
fn definitions_that_define_nothing_are_told_once() {
    const DEFINITIONS: &str = "apiVersion: v1\nkind: List\nitems:\n\
        - apiVersion: apiextensions.k8s.io/v1\n  kind: CustomResourceDefinition\n  metadata: {name: bares.example.com}\n  \
        spec: {group: example.com, scope: Namespaced, names: {kind: Bare, plural: bares}}\n\
        - apiVersion: apiextensions.k8s.io/v1beta1\n  kind: CustomResourceDefinition\n  metadata: {name: olds.example.com}\n  \
        spec: {group: example.com, version: v1, scope: Namespaced, names: {kind: Old, plural: olds}}\n";
    const OLD: &str = "apiVersion: example.com/v1\nkind: Old\nmetadata: {name: a, namespace: b}\n";
    let directory = Directory::new()
        .with("crds.yaml", DEFINITIONS)
        .with("old.yaml", OLD)
        .with("policy.yaml", crate::scan::POLICIES);
    let invalid = "crds.yaml:4:3: the definition defines nothing: \
        CustomResourceDefinition.apiextensions.k8s.io \"bares.example.com\" is invalid: [spec.versions: Invalid value: null: must have \
        exactly one version marked as storage version, ";
    let gone = "crds.yaml:8:3: the definition defines nothing: CustomResourceDefinition \
        \"olds.example.com\" is of apiextensions.k8s.io/v1beta1, a version that is gone since Kubernetes 1.22: \
        write it in apiextensions.k8s.io/v1\n";
    for arguments in [
        ["review", "--objects", "crds.yaml", "old.yaml"].as_slice(),
        &["review", "--chain", "--objects", "crds.yaml", "old.yaml"],
        &["review", "--objects", "crds.yaml", "old.yaml", "crds.yaml"],
        &["scan", "--objects", "crds.yaml", "old.yaml", "crds.yaml"],
    ] {
        let run = directory.run(&[&arguments[..1], &["--policies", "policy.yaml"], &arguments[1..]].concat());
        for text in [invalid, gone] {
            assert_eq!(run.stderr.matches(text).count(), 1, "{text}: {run}");
        }
        // Nobody is told to give what is there.
        let other = run
            .stderr
            .lines()
            .filter(|line| line.contains("kind Old of example.com/v1"));
        for line in other {
            assert!(!line.contains("give its CustomResourceDefinition"), "{run}");
        }
    }
}

/// A file that cannot be read, among the state and the inputs, by the same path and by others.
#[test]
fn a_file_of_the_state_and_the_inputs_has_its_errors_once() {
    let directory = Directory::new()
        .with(
            "policy.yaml",
            policy(CONFIG_MAPS, "name: a, parameterNotFoundAction: Allow"),
        )
        .with("in/object.yaml", OBJECT)
        .with(
            "in/broken.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a\n",
        );
    let absolute = directory.path().join("in").display().to_string();
    for state in ["in", "./in", &absolute] {
        let shared = ["--policies", "policy.yaml", "--objects", state];
        for command in ["review", "scan"] {
            let run = directory.run(&[&[command, "in", "--output", "json"][..], &shared].concat());
            assert_eq!(run.stderr.matches("broken.yaml:").count(), 1, "{run:?}");
            assert_eq!(run.stdout.matches("broken.yaml").count(), 1, "{run:?}");
        }
        let run = directory.run(&[&["scan", "in"][..], &shared].concat());
        assert!(run.stdout.contains(" 1 not evaluated"), "{run:?}");
        let sides = ["--old", "policy.yaml", "--new", "policy.yaml"];
        let run = directory.run(&[&["impact", "in", "--objects", state][..], &sides].concat());
        assert!(run.stdout.contains("1 error\n"), "{run:?}");
    }
}
