//! Addresses and ports of Services, which a server allocates.

use crate::support::Directory;
use crate::validation::REMOVAL;

fn service(name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: shop}}, spec: {{{spec}}}}}\n---\n"
    )
}

#[test]
fn what_a_server_allocates_is_undecided_without_the_services_of_the_cluster() {
    let services = [
        service("a", "type: NodePort, ports: [{port: 80, nodePort: 30080}]"),
        service("b", "clusterIP: 10.96.0.10, ports: [{port: 80}]"),
        service("c", "clusterIP: None, ports: [{port: 80}]"),
        service("d", "type: NodePort, ports: [{port: 80}]"),
    ];
    let directory = Directory::new().with("services.yaml", services.concat());
    let run = directory.run(&["review", "services.yaml"]);
    run.exits(3).shows(&[
        "CREATE services shop/a: undecided",
        "CREATE services shop/b: undecided",
        "CREATE services shop/c: allowed",
        "CREATE services shop/d: allowed",
        "Service objects are not known",
        "--none services",
    ]);
    let run = directory.run(&["review", "--none", "services", "services.yaml"]);
    run.exits(3).shows(&[
        "CREATE services shop/a: allowed",
        "CREATE services shop/b: undecided",
        "ServiceCIDR.networking.k8s.io objects are not known",
    ]);
    let run = directory.run(&["review", "--validation", "off", "services.yaml"]);
    run.exits(0);
    // One that was taken from a cluster has what it names, unless another one is known to have it.
    let taken = services[0].replace("name: a,", "name: a, uid: u,");
    let other = service("z", "type: NodePort, ports: [{port: 80, nodePort: 30080}]");
    let directory = Directory::new()
        .with("services.yaml", taken)
        .with("other.yaml", other);
    directory.run(&["review", "services.yaml"]).exits(0);
    directory
        .run(&["review", "--objects", "other.yaml", "services.yaml"])
        .exits(1)
        .shows(&["nodePort: Invalid value: 30080: provided port is already allocated"]);
}

#[test]
fn the_services_of_the_cluster_decide_about_addresses_and_ports() {
    let state = [
        service("a", "type: NodePort, clusterIP: 10.96.0.10, ports: [{port: 80, nodePort: 30080}]"),
        "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, spec: {cidrs: [10.96.0.0/16]}}\n---\n".to_owned(),
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n".to_owned(),
    ];
    let services = [
        service("b", "type: NodePort, ports: [{port: 80, nodePort: 30080}]"),
        service("c", "clusterIP: 10.96.0.10, ports: [{port: 80}]"),
        service("d", "clusterIP: 10.97.0.10, ports: [{port: 80}]"),
        service(
            "e",
            "clusterIP: 10.96.0.11, type: NodePort, ports: [{port: 80, nodePort: 30081}]",
        ),
        service("f", "type: NodePort, ports: [{port: 80, nodePort: 80}]"),
        service(
            "g",
            "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30080, ports: [{port: 80}]",
        ),
        // It has what it asks for itself.
        service(
            "a",
            "type: NodePort, clusterIP: 10.96.0.10, ports: [{port: 80, nodePort: 30080}]",
        ),
    ];
    let directory = Directory::new()
        .with("state.yaml", state.concat())
        .with("services.yaml", services.concat());
    let run = directory.run(&[
        "review",
        "--objects",
        "state.yaml",
        "--objects-complete",
        "services.yaml",
    ]);
    run.exits(1).shows(&[
        "shop/b: denied (422 Invalid)",
        "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated",
        "shop/c: denied (422 Invalid)",
        "spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: failed to allocate IP 10.96.0.10: provided IP is already allocated",
        "shop/d: denied (422 Invalid)",
        "failed to allocate IP 10.97.0.10: the provided network does not match the current range",
        "shop/e: allowed",
        "shop/f: undecided",
        "shop/g: denied by the server itself (500 InternalError)",
        "failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated",
        "shop/a: allowed",
    ]);
    // Of some Services it is known that they have an address.
    let run = directory.run(&["review", "--objects", "state.yaml", "services.yaml"]);
    run.exits(1)
        .shows(&["shop/b: denied (422 Invalid)", "shop/e: undecided"]);
}

