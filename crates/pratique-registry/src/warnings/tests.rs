//! The warnings of single kinds. The texts are those of kube-apiserver 1.37.2.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use super::{on_create, on_update};
use crate::Placeholders;

fn parse(text: &str) -> (GroupVersionKind, Value<'static>) {
    let object = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let kind = object.get("kind").and_then(Value::as_str).unwrap();
    let kind = GroupVersionKind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    };
    (kind, object)
}

#[track_caller]
fn check(object: &str, expected: &[&str]) {
    let (kind, object) = parse(object);
    assert_eq!(
        on_create(&kind, &object, &Placeholders::default(), Release::latest()),
        expected
    );
}

#[track_caller]
fn check_update(old: &str, object: &str, expected: &[&str]) {
    let (kind, object) = parse(object);
    assert_eq!(
        on_update(&kind, &object, &parse(old).1, Release::latest()),
        expected
    );
}

#[test]
fn volumes() {
    check(
        r#"{"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": "a", "annotations": {"volume.beta.kubernetes.io/mount-options": "x"}},
            "spec": {"persistentVolumeReclaimPolicy": "Recycle", "storageos": {}, "nodeAffinity": {"required":
            {"nodeSelectorTerms": [{"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}]}}}}"#,
        &[
            "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use \"mountOptions\" \
             attribute instead",
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning.",
            "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated \
             since v1.14; use \"kubernetes.io/os\" instead",
            "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
        ],
    );
    check(
        r#"{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "a"}, "spec": {"flocker": {}}}"#,
        &[],
    );
}

#[test]
fn claims_of_stateful_sets() {
    let set = r#"{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": {
        "volumeClaimTemplates": [{"spec": {"resources": {"requests": {"storage": "100m"}}}}]}}"#;
    let fault = "resources.requests[storage]: fractional byte value \"100m\" is invalid, must be an integer";
    check(set, &[&format!("spec.volumeClaimTemplates[0].{fault}")]);
    check_update(set, set, &[&format!("spec.volumeClaimTemplates[0].Spec.{fault}")]);
}

#[test]
fn addresses_of_services() {
    check(
        r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1", "2001:DB8::1"], "externalIPs": ["10.0.0.010"], "type": "LoadBalancer",
            "loadBalancerIP": "::ffff:10.0.0.1", "loadBalancerSourceRanges": ["10.1.0.0/8"]}}"#,
        &[
            "spec.clusterIPs[1]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")",
            "spec.externalIPs[0]: non-standard IP address \"10.0.0.010\" is invalid: use \"10.0.0.10\"",
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
            "spec.loadBalancerIP: non-standard IP address \"::ffff:10.0.0.1\" is invalid: use \"10.0.0.1\"",
            "spec.loadBalancerSourceRanges[0]: CIDR value \"10.1.0.0/8\" is ambiguous in this context (should be \
             \"10.0.0.0/8\" or \"10.1.0.0/32\"?)",
        ],
    );
}

#[test]
fn services_without_a_list_of_addresses() {
    let service = r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"clusterIP": "010.1.0.1"}}"#;
    let warning = "spec.clusterIPs[0]: non-standard IP address \"010.1.0.1\" is invalid: use \"10.1.0.1\"";
    check_update(service, service, &[warning]);
}

#[test]
fn endpoints() {
    let endpoints = |label: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "Endpoints", "metadata": {{"name": "a", "labels": {{{label}}}}},
                "subsets": [{{"notReadyAddresses": [{{"ip": "::0"}}]}}]}}"#
        )
    };
    let warning = "subsets[0].notReadyAddresses[0].ip: IPv6 address \"::0\" should be in RFC 5952 canonical format (\"::\")";
    check(&endpoints(""), &[warning]);
    check(
        &endpoints(r#""endpoints.kubernetes.io/managed-by": "endpoint-controller""#),
        &[],
    );
    let slice = r#"{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "a"},
        "addressType": "FQDN", "endpoints": [{"addresses": ["a.example.com"]}]}"#;
    check(slice, &["spec.addressType: FQDN endpoints are deprecated"]);
    check_update(slice, slice, &[]);
}

