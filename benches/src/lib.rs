//! What the benchmarks work on: one Pod as clusters have them, and expressions as policies have them.

/// A Pod of two containers and an init container.
pub const POD: &str = include_str!("../data/pod.json");

/// Expressions of the kind that policies are made of, from the smallest to the largest, each with a short name.
pub const EXPRESSIONS: [(&str, &str); 12] = [
    ("name", "object.metadata.name.startsWith('checkout-')"),
    (
        "replicas",
        "!has(object.spec.replicas) || object.spec.replicas <= 50",
    ),
    (
        "label",
        "has(object.metadata.labels) && 'team' in object.metadata.labels",
    ),
    (
        "host",
        "!(has(object.spec.hostNetwork) && object.spec.hostNetwork)",
    ),
    (
        "token",
        "has(object.spec.automountServiceAccountToken) && object.spec.automountServiceAccountToken == false",
    ),
    (
        "nonroot",
        "object.spec.containers.all(c, has(c.securityContext) && has(c.securityContext.runAsNonRoot) && c.securityContext.runAsNonRoot == true)",
    ),
    (
        "registry",
        "object.spec.containers.all(c, c.image.startsWith('registry.shop.example/'))",
    ),
    (
        "tag",
        "object.spec.containers.all(c, c.image.contains(':') && !c.image.endsWith(':latest'))",
    ),
    (
        "pattern",
        "object.spec.containers.all(c, c.image.matches('^registry\\\\.shop\\\\.example/[a-z-]+:[0-9.]+$'))",
    ),
    (
        "capabilities",
        "object.spec.containers.all(c, has(c.securityContext.capabilities) && c.securityContext.capabilities.drop.exists(d, d == 'ALL'))",
    ),
    (
        "ports",
        "object.spec.containers.map(c, has(c.ports) ? c.ports.filter(p, p.containerPort < 1024).size() : 0).all(n, n == 0)",
    ),
    (
        "volumes",
        "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath)) && object.spec.volumes.size() <= 10 && object.spec.volumes.exists_one(v, v.name == 'config')",
    ),
];
