//! Whole requests and their answers.

mod drifts;
mod release;

use serde_json::{Value, json};

use crate::answer;

const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
  variables: [{name: most, expression: 'int(params.data.most)'}]
  validations:
  - expression: object.spec.replicas <= variables.most
    messageExpression: \"'no more than ' + string(variables.most)\"
  - expression: namespaceObject.metadata.labels.env != 'prod' || request.userInfo.username != 'ann'
    message: not ann
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec:
  policyName: few
  validationActions: [Deny]
  paramRef: {name: limits, namespace: default, parameterNotFoundAction: Deny}
";

const MUTATION: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: stamp}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {\"stamp\": \"yes\"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: stamp}
spec: {policyName: stamp}
";

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 7
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
";

const PODS: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: pods}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  validations: [{expression: \"object.spec.containers.all(c, c.image != 'i')\", message: not i}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: pods}
spec: {policyName: pods, validationActions: [Deny]}
";

const LIMITS: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: default}, data: {most: '5'}}";
const NAMESPACE: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {env: prod}}}";

fn file(path: &str, text: &str) -> Value {
    json!({"path": path, "text": text})
}

fn evaluate(input: &Value) -> Value {
    let request = json!({"evaluate": input});
    serde_json::from_slice(&answer(request.to_string().as_bytes())).unwrap()
}

fn whole() -> Value {
    json!({"policies": [file("policies", POLICY)], "object": DEPLOYMENT,
        "cluster": [file("params", LIMITS), file("namespace", NAMESPACE)]})
}

#[test]
fn invalid_fields_are_told_at_their_places() {
    let object = DEPLOYMENT.replacen("name: c,", "name: c, imagePullPolicy: Alway,", 1);
    let asked = json!({"evaluate": {"policies": [], "object": object}});
    let answered: Value = serde_json::from_slice(&answer(asked.to_string().as_bytes())).unwrap();
    assert_eq!(answered["decision"], "denied", "{answered}");
    let [cause] = answered["causes"].as_array().unwrap().as_slice() else {
        panic!("{answered}");
    };
    assert_eq!(cause["field"], "spec.template.spec.containers[0].imagePullPolicy");
    assert_eq!(cause["help"], "did you mean \"Always\"?");
    assert_eq!(cause["location"]["file"], "object");
    assert_eq!(cause["location"]["start"]["line"], 8);
}

#[test]
fn fields_that_a_server_drops_are_told_at_their_places() {
    let object = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  schedulingGroup: {podGroupName: g}\n  containers: [{name: c, image: i}]\n";
    let asked = json!({"evaluate": {"policies": [], "object": object}});
    let answered: Value = serde_json::from_slice(&answer(asked.to_string().as_bytes())).unwrap();
    assert_eq!(answered["decision"], "allowed", "{answered}");
    let dropped = &answered["dropped"][0];
    assert_eq!(
        (&dropped["field"], &dropped["severity"]),
        (&json!("spec.schedulingGroup"), &json!("warning"))
    );
    assert_eq!(dropped["location"]["start"]["line"], 5);
    let message = dropped["message"].as_str().unwrap();
    assert!(
        message.contains("the feature gate GenericWorkload is off in Kubernetes 1.37"),
        "{message}"
    );
}

#[test]
fn a_denial_is_explained() {
    let answer = evaluate(&whole());
    assert_eq!(answer["problems"], json!([]), "{answer}");
    assert_eq!(answer["decision"], "denied");
    assert_eq!(answer["status"]["code"], 422);
    let message = answer["status"]["message"].as_str().unwrap();
    assert!(message.ends_with("denied request: no more than 5"), "{message}");
    assert_eq!(answer["decisions"][0]["action"], "deny");
    let round = &answer["explanation"]["policies"][0]["bindings"][0]["rounds"][0];
    assert_eq!(round["params"], "default/limits");
    let expressions = round["expressions"].as_array().unwrap();
    let named = |place: &str| {
        expressions
            .iter()
            .find(|expression| expression["place"] == place)
            .unwrap()
    };
    assert_eq!(named("variables.most")["value"], "5");
    assert_eq!(named("validations[0]")["value"], "false");
    assert_eq!(named("validations[0]")["at"]["start"]["line"], 11);
    assert!(named("validations[0]")["diagram"].as_array().unwrap().len() > 2);
}

