//! Events and what admission was asked.

use pratique_stream::{Limits, Splitter};

use crate::{EventRequests, LogEntry, LogReplayer, RecentObjects, ReplayResult, entries};

/// The fields of events, by a short name; all else is given by a test.
fn event(verb: &str, about: &str, uri: &str, code: i64, more: &str) -> String {
    let mut parts = about.split('/');
    let [group, version, resource, namespace, name, subresource] =
        [0; 6].map(|_| parts.next().unwrap_or_default());
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","auditID":"i","verb":"{verb}",
            "level":"RequestResponse","user":{{"username":"ann","groups":["g"]}},"requestURI":"{uri}",
            "objectRef":{{"apiGroup":"{group}","apiVersion":"{version}","resource":"{resource}","namespace":"{namespace}",
            "name":"{name}","subresource":"{subresource}"}},"responseStatus":{{"code":{code}}}{more}}}"#
    )
    .replace('\n', "")
}

fn shown(replayed: &ReplayResult<'_>) -> String {
    let requests = match &replayed.what {
        EventRequests::NotSubject(why) => return format!("not subject: {}", why.name()),
        EventRequests::Unknown(why, request) => {
            return format!(
                "unknown: {} ({} {})",
                why.name(),
                request.operation,
                request.resource.resource
            );
        }
        EventRequests::Requests(requests) => requests,
    };
    let requests = requests.iter().map(|replayed| {
        let request = &replayed.request;
        let approximations: Vec<&str> = replayed.approximations.iter().map(|close| close.name()).collect();
        let old = if request.lacks_old_object {
            "?".to_owned()
        } else {
            request.old_object.to_string()
        };
        format!(
            "{:?} {} {} {}/{} {} old {old}, options {}, dry run {:?}, {approximations:?}",
            replayed.seen,
            request.operation,
            request.kind.kind,
            request.namespace,
            request.name,
            request.object,
            request.options,
            request.dry_run.unwrap_or_default(),
        )
    });
    requests.collect::<Vec<_>>().join("; ")
}

fn replay_all(log: &str, mut remembered: Option<&mut RecentObjects>) -> Vec<String> {
    let replayer = LogReplayer::default();
    let mut found = Vec::new();
    for piece in Splitter::new(log.as_bytes(), Limits::default()) {
        for located in entries(&piece.unwrap()) {
            let entry: LogEntry<'_> = located.entry.unwrap();
            found.push(shown(&replayer.replay(entry, remembered.as_deref_mut())));
        }
    }
    found
}

#[track_caller]
fn check(event: &str, expected: &str) {
    assert_eq!(replay_all(event, None), [expected]);
}

const CONFIG_MAPS: &str = "/v1/configmaps/a/b";
const OBJECT: &str = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"b","namespace":"a"}}"#;

