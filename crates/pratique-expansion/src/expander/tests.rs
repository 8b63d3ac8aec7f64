//! The Pods of each kind.

use super::*;

#[track_caller]
fn check(workload: &str, expected: &str) {
    let workload = pratique_json::parse(workload.as_bytes()).unwrap();
    let expander = Expander {
        templates: vec!["Rollout.argoproj.io=spec.template".parse().unwrap()],
    };
    let found = expander
        .pod(&workload)
        .map(|made| made.map(|made| made.pod.to_string()));
    let found = match found {
        Ok(Some(pod)) => pod,
        Ok(None) => "no workload".to_owned(),
        Err(error) => error.to_string(),
    };
    let expected = match pratique_json::parse(expected.as_bytes()) {
        Ok(expected) => expected.to_string(),
        Err(_) => expected.to_owned(),
    };
    assert_eq!(found, expected);
}

const UID: &str = "00000000-0000-0000-0000-000000000000";

fn reference(version: &str, kind: &str, name: &str) -> String {
    format!(
        r#"[{{"apiVersion":"{version}","kind":"{kind}","name":"{name}","uid":"{UID}","controller":true,"blockOwnerDeletion":true}}]"#
    )
}

#[test]
fn pods_of_replica_sets() {
    for (version, kind) in [
        ("apps/v1", "ReplicaSet"),
        ("v1", "ReplicationController"),
        ("argoproj.io/v1", "Rollout"),
    ] {
        check(
            &format!(
                r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"web","namespace":"shop"}},"spec":{{"template":{{
                "metadata":{{"name":"ignored","labels":{{"a":"b"}},"annotations":{{"c":"d"}},"finalizers":["e/f"]}},
                "spec":{{"serviceAccountName":"s","containers":[]}}}}}}}}"#
            ),
            &format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"labels":{{"a":"b"}},"annotations":{{"c":"d"}},
                "finalizers":["e/f"],"generateName":"web-","namespace":"shop","ownerReferences":{}}},
                "spec":{{"serviceAccountName":"s","containers":[]}}}}"#,
                reference(version, kind, "web")
            ),
        );
    }
}

#[test]
fn pods_of_deployments() {
    let workload = |image: &str| {
        let text = format!(
            r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web"}},"spec":{{"template":{{
            "spec":{{"containers":[{{"image":"{image}"}}]}}}}}}}}"#
        );
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    };
    let names = ["a", "b"].map(|image| {
        let workload = workload(image);
        let made = Expander::default().pod(&workload).unwrap().unwrap();
        let text = |path: &[&str]| made.pod.at(path).and_then(Value::as_str).unwrap().to_owned();
        let hash = text(&["metadata", "labels", "pod-template-hash"]);
        assert_eq!(text(&["metadata", "generateName"]), format!("web-{hash}-"));
        let owners = made.pod.at(&["metadata", "ownerReferences"]).unwrap().to_string();
        assert!(
            owners.contains(&format!(r#""kind":"ReplicaSet","name":"web-{hash}""#)),
            "{owners}"
        );
        hash
    });
    assert_ne!(names[0], names[1]);
}

#[test]
fn pods_of_stateful_sets() {
    check(
        r#"{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"serviceName":"dbs",
        "ordinals":{"start":3},"volumeClaimTemplates":[{"metadata":{"name":"data"}}],
        "template":{"spec":{"volumes":[{"name":"data","emptyDir":{}},{"name":"tmp","emptyDir":{}}]}}}}"#,
        &format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"generateName":"db-","name":"db-3","labels":{{
            "apps.kubernetes.io/pod-index":"3","controller-revision-hash":"db-{}","statefulset.kubernetes.io/pod-name":"db-3"}},
            "ownerReferences":{}}},"spec":{{"hostname":"db-3","subdomain":"dbs","volumes":[
            {{"name":"data","persistentVolumeClaim":{{"claimName":"data-db-3"}}}},{{"name":"tmp","emptyDir":{{}}}}]}}}}"#,
            {
                let template = pratique_json::parse(
                    br#"{"spec":{"volumes":[{"name":"data","emptyDir":{}},{"name":"tmp","emptyDir":{}}]}}"#,
                );
                hash(template.unwrap().as_object().unwrap())
            },
            reference("apps/v1", "StatefulSet", "db")
        ),
    );
}

#[test]
fn pods_of_daemon_sets() {
    let set = pratique_json::parse(
        br#"{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"log"},"spec":{"template":{"spec":{
        "hostNetwork":true,"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}]}}}}"#,
    )
    .unwrap();
    let made = Expander::default().pod(&set).unwrap().unwrap();
    assert_eq!(
        made.user,
        "system:serviceaccount:kube-system:daemon-set-controller"
    );
    let spec = made.pod.get("spec").unwrap();
    assert_eq!(spec.get("tolerations").unwrap().as_array().unwrap().len(), 7);
    let terms = "affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms";
    let terms: Vec<&str> = terms.split(' ').collect();
    assert_eq!(
        spec.at(&terms).unwrap().to_string(),
        r#"[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node"]}]}]"#
    );
    let generation = made.pod.at(&["metadata", "labels", "pod-template-generation"]);
    assert_eq!(generation.and_then(Value::as_str), Some("1"));
}

#[test]
fn pods_of_jobs() {
    let labels = |name: &str| {
        format!(
            r#""batch.kubernetes.io/controller-uid":"{UID}","batch.kubernetes.io/job-name":"{name}","controller-uid":"{UID}",
            "job-name":"{name}""#
        )
    };
    check(
        r#"{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"jobTemplate":{"spec":{"template":{"spec":{}}}}}}"#,
        &format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"generateName":"c-00000000-","labels":{{{}}},
            "finalizers":["batch.kubernetes.io/job-tracking"],"ownerReferences":{}}},"spec":{{}}}}"#,
            labels("c-00000000"),
            reference("batch/v1", "Job", "c-00000000")
        ),
    );
    check(
        r#"{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"completionMode":"Indexed",
        "backoffLimitPerIndex":1,"template":{"metadata":{"labels":{"job-name":"mine"}},"spec":{"containers":[{"name":"c"}]}}}}"#,
        &format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"generateName":"j-0-","labels":{{{},
            "batch.kubernetes.io/job-completion-index":"0"}},"annotations":{{"batch.kubernetes.io/job-completion-index":"0",
            "batch.kubernetes.io/job-index-failure-count":"0"}},"finalizers":["batch.kubernetes.io/job-tracking"],
            "ownerReferences":{}}},"spec":{{"hostname":"j-0","containers":[{{"name":"c","env":[{{"name":"JOB_COMPLETION_INDEX",
            "valueFrom":{{"fieldRef":{{"fieldPath":"metadata.labels['batch.kubernetes.io/job-completion-index']"}}}}}}]}}]}}}}"#,
            labels("j").replace(r#""job-name":"j""#, r#""job-name":"mine""#),
            reference("batch/v1", "Job", "j")
        ),
    );
}

#[test]
fn what_makes_no_pods() {
    check(r#"{"apiVersion":"v1","kind":"Pod","spec":{}}"#, "no workload");
    check(
        r#"{"apiVersion":"example.com/v1","kind":"Deployment","spec":{"template":{}}}"#,
        "no workload",
    );
    check(
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{}}"#,
        r#"no Pod is reviewed for Deployment "web": it has no Pod template at spec.template"#,
    );
}