/// A kind that no server serves is refused, and one that is not known is undecided where a policy may match it; definitions
/// change nothing about built-in kinds.
#[test]
fn kinds_are_not_guessed() {
    let refuses = POLICY
        .replace("apiGroups: [apps]", "apiGroups: [apps, example.com]")
        .replace("resources: [deployments]", "resources: [deployments, gateways]");
    let decided = |object: &str, cluster: Vec<Value>| {
        let mut input = whole();
        input["policies"] = json!([file("policies", &refuses)]);
        input["object"] = json!(object);
        let mut files = input["cluster"].as_array().unwrap().clone();
        files.extend(cluster);
        input["cluster"] = json!(files);
        evaluate(&input)
    };
    let gone = decided(&DEPLOYMENT.replace("apps/v1", "extensions/v1beta1"), Vec::new());
    assert_eq!(gone["decision"], "denied", "{gone}");
    assert_eq!(
        gone["status"]["message"],
        "the server could not find the requested resource"
    );
    let help = "extensions/v1beta1 Deployment is not served since Kubernetes 1.16: use apps/v1 Deployment";
    assert_eq!(gone["notes"], json!([help]));
    let gateway = "{apiVersion: example.com/v1, kind: Gateway, metadata: {name: g}, spec: {replicas: 7}}";
    let unknown = decided(gateway, Vec::new());
    assert_eq!(unknown["decision"], "undecided", "{unknown}");
    let definition = |group: &str, kind: &str, plural: &str| {
        let text = format!(
            "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: {plural}.{group}}}, spec:
              {{group: {group}, scope: Namespaced, names: {{kind: {kind}, plural: {plural}}}, versions: [{{name: v1,
              served: true, storage: true, schema: {{openAPIV3Schema: {{type: object,
              x-kubernetes-preserve-unknown-fields: true}}}}}}]}}}}"
        );
        vec![file("definition", &text)]
    };
    let known = decided(gateway, definition("example.com", "Gateway", "gateways"));
    assert_eq!(known["decision"], "denied", "{known}");
    let overridden = decided(DEPLOYMENT, definition("apps", "Deployment", "foos"));
    assert_eq!(overridden["decision"], Value::Null, "{overridden}");
    let place = &overridden["problems"][0]["location"];
    assert_eq!(place["file"], "definition", "{overridden}");
}

/// An object that stays as it is needs a name as well.
#[test]
fn objects_need_names() {
    for as_given in [false, true] {
        let mut input = whole();
        input["object"] = json!(DEPLOYMENT.replace("{name: web}", "{}").replace('7', "3"));
        input["asGiven"] = json!(as_given);
        let answer = evaluate(&input);
        assert_eq!(answer["decision"], "denied", "{answer}");
        let message = answer["status"]["message"].as_str().unwrap();
        assert!(message.ends_with("name or generateName is required"), "{message}");
    }
}

