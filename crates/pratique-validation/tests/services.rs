//! What a Service asks for, beside what is known of the others of its cluster.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::time::{Duration, Instant};

use pratique_json::Value;
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, ServiceState, Validator, allocations, count_asked};

fn parse(text: &str) -> Value<'static> {
    pratique_json::parse(text.as_bytes()).unwrap().into_owned()
}

/// A Service as it is prepared: with a family for its address.
fn service(name: &str, spec: &str) -> Value<'static> {
    parse(&format!(
        r#"{{"metadata": {{"name": "{name}", "namespace": "shop"}}, "spec": {{"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
            "sessionAffinity": "None", "internalTrafficPolicy": "Cluster", {spec}}}}}"#
    ))
}

fn node_port(name: &str, port: i64) -> Value<'static> {
    let spec = format!(
        r#""type": "NodePort", "externalTrafficPolicy": "Cluster",
           "ports": [{{"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": {port}}}]"#
    );
    service(name, &spec)
}

fn with_address(name: &str, address: &str) -> Value<'static> {
    let spec = format!(
        r#""type": "ClusterIP", "clusterIP": "{address}", "clusterIPs": ["{address}"],
           "ports": [{{"port": 80, "protocol": "TCP", "targetPort": 80}}]"#
    );
    service(name, &spec)
}

/// What is known of a cluster.
struct Known {
    services: Vec<Value<'static>>,
    has_all: bool,
    networks: Vec<Value<'static>>,
    is_of_cluster: bool,
}

impl Known {
    fn validate(&self, object: &Value<'_>, is_dry_run: bool) -> String {
        self.validate_beside(object, &Value::Null, is_dry_run)
    }

    fn validate_beside(&self, object: &Value<'_>, old: &Value<'_>, is_dry_run: bool) -> String {
        let services: Vec<&Value<'_>> = self.services.iter().collect();
        let networks: Vec<&Value<'_>> = self.networks.iter().collect();
        let state = ServiceState {
            sent: object,
            services: &services,
            has_all_services: self.has_all,
            networks: &networks,
            is_of_cluster: self.is_of_cluster,
        };
        let kind = GroupVersionKind::new("", "v1", "Service");
        let mut candidate = Candidate::new(&kind, object).among_services(state);
        if is_dry_run {
            candidate = candidate.in_dry_run();
        }
        let result = if old.is_null() {
            Validator::new().create(&candidate)
        } else {
            Validator::new().update(&candidate, old)
        };
        match result {
            Ok(()) => "accepted".to_owned(),
            Err(Rejection::Invalid(status)) => status.message,
            Err(rejection) => rejection.to_string(),
        }
    }
}

fn network(cidr: &str, status: &str) -> Value<'static> {
    parse(&format!(
        r#"{{"metadata": {{"name": "n"}}, "spec": {{"cidrs": ["{cidr}"]}}{status}}}"#
    ))
}