#[test]
fn networks() {
    check(
        r#"{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}, "spec": {
            "ingress": [{"from": [{"ipBlock": {"cidr": "2001:DB8::/64", "except": ["2001:DB8::/80"]}}]}],
            "egress": [{"to": [{"podSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/08"}}]}]}}"#,
        &[
            "spec.ingress[0].from[0].ipBlock.cidr: IPv6 CIDR value \"2001:DB8::/64\" should be in RFC 5952 canonical \
             format (\"2001:db8::/64\")",
            "spec.ingress[0].from[0].ipBlock.except[0]: IPv6 CIDR value \"2001:DB8::/80\" should be in RFC 5952 canonical \
             format (\"2001:db8::/80\")",
            "spec.egress[0].to[1].ipBlock.cidr: non-standard CIDR value \"10.0.0.0/08\" is invalid: use \"10.0.0.0/8\"",
        ],
    );
    check(
        r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {"podCIDRs": ["::/064"],
            "externalID": "x", "configSource": {}}}"#,
        &[
            "spec.configSource: the feature is removed",
            "spec.externalID: this field is deprecated, and is unused by Kubernetes",
            "spec.podCIDRs[0]: non-standard CIDR value \"::/064\" is invalid: use \"::/64\"",
        ],
    );
}

#[test]
fn addresses_of_pods() {
    check(
        r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {
            "containers": [{"name": "c", "ports": [{"containerPort": 80, "protocol": "TCP", "hostIP": "10.0.0.1"}]}],
            "dnsConfig": {"nameservers": ["10.0.0.1", "2001:DB8::1"]}, "hostAliases": [{"ip": "::0"}]}}"#,
        &[
            "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP \
             HostIP:10.0.0.1}",
            "spec.dnsConfig.nameservers[1]: IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format \
             (\"2001:db8::1\")",
            "spec.hostAliases[0].ip: IPv6 address \"::0\" should be in RFC 5952 canonical format (\"::\")",
        ],
    );
}

#[test]
fn jobs() {
    let many = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
         Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
    let job = |parallelism: u32| {
        format!(
            r#"{{"completionMode": "Indexed", "completions": 100001, "parallelism": {parallelism}, "template": {{}}}}"#
        )
    };
    let of = |spec: &str| {
        format!(r#"{{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "a"}}, "spec": {spec}}}"#)
    };
    check(&of(&job(10_001)), &[&format!("spec: {many}")]);
    check(&of(&job(10_000)), &[]);
    let cron = format!(
        r#"{{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {{"name": "a"}}, "spec": {{"schedule": "TZ=UTC @daily",
            "jobTemplate": {{"spec": {}}}}}}}"#,
        job(10_001)
    );
    check(&cron, &[&format!("spec.jobTemplate.spec: {many}")]);
    check_update(
        &cron,
        &cron,
        &[
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
           https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
        ],
    );
}

#[test]
fn quotas_and_claims() {
    check(
        r#"{"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"cpu": "2", "limits.cpu": "1",
            "requests.memory": "1Gi", "limits.memory": "2Gi"}}}"#,
        &["ResourceQuota cpu (2) should be less than limits.cpu (1)"],
    );
    check(
        r#"{"apiVersion": "v1", "kind": "PodTemplate", "template": {"spec": {"volumes": [
            {"name": "a", "projected": {"sources": [{}]}},
            {"name": "b", "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1500m"}}}}}}
        ]}}}"#,
        &[
            "template.spec.volumes[1].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value \
             \"1500m\" is invalid, must be an integer",
            "volume \"a\" (Projected) has no sources provided",
        ],
    );
}