/// A policy on Pods decides about those of a Deployment, as in a review.
#[test]
fn pods_of_workloads_are_evaluated() {
    let of_pods = |policies: &str, expand: Value, object: &str| {
        let mut input = json!({"policies": [file("policies", policies)], "object": object});
        if !expand.is_null() {
            input["expand"] = expand;
        }
        evaluate(&input)
    };
    for expand in [Value::Null, json!("auto"), json!("on")] {
        let answer = of_pods(PODS, expand, DEPLOYMENT);
        assert_eq!(answer["decision"], "allowed", "{answer}");
        let pod = &answer["pods"][0];
        assert!(pod["name"].as_str().unwrap().starts_with("web-"), "{answer}");
        assert_eq!(pod["decision"], "denied", "{answer}");
        assert!(pod["status"]["message"].as_str().unwrap().ends_with("not i"));
        assert_eq!(pod["request"]["resource"]["resource"], "pods");
    }
    for (policies, expand) in [(PODS, json!("off")), (POLICY, Value::Null)] {
        let answer = of_pods(policies, expand, DEPLOYMENT);
        assert_eq!(answer["pods"], Value::Null, "{answer}");
    }
    // Policies of a cluster count as well, and a workload that is refused makes no Pods.
    let parts: Vec<&str> = PODS.split("---").collect();
    let stored: Vec<Value> = [
        parts[0].replace(
            "CREATE]}]",
            "CREATE]}]\n    matchPolicy: Equivalent\n    namespaceSelector: {}\n    objectSelector: {}",
        ),
        parts[1].to_owned(),
    ]
    .iter()
    .map(|text| {
        serde_json::to_value(
            pratique_manifest::convert::objects(&pratique_manifest::ManifestFile {
                path: "stored".to_owned(),
                content: text.clone().into_bytes(),
            })
            .unwrap()
            .remove(0),
        )
        .unwrap()
    })
    .collect();
    let answer = evaluate(&json!({"stored": stored, "object": DEPLOYMENT}));
    assert_eq!(answer["pods"][0]["decision"], "denied", "{answer}");
    let both = format!("{PODS}---{POLICY}");
    let mut input = whole();
    input["policies"] = json!([file("policies", &both)]);
    let refused = evaluate(&input);
    assert_eq!(
        (&refused["decision"], &refused["pods"]),
        (&json!("denied"), &Value::Null),
        "{refused}"
    );
    // Without a template the server itself refuses it, and there is no Pod.
    let empty = of_pods(
        PODS,
        Value::Null,
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {}}",
    );
    assert_eq!(
        (&empty["decision"], &empty["status"]["code"], &empty["pods"]),
        (&json!("denied"), &json!(422), &Value::Null),
        "{empty}"
    );
}

#[test]
fn the_user_and_the_operation_are_those_of_the_input() {
    let mut input = whole();
    input["user"] = json!({"name": "ann", "groups": ["dev"]});
    let of_ann = evaluate(&input);
    assert_eq!(of_ann["decisions"].as_array().unwrap().len(), 2, "{of_ann}");
    assert_eq!(
        of_ann["request"]["groups"],
        json!(["dev", "system:authenticated"])
    );
    input["operation"] = json!("DELETE");
    let deleted = evaluate(&input);
    assert_eq!(deleted["decision"], "allowed");
    assert_eq!(deleted["request"]["operation"], "DELETE");
    input["operation"] = Value::Null;
    input["oldObject"] = json!(DEPLOYMENT);
    assert_eq!(evaluate(&input)["request"]["operation"], "UPDATE");
}

#[test]
fn missing_params_and_namespaces_are_not_taken_for_others() {
    let mut input = whole();
    input["cluster"] = json!([file("params", LIMITS)]);
    // The first validation denies whatever the second one needs.
    let without_labels = evaluate(&input);
    assert_eq!(without_labels["decision"], "denied");
    input["object"] = json!(DEPLOYMENT.replace("7", "2"));
    let undecided = evaluate(&input);
    assert_eq!(undecided["decision"], "undecided", "{undecided}");
    assert_ne!(undecided["undecided"], json!([]));
    input["cluster"] = json!([]);
    assert_eq!(evaluate(&input)["decision"], "denied");
}