/// To compare each port with each takes minutes.
#[test]
fn very_many_ports_are_looked_up() {
    const COUNT: usize = 20_000;
    let with_ports = |name: &str, first: usize| {
        let ports = (0..COUNT).map(|at| {
            let (port, node) = (at + 1, first + at);
            format!(r#"{{"name": "p{at}", "port": {port}, "protocol": "TCP", "targetPort": 80, "nodePort": {node}}}"#)
        });
        let ports: Vec<String> = ports.collect();
        let spec = format!(
            r#""type": "NodePort", "externalTrafficPolicy": "Cluster", "ports": [{}]"#,
            ports.join(",")
        );
        service(name, &spec)
    };
    let known = Known {
        services: vec![with_ports("other", 30_000)],
        has_all: true,
        networks: vec![network("10.0.0.0/24", "")],
        is_of_cluster: false,
    };
    let begun = Instant::now();
    assert_eq!(known.validate(&with_ports("a", 1), true), "accepted");
    let message = known.validate(&with_ports("a", 10_001), true);
    assert!(
        message.contains("nodePort: Invalid value: 30000: provided port is already allocated"),
        "{message}"
    );
    let elapsed = begun.elapsed();
    assert!(elapsed < Duration::from_secs(30), "{elapsed:?}");
}

#[test]
fn ports_of_nodes_are_given_once() {
    let mut known = Known {
        services: vec![node_port("a", 30080)],
        has_all: true,
        networks: Vec::new(),
        is_of_cluster: false,
    };
    let taken = "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated";
    assert_eq!(known.validate(&node_port("b", 30080), false), taken);
    assert_eq!(known.validate(&node_port("b", 30080), true), taken);
    assert_eq!(known.validate(&node_port("a", 30080), false), "accepted");
    assert_eq!(known.validate(&node_port("b", 30081), false), "accepted");
    let beyond = known.validate(&node_port("b", 80), false);
    assert!(beyond.contains("--service-node-port-range"), "{beyond}");
    known.has_all = false;
    let unknown = known.validate(&node_port("b", 30081), false);
    assert!(unknown.contains("which another one may have"), "{unknown}");
}

#[test]
fn addresses_are_given_once_and_of_a_network() {
    let ready = r#", "status": {"conditions": [{"type": "Ready", "status": "False"}]}"#;
    let mut known = Known {
        services: vec![with_address("a", "10.0.0.7")],
        has_all: true,
        networks: vec![network("10.0.0.0/24", ""), network("10.1.0.0/24", ready)],
        is_of_cluster: false,
    };
    let refused = |address: &str, detail: &str| {
        format!(
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"{address}\"]: failed to allocate IP {address}: {detail}"
        )
    };
    let beyond = "the provided network does not match the current range";
    for (address, is_dry_run, expected) in [
        (
            "10.0.0.7",
            false,
            refused("10.0.0.7", "provided IP is already allocated"),
        ),
        ("10.0.0.7", true, "accepted".to_owned()),
        ("10.0.0.8", false, "accepted".to_owned()),
        ("10.0.0.255", false, refused("10.0.0.255", beyond)),
        ("10.1.0.8", false, refused("10.1.0.8", beyond)),
        // A dry run asks one network, and tells which.
        (
            "10.1.0.8",
            true,
            refused(
                "10.1.0.8",
                "the provided IP (10.1.0.8) is not in the valid range. The range of valid IPs is 10.0.0.0/24",
            ),
        ),
    ] {
        assert_eq!(
            known.validate(&with_address("b", address), is_dry_run),
            expected,
            "{address}"
        );
    }
    // Before a release refused zeros that lead, an address was stored with them.
    known.services.push(with_address("old", "10.0.0.009"));
    assert_eq!(
        known.validate(&with_address("b", "10.0.0.9"), false),
        refused("10.0.0.9", "provided IP is already allocated")
    );
    assert_eq!(
        allocations(&with_address("old", "10.0.0.009")),
        allocations(&with_address("b", "10.0.0.9"))
    );
    known.networks.clear();
    let unknown = known.validate(&with_address("b", "10.0.0.8"), false);
    assert!(unknown.contains("a network of the cluster"), "{unknown}");
}

#[test]
fn what_a_service_has_is_not_asked_for() {
    let (old, new) = (node_port("a", 30080), node_port("a", 30081));
    assert_eq!(count_asked(&old, &old), 0);
    assert_eq!(count_asked(&new, &old), 1);
    assert_eq!(count_asked(&old, &Value::Null), 1);
    assert_eq!(count_asked(&with_address("a", "None"), &Value::Null), 0);
    // A port for health checks is none of its ports.
    assert_eq!(count_asked(&balanced(30080, 30080), &balanced(30080, 30090)), 1);
    assert_eq!(count_asked(&balanced(30090, 30090), &balanced(30080, 30090)), 1);
}

/// A Service with a port of nodes and one for health checks.
fn balanced(port: i64, health_check: i64) -> Value<'static> {
    let policy = if health_check == 0 { "Cluster" } else { "Local" };
    let spec = format!(
        r#""type": "LoadBalancer", "externalTrafficPolicy": "{policy}", "allocateLoadBalancerNodePorts": true,
           "healthCheckNodePort": {health_check}, "ports": [{{"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": {port}}}]"#
    );
    service("a", &spec)
}