#[test]
fn a_changed_replication_controller_is_warned_of_as_it_was() {
    let controller = |generation: u8, source: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "ReplicationController", "metadata": {{"name": "a", "generation": {generation}}},
                "spec": {{"template": {{"spec": {{"volumes": [{{"name": "v", "{source}": {{}}}}]}}}}}}}}"#
        )
    };
    check_update(
        &controller(1, "photonPersistentDisk"),
        &controller(2, "emptyDir"),
        &[
            "spec.template.spec.volumes[0].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
        ],
    );
}

#[test]
fn single_kinds() {
    let account = r#"{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a",
        "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}}"#;
    let plain = r#"{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}"#;
    let warning = "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate \
         namespaces to isolate access to mounted secrets";
    check(account, &[warning]);
    check_update(plain, account, &[warning]);
    check_update(account, account, &[]);
    check(
        r#"{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "a"}, "nodeTopology":
            {"matchLabels": {"beta.kubernetes.io/arch": "x"}, "matchExpressions": [{"key": "beta.kubernetes.io/os"}]}}"#,
        &[
            "nodeTopology.matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use \
             \"kubernetes.io/os\" instead",
            "nodeTopology.matchLabels.beta.kubernetes.io/arch: deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        ],
    );
    check(
        r#"{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "a"},
            "spec": {"driver": "GPU.example.com"}}"#,
        &["spec.driver: driver names should be lowercase; \"GPU.example.com\" contains uppercase characters"],
    );
}

#[test]
fn drivers() {
    const DRIVER: &str = r#"{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "a"},
        "spec": {"tokenRequests": [{"audience": "a"}]}}"#;
    const WARNING: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
                           possible logging of tokens in volume attributes";
    check(DRIVER, &[WARNING]);
    check_update(DRIVER, DRIVER, &[]);
    check_update(&DRIVER.replace(r#""audience": "a""#, ""), DRIVER, &[WARNING]);
    let in_secrets = r#""serviceAccountTokenInSecrets": true, "tokenRequests""#;
    check(&DRIVER.replace(r#""tokenRequests""#, in_secrets), &[]);
}

#[test]
fn paths_of_volumes_overlap() {
    let pod = |volumes: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "a"}},
                "spec": {{"containers": [{{"name": "c"}}], "volumes": [{volumes}]}}}}"#
        )
    };
    check(
        &pod(
            r#"{"name": "v", "configMap": {"name": "m", "items": [{"key": "a", "path": "p"}, {"key": "b", "path": "p/q/"},
                {"key": "c", "path": "pq"}, {"key": "d", "path": "p"}, {"key": "e", "path": "p/q"}]}},
            {"name": "w", "secret": {"secretName": "s", "items": [{"key": "a", "path": "x/y"}, {"key": "b", "path": "x"}]}},
            {"name": "d", "downwardAPI": {"items": [{"path": "l"}, {"path": "l"}]}}"#,
        ),
        &[
            r#"volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p""#,
            r#"volume "v" (ConfigMap "m"): overlapping paths: "p" with "p""#,
            r#"volume "v" (ConfigMap "m"): overlapping paths: "p" with "p/q""#,
            r#"volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p""#,
            r#"volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p/q""#,
            r#"volume "v" (ConfigMap "m"): overlapping paths: "p/q" with "p""#,
            r#"volume "w" (Secret "s"): overlapping paths: "x" with "x/y""#,
            r#"volume "d" (DownwardAPI): overlapping paths: "l" with "l""#,
        ],
    );
    check(
        &pod(r#"{"name": "v", "projected": {"sources": [
                {"configMap": {"name": "m", "items": [{"key": "a", "path": "token"}]}},
                {"serviceAccountToken": {"path": "token"}}, {},
                {"secret": {"name": "s", "items": [{"key": "a", "path": "token/a"}]}},
                {"clusterTrustBundle": {"signerName": "a.b/c", "path": "ca"}},
                {"podCertificate": {"keyPath": "ca/key", "credentialBundlePath": "bundle"}},
                {"downwardAPI": {"items": [{"path": "bundle/"}]}}, {"secret": {"name": "whole"}}]}}"#),
        &[
            r#"volume "v" (Projected): overlapping paths: "token" (ServiceAccountToken) with "token" (ConfigMap "m")"#,
            r#"volume "v" (Projected) has no sources provided"#,
            r#"volume "v" (Projected): overlapping paths: "token/a" (Secret "s") with "token" (ConfigMap "m")"#,
            r#"volume "v" (Projected): overlapping paths: "token/a" (Secret "s") with "token" (ServiceAccountToken)"#,
            r#"volume "v" (Projected): overlapping paths: "ca/key" (PodCertificate key) with "ca" (ClusterTrustBundle "a.b/c")"#,
            r#"volume "v" (Projected): overlapping paths: "bundle" (DownwardAPI) with "bundle" (PodCertificate credential bundle)"#,
        ],
    );
}