#[test]
fn mutations_have_a_diff_and_a_patch() {
    let input = json!({"policies": [file("policies", MUTATION)], "object": DEPLOYMENT});
    let answer = evaluate(&input);
    assert_eq!(answer["decision"], "allowed", "{answer}");
    assert_eq!(answer["mutations"][0]["result"], "changed");
    assert_eq!(answer["object"]["metadata"]["labels"], json!({"stamp": "yes"}));
    assert_eq!(
        answer["patch"],
        json!([{"op": "add", "path": "/metadata/labels", "value": {"stamp": "yes"}}])
    );
    let lines = answer["diff"].as_array().unwrap();
    assert!(
        lines.contains(&json!({"tag": "+", "text": "    stamp: yes"}))
            || lines.contains(&json!({"tag": "+", "text": "    stamp: \"yes\""})),
        "{answer}"
    );
    assert!(lines.iter().all(|line| line["tag"] != "-"), "{answer}");
    assert_eq!(answer["defaults"][0]["by"], "server");
}

#[test]
fn problems_have_positions() {
    let faulty = POLICY.replace("object.spec.replicas <=", "object.spec.replicas <= nothing +");
    let mut input = whole();
    input["policies"] = json!([file("policies", &faulty)]);
    let answer = evaluate(&input);
    assert_eq!(answer.get("decision"), None);
    let problem = &answer["problems"][0];
    assert_eq!(problem["location"]["file"], "policies");
    assert_eq!(problem["location"]["start"]["line"], 11, "{problem}");
    assert_eq!(problem["location"]["start"]["column"], 41, "{problem}");
    for (name, text) in [
        ("object", "a: [1"),
        ("oldObject", "- 1"),
        ("authorizer", "authorizer: 1"),
    ] {
        let mut input = whole();
        input[name] = json!(text);
        let answer = evaluate(&input);
        assert_eq!(answer.get("decision"), None, "{answer}");
        assert_eq!(answer["problems"][0]["location"]["file"], name, "{answer}");
    }
}

/// What is evaluated is told even where lints are left out.
#[test]
fn versions_that_not_all_servers_have_are_told() {
    let mut input = whole();
    let policy = MUTATION.replacen("k8s.io/v1\n", "k8s.io/v1beta1\n", 1);
    input["policies"] = json!([file("policies", &policy)]);
    for without_lints in [false, true] {
        input["withoutLints"] = json!(without_lints);
        let answer = evaluate(&input);
        assert_eq!(answer["mutations"][0]["result"], "changed", "{answer}");
        let mut lints = answer["lints"].as_array().unwrap().iter();
        assert!(lints.any(|lint| lint["rule"] == "optional-version"), "{answer}");
    }
}

#[test]
fn lints_are_reported_and_what_is_not_evaluated() {
    let unbound = POLICY.split("---").next().unwrap();
    let pod = "---\n{apiVersion: v1, kind: Pod}";
    let webhook = "---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- {name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: 'https://example.com'}}";
    let input = json!({"policies": [file("policies", &format!("{unbound}{pod}\n{webhook}"))], "object": DEPLOYMENT,
        "costs": true});
    let answer = evaluate(&input);
    assert_eq!(answer["problems"], json!([]), "{answer}");
    assert!(
        answer["lints"]
            .as_array()
            .unwrap()
            .iter()
            .any(|lint| lint["rule"] == "unbound-policy"),
        "{answer}"
    );
    assert_eq!(
        answer["notEvaluated"],
        json!([
            "1 of kind Pod among the policies",
            "ValidatingAdmissionPolicy few, which has no binding",
            "ValidatingWebhookConfiguration hooks: webhooks are not called",
        ])
    );
    assert!(answer["costs"][0]["max"].as_u64().unwrap() > 0, "{answer}");
    let mut soon = input.clone();
    soon["withoutLints"] = json!(true);
    let soon = evaluate(&soon);
    assert_eq!(soon["lints"], json!([]), "{soon}");
    assert_eq!(soon["decision"], answer["decision"]);
    let mut bound = input;
    bound["bind"] = json!(true);
    bound["policies"] = json!([file(
        "policies",
        &unbound
            .replace("  paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
            .replace("int(params.data.most)", "5")
    )]);
    assert_eq!(evaluate(&bound)["decision"], "denied");
}

#[test]
fn what_a_server_refuses_before_admission_is_denied() {
    let mut input = whole();
    input["object"] = json!(DEPLOYMENT.replace("replicas: 7", "replicas: many"));
    let answer = evaluate(&input);
    assert_eq!(answer["decision"], "denied", "{answer}");
    assert_eq!(answer["status"]["code"], 400);
}

#[test]
fn without_an_object_policies_are_only_loaded() {
    let answer = evaluate(&json!({"policies": [file("policies", POLICY)]}));
    assert_eq!(answer.get("decision"), None);
    assert_eq!(answer["problems"], json!([]));
}

#[test]
fn the_authorizer_decides_by_rules_and_roles() {
    let asks = MUTATION.replace(
        "  mutations:",
        "  matchConditions: [{name: may, expression: 'authorizer.group(\"\").resource(\"pods\").check(\"get\").allowed()'}]\n  mutations:",
    );
    let mut input = json!({"policies": [file("policies", &asks)], "object": DEPLOYMENT});
    assert_eq!(evaluate(&input)["decision"], "undecided");
    input["authorizer"] = json!("authorizer: [{verbs: [get], resources: [pods]}]");
    assert_eq!(evaluate(&input)["mutations"][0]["result"], "changed");
    input["authorizer"] = json!("authorizer: []");
    assert_eq!(evaluate(&input)["mutations"], json!([]));
    let role = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: r}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: r}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]";
    input["cluster"] = json!([file("params", role)]);
    input["user"] = json!({"name": "ann"});
    assert_eq!(evaluate(&input)["mutations"][0]["result"], "changed");
}