#[test]
fn creations_are_known() {
    let more = format!(r#","requestObject":{OBJECT}"#);
    let uri = "/api/v1/namespaces/a/configmaps?dryRun=All&fieldManager=m";
    check(
        &event("create", CONFIG_MAPS, uri, 201, &more),
        r#"Decoded CREATE ConfigMap a/b {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"a"}} old null, options {"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"fieldManager":"m","kind":"CreateOptions"}, dry run true, []"#,
    );
    // A custom resource without a definition says itself what it is.
    let more = r#","requestObject":{"kind":"Widget","apiVersion":"example.com/v1"}"#;
    check(
        &event(
            "create",
            "example.com/v1/widgets/a/b",
            "/apis/example.com/v1/namespaces/a/widgets",
            201,
            more,
        ),
        r#"Decoded CREATE Widget a/b {"apiVersion":"example.com/v1","kind":"Widget"} old null, options {"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}, dry run false, []"#,
    );
    let webhook =
        r#","annotations":{"mutation.webhook.admission.k8s.io/round_0_index_0":"{\"mutated\":true}"}"#;
    let more = format!(r#"{webhook},"requestObject":{{"kind":"Namespace","apiVersion":"v1"}}"#);
    check(
        &event("create", "/v1/namespaces//n", "/api/v1/namespaces", 201, &more),
        r#"Decoded CREATE Namespace n/n {"apiVersion":"v1","kind":"Namespace"} old null, options {"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}, dry run false, ["webhooks"]"#,
    );
}

#[test]
fn requests_that_do_not_reach_admission() {
    let about = CONFIG_MAPS;
    let check = |verb, code, more: &str, expected: &str| {
        check(
            &event(verb, about, "/", code, more),
            &format!("not subject: {expected}"),
        );
    };
    for verb in ["get", "list", "watch"] {
        check(verb, 200, "", "readOnly");
    }
    check("create", 401, "", "unauthorized");
    check(
        "create",
        403,
        r#","annotations":{"authorization.k8s.io/decision":"forbid"}"#,
        "unauthorized",
    );
    check(
        "update",
        404,
        &format!(r#","requestObject":{OBJECT}"#),
        "notFound",
    );
    check("delete", 404, "", "notFound");
    check("create", 400, "", "notDecoded");
    let stage = event("create", about, "/", 201, "").replace("ResponseComplete", "RequestReceived");
    self::check(&stage, "not subject: stage");
    let path = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":"get"}"#;
    self::check(path, "not subject: nonResource");
}

#[test]
fn what_an_event_does_not_hold_is_unknown() {
    let unknown = |event: &str, why: &str| {
        check(event, &format!("unknown: {why}"));
    };
    let metadata = |verb| event(verb, CONFIG_MAPS, "/", 200, "").replace("RequestResponse", "Metadata");
    unknown(&metadata("create"), "level (CREATE configmaps)");
    unknown(&metadata("patch"), "level (UPDATE configmaps)");
    unknown(&metadata("deletecollection"), "level (DELETE configmaps)");
    let truncated = r#","annotations":{"audit.k8s.io/truncated":"true"}"#;
    unknown(
        &event("update", CONFIG_MAPS, "/", 200, truncated),
        "truncated (UPDATE configmaps)",
    );
    unknown(
        &event("create", CONFIG_MAPS, "/", 201, ""),
        "noObject (CREATE configmaps)",
    );
    let patch = r#","requestObject":{"data":{"a":"b"}}"#;
    unknown(
        &event("patch", CONFIG_MAPS, "/", 200, patch),
        "patchedObject (UPDATE configmaps)",
    );
    unknown(
        &event("deletecollection", CONFIG_MAPS, "/", 200, ""),
        "collection (DELETE configmaps)",
    );
    unknown(&event("defrost", CONFIG_MAPS, "/", 200, ""), "verb ( configmaps)");
}

#[test]
fn connections_stand_in_the_address() {
    let uri = "/api/v1/namespaces/a/pods/b/exec?command=sh&command=-l&stdin=true&container=c&x=y";
    let about = "/v1/pods/a/b/exec";
    let expected = r#"Admitted CONNECT PodExecOptions a/b {"apiVersion":"v1","command":["sh","-l"],"container":"c","kind":"PodExecOptions","stdin":true} old null, options null, dry run false, []"#;
    for verb in ["get", "create"] {
        check(&event(verb, about, uri, 101, ""), expected);
    }
    let uri = "/api/v1/nodes/n/proxy/metrics?path=evil";
    check(
        &event("get", "/v1/nodes//n/proxy", uri, 200, ""),
        r#"Admitted CONNECT NodeProxyOptions /n {"apiVersion":"v1","kind":"NodeProxyOptions","path":"/metrics"} old null, options null, dry run false, []"#,
    );
}

#[test]
fn old_objects_are_unknown_unless_they_are_remembered() {
    let stored = |version: &str, data: &str| {
        format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"b","namespace":"a","uid":"u","resourceVersion":"{version}"}},"data":{{{data}}}}}"#
        )
    };
    let uri = "/api/v1/namespaces/a/configmaps/b";
    let create = event(
        "create",
        CONFIG_MAPS,
        "/",
        201,
        &format!(
            r#","requestObject":{OBJECT},"responseObject":{}"#,
            stored("1", "")
        ),
    );
    let update = event(
        "update",
        CONFIG_MAPS,
        uri,
        200,
        &format!(
            r#","requestObject":{},"responseObject":{}"#,
            stored("1", r#""x":"1""#),
            stored("2", r#""x":"1""#)
        ),
    );
    let stale = event(
        "update",
        CONFIG_MAPS,
        uri,
        409,
        &format!(r#","requestObject":{}"#, stored("1", r#""y":"1""#)),
    );
    let patch = event(
        "patch",
        CONFIG_MAPS,
        uri,
        200,
        &format!(
            r#","requestObject":{{"data":{{"z":"1"}}}},"responseObject":{}"#,
            stored("3", r#""x":"1","z":"1""#)
        ),
    );
    let json = event(
        "patch",
        CONFIG_MAPS,
        uri,
        403,
        r#","requestObject":[{"op":"remove","path":"/data/x"}]"#,
    );
    let delete = event(
        "delete",
        CONFIG_MAPS,
        uri,
        200,
        r#","requestObject":{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]},"responseObject":{"kind":"Status"}"#,
    );
    let log = [&create, &update, &stale, &patch, &json, &delete]
        .map(String::as_str)
        .join("\n");

    let found = replay_all(&log, None);
    assert!(
        found[1].contains(" old ?,") && found[1].ends_with(r#"["asSent"]"#),
        "{}",
        found[1]
    );
    assert!(
        found[3].starts_with("Admitted UPDATE ConfigMap a/b") && found[3].ends_with(r#"["stored"]"#),
        "{}",
        found[3]
    );
    assert_eq!(found[4], "unknown: patchedObject (UPDATE configmaps)");
    assert!(
        found[5].contains("DELETE") && found[5].contains(" old ?,") && found[5].contains("dry run true, []"),
        "{}",
        found[5]
    );

    let mut remembered = RecentObjects::within(1 << 20);
    let found = replay_all(&log, Some(&mut remembered));
    assert!(
        found[1].starts_with("Decoded UPDATE") && found[1].ends_with("dry run false, []"),
        "{}",
        found[1]
    );
    assert!(found[1].contains(r#"old {"apiVersion":"v1","data":{},"kind":"ConfigMap","metadata":{"name":"b","namespace":"a","resourceVersion":"1""#));
    assert!(
        found[2].ends_with(r#"["asSent"]"#),
        "what it replaces is another version: {}",
        found[2]
    );
    assert!(
        found[3].starts_with("Decoded UPDATE ConfigMap a/b")
            && found[3].contains(r#""data":{"x":"1","z":"1"}"#),
        "{}",
        found[3]
    );
    assert!(found[3].ends_with(r#"["lastSeen"]"#));
    assert!(found[4].contains(r#""data":{"z":"1"}"#), "{}", found[4]);
    assert!(
        found[5].contains(r#"old {"apiVersion":"v1","data":{"x":"1","z":"1"}"#),
        "{}",
        found[5]
    );
}

#[test]
fn a_patch_of_a_scale_changes_a_scale() {
    let workload = r#"{"kind":"ReplicationController","apiVersion":"v1","metadata":{"name":"b","namespace":"a","uid":"u","resourceVersion":"1"},"spec":{"replicas":2,"selector":{"a":"b"}}}"#;
    let (reference, uri) = (
        "/v1/replicationcontrollers/a/b",
        "/api/v1/namespaces/a/replicationcontrollers/b",
    );
    let get = event(
        "get",
        reference,
        uri,
        200,
        &format!(r#","responseObject":{workload}"#),
    );
    let patch = event(
        "patch",
        "/v1/replicationcontrollers/a/b/scale",
        &format!("{uri}/scale"),
        403,
        r#","requestObject":{"spec":{"replicas":4}}"#,
    );
    let log = format!("{get}\n{patch}");
    let found = replay_all(&log, Some(&mut RecentObjects::within(1 << 20)));
    let (new, old) = found[1].split_once(" old ").expect(&found[1]);
    assert!(
        new.contains(r#""kind":"Scale""#) && new.contains(r#""spec":{"replicas":4}"#),
        "{new}"
    );
    assert!(
        old.contains(r#""kind":"Scale""#) && old.contains(r#""spec":{"replicas":2}"#),
        "{old}"
    );
}

#[test]
fn patches_whose_type_matters_are_unknown() {
    let pod = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"a","uid":"u","resourceVersion":"1"},"spec":{"containers":[{"name":"c","image":"x"},{"name":"d","image":"y"}]}}"#;
    let get = event(
        "get",
        "/v1/pods/a/b",
        "/api/v1/namespaces/a/pods/b",
        200,
        &format!(r#","responseObject":{pod}"#),
    );
    let patch = |patch: &str| {
        event(
            "patch",
            "/v1/pods/a/b",
            "/api/v1/namespaces/a/pods/b",
            403,
            &format!(r#","requestObject":{patch}"#),
        )
    };
    let check = |patched: &str, expected: &str| {
        let log = format!("{get}\n{}", patch(patched));
        let found = replay_all(&log, Some(&mut RecentObjects::within(1 << 20)));
        assert!(found[1].starts_with(expected), "{}", found[1]);
    };
    check(r#"{"metadata":{"labels":{"a":"b"}}}"#, "Decoded UPDATE Pod a/b");
    // A merge patch replaces the list; a strategic one changes a container.
    check(
        r#"{"spec":{"containers":[{"name":"c","image":"z"}]}}"#,
        "unknown: patchType (UPDATE pods)",
    );
    check(
        r#"[{"op":"test","path":"/spec/x","value":1}]"#,
        "unknown: patch (UPDATE pods)",
    );
}

#[test]
fn a_configuration_that_is_applied_creates_an_object() {
    let uri = "/api/v1/namespaces/a/configmaps/b?fieldManager=ann&force=true";
    let applied = format!(r#","requestObject":{OBJECT}"#);
    let found = replay_all(&event("patch", CONFIG_MAPS, uri, 201, &applied), None);
    assert!(
        found[0].starts_with("Decoded CREATE ConfigMap a/b {"),
        "{}",
        found[0]
    );
    assert!(found[0].contains(
        r#"old null, options {"apiVersion":"meta.k8s.io/v1","fieldManager":"ann","kind":"CreateOptions"}"#
    ));
}

#[test]
fn a_collection_is_one_request_for_each_object() {
    let list = r#","responseObject":{"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"x","namespace":"a","deletionTimestamp":"t"}},{"metadata":{"name":"y","namespace":"a"}}]}"#;
    check(
        &event(
            "deletecollection",
            "/v1/configmaps/a",
            "/api/v1/namespaces/a/configmaps",
            200,
            list,
        ),
        r#"Admitted DELETE ConfigMap a/ null old {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"a"}}, options {"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}, dry run false, ["deleted"]; Admitted DELETE ConfigMap a/ null old {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"y","namespace":"a"}}, options {"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}, dry run false, ["deleted"]"#,
    );
}

/// An entry of Google Cloud Logging, which has no parameters and no code.
fn google(verb: &str, part: &str, request: &str, response: &str) -> String {
    format!(
        r#"{{"protoPayload":{{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","serviceName":"k8s.io",
            "methodName":"io.k8s.core.v1.configmaps.{verb}","resourceName":"core/v1/namespaces/a/configmaps/b{part}",
            "authenticationInfo":{{"principalEmail":"ann"}},"request":{request},"response":{response}}},
            "insertId":"i","timestamp":"2026-01-01T10:00:00.5Z"}}"#
    )
    .replace('\n', "")
}

#[test]
fn whether_an_object_was_there_is_told_by_the_answer() {
    let stored =
        |created: &str| OBJECT.replace("\"b\",", &format!("\"b\",\"creationTimestamp\":\"{created}\","));
    let details = ["unknown: details (UPDATE configmaps)"];
    for (verb, request) in [("patch", r#"{"data":{"c":"d"}}"#), ("update", OBJECT)] {
        // It may have been created by the request.
        for response in ["null", OBJECT, &stored("2026-01-01T09:59:30Z"), &stored("x")] {
            assert_eq!(
                replay_all(&google(verb, "", request, response), None),
                details,
                "{response}"
            );
        }
        let told = replay_all(&google(verb, "", request, &stored("2026-01-01T09:50:00Z")), None);
        assert!(told[0].contains(" UPDATE ConfigMap a/b "), "{told:?}");
        assert!(told[0].contains(" old ?, "), "{told:?}");
    }
    // What is about a part changes what is there.
    let told = replay_all(&google("patch", "/status", "{}", &stored("x")), None);
    assert!(told[0].contains(" UPDATE ConfigMap a/b "), "{told:?}");
    // Of which type a patch is, is left out as well.
    let mut remembered = RecentObjects::within(1 << 20);
    let log = [
        google("create", "", OBJECT, &stored("2026-01-01T09:00:00Z")),
        google("patch", "/status", r#"{"data":{"c":"d"}}"#, "null"),
    ];
    let told = replay_all(&log.join("\n"), Some(&mut remembered));
    assert_eq!(told[1], "unknown: patchType (UPDATE configmaps)");
}

#[test]
fn who_asks_for_a_certificate_is_a_detail() {
    let of = |verb: &str, part: &str, resource: &str, kind: &str| {
        let object = format!(
            r#"{{"kind":"{kind}","apiVersion":"certificates.k8s.io/v1","metadata":{{"name":"b"}},"spec":{{}}}}"#
        );
        let path = format!("certificates.k8s.io/v1/{resource}/");
        google(verb, part, &object, "null").replace("core/v1/namespaces/a/configmaps/", &path)
    };
    let (requests, kind) = ("certificatesigningrequests", "CertificateSigningRequest");
    // The server writes all groups of the user into the object.
    check(
        &of("create", "", requests, kind),
        "unknown: details (CREATE certificatesigningrequests)",
    );
    // Later requests change nothing of that, and other objects do not have it.
    let told = replay_all(&of("update", "/approval", requests, kind), None);
    assert!(
        told[0].contains(" UPDATE CertificateSigningRequest /b "),
        "{told:?}"
    );
    let told = replay_all(
        &of("create", "", "clustertrustbundles", "ClusterTrustBundle"),
        None,
    );
    assert!(
        told[0].starts_with("Decoded CREATE ClusterTrustBundle /b "),
        "{told:?}"
    );
    // An audit log of a server has all of the user.
    let object =
        r#","requestObject":{"kind":"CertificateSigningRequest","apiVersion":"certificates.k8s.io/v1"}"#;
    let about = "certificates.k8s.io/v1/certificatesigningrequests//b";
    let uri = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let told = replay_all(&event("create", about, uri, 201, object), None);
    assert!(
        told[0].starts_with("Decoded CREATE CertificateSigningRequest /b "),
        "{told:?}"
    );
}