/// Very many paths in one volume take no quadratic time, and do not warn without end.
#[test]
fn very_many_paths_of_a_volume() {
    let pod = |path: fn(usize) -> String| {
        let items: Vec<String> = (0..50_000)
            .map(|at| format!(r#"{{"path": "{}"}}"#, path(at)))
            .collect();
        format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "a"}}, "spec": {{"containers": [],
                "volumes": [{{"name": "v", "downwardAPI": {{"items": [{}]}}}}]}}}}"#,
            items.join(",")
        )
    };
    check(&pod(|at| format!("a/{at}")), &[]);
    let (kind, object) = parse(&pod(|_| "a".to_owned()));
    let warnings = on_create(&kind, &object, &Placeholders::default(), Release::latest());
    assert!((1_000..20_000).contains(&warnings.len()), "{}", warnings.len());
}

/// A path with very many parts, and one for each of its first parts, the innermost first.
#[test]
fn paths_within_a_long_one() {
    let paths: Vec<String> = [20_000, 3, 2, 1].map(|parts| vec!["a"; parts].join("/")).into();
    let items: Vec<String> = paths
        .iter()
        .map(|path| format!(r#"{{"path": "{path}"}}"#))
        .collect();
    let pod = format!(
        r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "a"}}, "spec": {{"containers": [],
            "volumes": [{{"name": "v", "downwardAPI": {{"items": [{}]}}}}]}}}}"#,
        items.join(",")
    );
    let pairs = paths.iter().enumerate().flat_map(|(at, path)| {
        let others = paths.iter().take(at);
        others.map(move |other| {
            format!(r#"volume "v" (DownwardAPI): overlapping paths: "{path}" with "{other}""#)
        })
    });
    let warnings: Vec<String> = pairs.collect();
    assert_eq!(warnings.len(), 6);
    check(&pod, &warnings.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn certificates_of_secrets() {
    let secret = |kind: &str, certificate: &str, key: &str| {
        let encode = |text: &str| pratique_json::base64::encode(text.as_bytes());
        format!(
            r#"{{"apiVersion": "v1", "kind": "Secret", "metadata": {{"name": "a"}}, "type": "{kind}",
                "data": {{"tls.crt": "{}", "tls.key": "{}"}}}}"#,
            encode(certificate),
            encode(key)
        )
    };
    let block = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let key = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n";
    let tls = "kubernetes.io/tls";
    let malformed = secret(tls, block, key);
    check(&malformed, &["x509: malformed certificate"]);
    check_update(&malformed, &malformed, &["x509: malformed certificate"]);
    check(
        &secret(tls, "-----BEGIN CERTIFICATE-----\nAAAA\n", key),
        &["tls: failed to find any PEM data in certificate input"],
    );
    check(
        &secret(tls, block, block),
        &["tls: found a certificate rather than a key in the PEM for the private key"],
    );
    check(&secret("Opaque", "", ""), &[]);
}