#[test]
fn what_a_service_gives_back_is_free_afterwards() {
    let known = Known {
        services: Vec::new(),
        has_all: true,
        networks: Vec::new(),
        is_of_cluster: false,
    };
    let validate = |new: [i64; 2], old: [i64; 2]| {
        let [new, old] = [new, old].map(|[port, health_check]| balanced(port, health_check));
        known.validate_beside(&new, &old, false)
    };
    let taken = "failed to allocate requested HealthCheck NodePort 30080: provided port is already allocated";
    for new in [[30080, 30080], [30081, 30080]] {
        assert_eq!(
            validate(new, [30080, 0]),
            format!("Internal error occurred: {taken}")
        );
    }
    let own = validate([30090, 30090], [30080, 30090]);
    assert!(
        own.contains("spec.ports[0].nodePort: Invalid value: 30090: provided port is already allocated"),
        "{own}"
    );
    assert!(!validate([30081, 30090], [30080, 0]).contains("allocated"));
}

#[test]
fn a_service_of_a_cluster_has_what_it_names() {
    let known = Known {
        services: vec![node_port("a", 30080), with_address("b", "10.0.0.7")],
        has_all: false,
        networks: Vec::new(),
        is_of_cluster: true,
    };
    assert_eq!(known.validate(&node_port("c", 80), false), "accepted");
    assert_eq!(known.validate(&with_address("c", "10.0.0.8"), false), "accepted");
    for taken in [node_port("c", 30080), with_address("c", "10.0.0.7")] {
        let message = known.validate(&taken, false);
        assert!(message.contains("already allocated"), "{message}");
    }
}

#[test]
fn a_port_is_not_given_twice_in_one_service() {
    let ports = |node_ports: [i64; 3]| {
        let port = |number: usize, node_port: i64, protocol: &str| {
            format!(
                r#"{{"name": "p{number}", "port": 80, "protocol": "{protocol}", "targetPort": 80, "nodePort": {node_port}}}"#
            )
        };
        let protocols = ["TCP", "UDP", "SCTP"].into_iter();
        let ports = node_ports.into_iter().zip(protocols).enumerate();
        let ports: Vec<String> = ports
            .map(|(at, (node_port, protocol))| port(at, node_port, protocol))
            .collect();
        service(
            "a",
            &format!(
                r#""type": "NodePort", "externalTrafficPolicy": "Cluster", "ports": [{}]"#,
                ports.join(",")
            ),
        )
    };
    let kind = GroupVersionKind::new("", "v1", "Service");
    let validate = |object: &Value<'_>| Validator::new().create(&Candidate::new(&kind, object));
    assert_eq!(validate(&ports([30000, 30000, 30000])), Ok(()));
    let Err(Rejection::Invalid(status)) = validate(&ports([30000, 30001, 30001])) else {
        panic!("accepted")
    };
    assert_eq!(
        status.message,
        "Service \"a\" is invalid: spec.ports[2].nodePort: Invalid value: 30001: provided port is already allocated"
    );
    let twice = parse(
        &ports([30000, 30001, 30002])
            .to_string()
            .replace("30001", "30000")
            .replace("UDP", "TCP"),
    );
    let Err(Rejection::Invalid(status)) =
        Validator::new().update(&Candidate::new(&kind, &twice), &ports([30000, 30001, 30002]))
    else {
        panic!("accepted")
    };
    assert_eq!(
        (status.code, status.message.as_str()),
        (500, "duplicate nodePort: {TCP 30000}")
    );
}

#[test]
fn a_port_for_health_checks_is_one_of_nodes() {
    let object = service(
        "a",
        r#""type": "LoadBalancer", "externalTrafficPolicy": "Local", "allocateLoadBalancerNodePorts": true,
           "healthCheckNodePort": 30000, "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": 30000}]"#,
    );
    let kind = GroupVersionKind::new("", "v1", "Service");
    let Err(Rejection::Invalid(status)) = Validator::new().create(&Candidate::new(&kind, &object)) else {
        panic!("accepted")
    };
    assert_eq!(
        status.message,
        "Internal error occurred: failed to allocate requested HealthCheck NodePort 30000: provided port is already allocated"
    );
}