#[test]
fn warnings_are_those_that_reach_the_user() {
    let twice = POLICY
        .replace("validationActions: [Deny]", "validationActions: [Warn]")
        .replace(
            "messageExpression: \"'no more than ' + string(variables.most)\"",
            "message: not ann",
        );
    let mut input = whole();
    input["policies"] = json!([file("policies", &twice)]);
    input["user"] = json!({"name": "ann"});
    let answer = evaluate(&input);
    assert_eq!(answer["decision"], "allowed", "{answer}");
    assert_eq!(answer["decisions"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 1, "{answer}");
}

/// The index of a snapshot with some fields.
fn index(fields: &str) -> Value {
    file(
        "snapshot",
        &format!("{{apiVersion: pratique/v1alpha1, kind: Snapshot, {fields}}}"),
    )
}

#[test]
fn the_index_of_a_snapshot_says_what_else_is_served() {
    let mut input = whole();
    input["object"] = json!(DEPLOYMENT.replace("apps/v1", "extensions/v1beta1"));
    let unknown = evaluate(&input);
    assert_eq!(unknown["decision"], "denied", "{unknown}");
    assert_eq!(unknown["status"]["code"], 404, "{unknown}");
    assert_eq!(unknown["notes"].as_array().unwrap().len(), 1, "{unknown}");
    input["cluster"].as_array_mut().unwrap().push(index(
        "served: [{apiVersion: extensions/v1beta1, kind: Deployment, resource: deployments, namespaced: true}]",
    ));
    let served = evaluate(&input);
    assert_eq!(served["decision"], "denied", "{served}");
    assert_eq!(served["notes"], json!([]), "{served}");
}

/// A definition that a server would refuse today may have been stored, by rules that were less strict; one of a version that no server
/// serves defines nothing.
#[test]
fn definitions_of_a_snapshot_were_stored() {
    let definition = |version: &str, rule: &str| {
        let text = format!(
            "{{apiVersion: apiextensions.k8s.io/{version}, kind: CustomResourceDefinition, metadata: {{name: stalls.example.com}}, \
             spec: {{group: example.com, scope: Namespaced, names: {{plural: stalls, singular: stall, kind: Stall, \
             listKind: StallList}}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, \
             x-kubernetes-validations: [{{rule: {rule}}}]}}}}}}]}}}}"
        );
        file("definition", &text)
    };
    let problems = |definition: &Value, is_stored: bool| {
        let mut input = whole();
        let cluster = input["cluster"].as_array_mut().unwrap();
        cluster.push(definition.clone());
        cluster.extend(is_stored.then(|| index("kinds: []")));
        evaluate(&input)["problems"].clone()
    };
    let refused = definition("v1", "self.a");
    assert_eq!(problems(&refused, true), json!([]));
    let told = problems(&refused, false);
    assert_eq!(told[0]["location"]["file"], "definition", "{told}");
    let told = problems(&definition("v1beta1", "'true'"), true);
    let message = told[0]["message"].as_str().unwrap();
    assert!(message.contains("is gone since Kubernetes 1.22"), "{told}");
}

#[test]
fn only_texts_of_a_snapshot_were_stored() {
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: stalls.example.com}, \
        spec: {group: example.com, scope: Namespaced, names: {plural: stalls, singular: stall, kind: Stall, listKind: StallList}, \
        versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, \
        x-kubernetes-validations: [{rule: self.a}]}}}]}}";
    let index = "apiVersion: pratique/v1alpha1\nkind: Snapshot\nkinds: [{apiVersion: v1, kind: Namespace, objects: 1, extent: all}]\n";
    let problems = |texts: [(&str, String); 2]| {
        let mut input = whole();
        input["cluster"] = texts.iter().map(|(path, text)| file(path, text)).collect();
        evaluate(&input)["problems"].clone()
    };
    let whole = || format!("{index}---\n{NAMESPACE}");
    // The snapshot is one text, or all texts of its directory.
    for texts in [
        [("s.yaml", whole()), ("new.yaml", definition.to_owned())],
        [
            ("s/snapshot.yaml", whole()),
            ("s/new.yaml", definition.to_owned()),
        ],
    ] {
        let told = problems(texts);
        assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
        assert!(
            told[0]["location"]["file"]
                .as_str()
                .unwrap()
                .ends_with("new.yaml"),
            "{told}"
        );
    }
    let all_of_it = || format!("{NAMESPACE}\n---\n{definition}");
    let texts = |path| [("s/snapshot.yaml", index.to_owned()), (path, all_of_it())];
    assert_eq!(problems(texts("s/new.yaml")), json!([]));
    // What is elsewhere is neither stored nor counted.
    let told = problems(texts("new.yaml"));
    let told: Vec<&str> = told
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|told| told["message"].as_str())
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told.iter()
            .any(|told| told.contains("0 of 1 objects of Namespace")),
        "{told:?}"
    );
}