#[test]
fn what_one_service_gets_those_after_it_do_not() {
    const CLUSTER: &str = "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, \
        spec: {cidrs: [10.96.0.0/16]}}\n";
    let services = [
        service(
            "a",
            "type: NodePort, ports: [{port: 80, nodePort: 30080, name: a}, {port: 81, nodePort: 30081, name: b}]",
        ),
        service("b", "clusterIP: 10.96.0.10, ports: [{port: 80}]"),
        service("c", "type: NodePort, ports: [{port: 80, nodePort: 30081}]"),
        service("d", "clusterIP: 10.96.0.10, ports: [{port: 80}]"),
        service(
            "e",
            "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30080, ports: [{port: 80}]",
        ),
        // It is refused, and gets nothing.
        service("f", "type: NodePort, ports: [{port: 99999, nodePort: 30090}]"),
        service("g", "type: NodePort, ports: [{port: 80, nodePort: 30090}]"),
    ];
    let mut directory = Directory::new().with("cluster.yaml", CLUSTER);
    // Each in a file of its own, so that they are read by several threads.
    for (service, name) in services.iter().zip("abcdefg".chars()) {
        directory = directory.with(&format!("services/{name}.yaml"), service.as_str());
    }
    let decided = [
        "shop/a: allowed",
        "shop/b: allowed",
        "shop/c: denied (422 Invalid)",
        "spec.ports[0].nodePort: Invalid value: 30081: provided port is already allocated",
        "shop/d: denied (422 Invalid)",
        "failed to allocate IP 10.96.0.10: provided IP is already allocated",
        "shop/e: denied",
        "(500 InternalError)",
        "failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated",
        "shop/f: denied (422 Invalid)",
        "shop/g: allowed",
    ];
    let known = ["--objects", "cluster.yaml", "--objects-complete", "services"];
    for chain in ["--chain=off", "--chain=on"] {
        let run = directory.run(&[&["review", chain], &known[..]].concat());
        run.exits(1).shows(&decided);
    }
    // A scan lists what is not allowed.
    let scan = |more: &[&str]| {
        let run = directory.run(&[&["scan", "-o", "ndjson"], more, &known[..]].concat());
        let decisions = run.stdout.lines().filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(format!(
                "{} {}",
                line["name"].as_str()?,
                line["decision"].as_str()?
            ))
        });
        decisions.collect::<Vec<_>>()
    };
    assert_eq!(scan(&[]), ["c denied", "d denied", "e denied", "f denied"]);
    // Other parts of a scan may store others.
    let parts = [scan(&["--shard", "0/2"]), scan(&["--shard", "1/2"])].concat();
    assert!(parts.contains(&"a undecided".to_owned()), "{parts:?}");
    // Where others may exist, the one port is taken by the first or by one of these.
    let twice = [
        service("a", "type: NodePort, ports: [{port: 80, nodePort: 30080}]"),
        service("b", "type: NodePort, ports: [{port: 80, nodePort: 30080}]"),
    ];
    let run = Directory::new()
        .with("services.yaml", twice.concat())
        .run(&["review", "services.yaml"]);
    run.exits(1).shows(&[
        "shop/a: undecided",
        "shop/b: denied (422 Invalid)",
        "provided port is already allocated",
    ]);
}

#[test]
fn families_of_addresses_are_those_of_the_cluster() {
    let cluster = |networks: &str| {
        format!(
            "{{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {{name: kubernetes}}, spec: {{cidrs: [{networks}]}}}}\n"
        )
    };
    let services = [
        service("a", "ipFamilyPolicy: RequireDualStack, ports: [{port: 80}]"),
        service("b", "ipFamilies: [IPv6], ports: [{port: 80}]"),
        service("c", "ipFamilyPolicy: PreferDualStack, ports: [{port: 80}]"),
        service("d", "ipFamilies: [IPv4], ports: [{port: 80}]"),
    ];
    let directory = Directory::new()
        .with("services.yaml", services.concat())
        .with("one.yaml", cluster("10.96.0.0/16"))
        .with("two.yaml", cluster("10.96.0.0/16, 'fd00:10:96::/112'"));
    directory.run(&["review", "services.yaml"]).exits(3).shows(&[
        "shop/a: undecided",
        "shop/b: undecided",
        "shop/c: allowed",
        "shop/d: allowed",
        "ServiceCIDR.networking.k8s.io objects are not known",
    ]);
    let review = |state| {
        directory.run(&[
            "review",
            "--objects-complete",
            "--objects",
            state,
            "services.yaml",
        ])
    };
    review("two.yaml").exits(0);
    review("one.yaml").exits(1).shows(&[
        "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack services",
        "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        "shop/c: allowed",
        "shop/d: allowed",
    ]);
}

