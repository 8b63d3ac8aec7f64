//! Placeholders for the values that a server generates: identities, times, addresses.

use pratique_json::Value;

/// The values in place of those that a server generates. They are valid where a policy may read them.
///
/// ```
/// let placeholders = pratique_registry::Placeholders::default();
/// assert_eq!(placeholders.time, "2000-01-01T00:00:00Z");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Placeholders {
    /// The uid of a new object.
    pub uid: String,
    /// The time of the request.
    pub time: String,
    /// The suffix that is appended to `generateName`.
    pub name_suffix: String,
    /// The address of a Service.
    pub cluster_ip: String,
    /// The address of a Service among those of version 6; empty in a cluster that has none of these.
    pub cluster_ip_v6: String,
    /// The first node port of a Service, unless it is a dry run. Others follow, if it is a number.
    pub node_port: Value<'static>,
    /// The audience of tokens whose request names none.
    pub audience: String,
    /// A token.
    pub token: String,
}

impl Default for Placeholders {
    fn default() -> Self {
        Placeholders {
            uid: "00000000-0000-4000-8000-000000000000".to_owned(),
            time: "2000-01-01T00:00:00Z".to_owned(),
            name_suffix: "xxxxx".to_owned(),
            cluster_ip: "10.96.0.1".to_owned(),
            cluster_ip_v6: "fd00:10:96::1".to_owned(),
            node_port: 30000.into(),
            audience: "https://kubernetes.default.svc.cluster.local".to_owned(),
            token: "token".to_owned(),
        }
    }
}