#[test]
fn the_index_of_a_snapshot_says_of_which_kinds_all_objects_are_there() {
    let all = |kind: &str, objects: usize| {
        format!("{{apiVersion: v1, kind: {kind}, objects: {objects}, extent: all}}")
    };
    let decided = |objects: &[Value], kinds: &str| {
        let mut input = whole();
        let index = index(&format!("kinds: [{kinds}]"));
        input["cluster"] = objects.iter().cloned().chain([index]).collect();
        evaluate(&input)
    };
    let namespace = [file("namespace", NAMESPACE)];
    assert_eq!(decided(&namespace, "")["decision"], "undecided");
    assert_eq!(decided(&namespace, &all("ConfigMap", 0))["decision"], "denied");
    let lacking = decided(&namespace, &all("ConfigMap", 1));
    assert_eq!(lacking.get("decision"), None, "{lacking}");
    assert_eq!(
        lacking["problems"][0]["location"]["file"], "snapshot",
        "{lacking}"
    );
    let params = [file("params", LIMITS)];
    let decided = |kinds: &str| {
        let mut input = whole();
        input["object"] = json!(DEPLOYMENT.replace("7", "2"));
        input["cluster"] = json!([params[0], index(&format!("kinds: [{kinds}]"))]);
        evaluate(&input)["decision"].clone()
    };
    assert_eq!(decided(&all("ConfigMap", 1)), "undecided");
    let of_both = format!("{}, {}", all("ConfigMap", 1), all("Namespace", 0));
    // A namespace that is not there has no labels, and the policy fails.
    assert_eq!(decided(&of_both), "error");
}