#[test]
fn ports_of_a_service_itself_are_taken() {
    let old = service(
        "a",
        "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30090, ports: [{port: 80, nodePort: 30080}]",
    );
    let cluster = service(
        "b",
        "type: LoadBalancer, externalTrafficPolicy: Cluster, ports: [{port: 80, nodePort: 30070}]",
    );
    let new = [
        // Its own port for health checks, as one of its ports.
        service(
            "a",
            "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30090, \
             ports: [{port: 80, nodePort: 30080}, {port: 81, nodePort: 30090, name: b}]",
        ),
        // One of its ports, for health checks.
        service(
            "b",
            "type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 30070, ports: [{port: 80, nodePort: 30071}]",
        ),
    ];
    let directory = Directory::new()
        .with("old.yaml", [old, cluster].concat())
        .with("new.yaml", new.concat());
    let run = directory.run(&["review", "--none", "services", "--old", "old.yaml", "new.yaml"]);
    run.exits(1).shows(&[
        "spec.ports[1].nodePort: Invalid value: 30090: provided port is already allocated",
        "failed to allocate requested HealthCheck NodePort 30070: provided port is already allocated",
    ]);
}

#[test]
fn a_service_keeps_what_its_manifest_leaves_out() {
    let stored = service("a", "type: NodePort, ports: [{port: 80, nodePort: 30080}]");
    let state = [
        stored.as_str(),
        "{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, spec: {cidrs: [10.96.0.0/16]}}\n---\n",
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n",
    ];
    let kept = service("a", "type: NodePort, ports: [{port: 80}]");
    let given_back = service("a", "ports: [{port: 80}]");
    let other = service("b", "type: NodePort, ports: [{port: 80, nodePort: 30080}]");
    let directory = Directory::new()
        .with("old.yaml", stored.as_str())
        .with("state.yaml", state.concat())
        .with("kept.yaml", [kept, other.clone()].concat())
        .with("back.yaml", [given_back, other].concat());
    let of_cluster: &[&str] = &["--objects", "state.yaml", "--objects-complete"];
    let of_request: &[&str] = &["--none", "services", "--old", "old.yaml"];
    for chain in ["--chain=off", "--chain=on"] {
        let run = directory.run(&[&["review", chain], of_cluster, &["kept.yaml"]].concat());
        run.exits(1).shows(&[
            "shop/a: allowed",
            "shop/b: denied (422 Invalid)",
            "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated",
        ]);
        let run = directory.run(&[&["review", chain], of_cluster, &["back.yaml"]].concat());
        run.exits(0).shows(&["shop/a: allowed", "shop/b: allowed"]);
    }
    let run = directory.run(&[&["review"], of_request, &["kept.yaml"]].concat());
    run.exits(1)
        .shows(&["shop/a: allowed", "shop/b: denied (422 Invalid)"]);
}

#[test]
fn what_a_policy_makes_of_a_service_may_be_unknown() {
    // What it does with one Service depends on its namespace.
    let policy = REMOVAL.replace("[pods]", "[services]").replace(
        "'[JSONPatch{op: \"remove\", path: \"/spec/volumes\"}]'",
        "'object.metadata.name == \"a\" && namespaceObject.metadata.labels[\"x\"] == \"y\" \
         ? [JSONPatch{op: \"remove\", path: \"/spec/externalIPs\"}] : []'",
    );
    let services = [
        service("a", "type: NodePort, ports: [{port: 80, nodePort: 30080}]"),
        service("b", "type: NodePort, ports: [{port: 80, nodePort: 30080}]"),
        service("c", "ports: [{port: 80}]"),
    ];
    let directory = Directory::new()
        .with("policy.yaml", policy)
        .with("services.yaml", services.concat());
    let review = [
        "review",
        "--policies",
        "policy.yaml",
        "--none",
        "services",
        "services.yaml",
    ];
    directory.run(&review).exits(3).shows(&[
        "shop/a: undecided",
        "shop/b: undecided",
        "Service objects are not known",
        "shop/c: allowed",
    ]);
}

#[test]
fn the_service_of_a_review_may_be_stored() {
    const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"705ab4f5",
        "kind":{"group":"","version":"v1","kind":"Service"},"resource":{"group":"","version":"v1","resource":"services"},
        "name":"a","namespace":"shop","operation":"CREATE","userInfo":{"username":"ann"},"dryRun":false,
        "object":{"apiVersion":"v1","kind":"Service","metadata":{"name":"a","namespace":"shop"},
            "spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30080}]}}}}"#;
    let service = service("b", "type: NodePort, ports: [{port: 80, nodePort: 30080}]");
    let directory = Directory::new()
        .with("review.json", REVIEW)
        .with(
            "status.json",
            REVIEW.replace("\"dryRun\"", "\"subResource\":\"status\",\"dryRun\""),
        )
        .with("service.yaml", service);
    let review = |review| directory.run(&["review", "--none", "services", review, "service.yaml"]);
    review("review.json")
        .exits(3)
        .shows(&["shop/b: undecided", "Service objects are not known"]);
    // A status has no port.
    review("status.json").shows(&["shop/b: allowed"]);
}
