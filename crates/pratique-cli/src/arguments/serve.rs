//! The command line of `pratique serve`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pratique::guards::{BreakerSettings, WebhookGuards};
use pratique_server::{NotOffered, WebhookPlugin};
use pratique_types::admission_plugins::known;

use super::{ClusterArguments, GateArguments, ListenAddress, PolicyArguments, duration};

/// Serve an API server's AdmissionReviews at /mutate, /validate and /admit.
///
/// Without --admission-control-config-file, --manifests, --follow and --plugins, the Pod Security Standards are evaluated.
/// Without --tls-cert-file the server generates a self-signed certificate. Directories and certificates are reloaded whenever they
/// change.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Address to listen on. A name such as localhost stands for all its addresses, and :8443 for all interfaces.
    #[arg(
        long,
        env = "PRATIQUE_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8443"
    )]
    pub(crate) listen: ListenAddress,
    /// Additional address that serves /livez, /readyz and /metrics over plain HTTP, with resources of its own, so that
    /// clients of the reviews cannot exhaust it. The other address serves them as well.
    #[arg(long, env = "PRATIQUE_HEALTH_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) health_listen: Option<ListenAddress>,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    /// Admission plugins of kube-apiserver to run before policies, where the flags of a control plane cannot be set:
    /// AlwaysPullImages, DenyServiceExternalIPs, EventRateLimit, ExtendedResourceToleration, ImagePolicyWebhook,
    /// LimitPodHardAntiAffinityTopology, OwnerReferencesPermissionEnforcement, PodNodeSelector, PodSecurity,
    /// PodTolerationRestriction. Their configuration is that of --admission-control-config-file, read once. What they look up
    /// comes from --cluster or --cluster-objects. They run in the server's order, whatever the order here. EventRateLimit counts
    /// requests, and so needs --client-ca-file or --count-anonymous-reviews.
    #[arg(
        long,
        env = "PRATIQUE_PLUGINS",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = offered
    )]
    pub(crate) plugins: Vec<&'static WebhookPlugin>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    #[command(flatten)]
    pub(crate) certificates: CertificateArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) guards: GuardArguments,
    #[command(flatten)]
    pub(crate) registration: RegistrationArguments,
    /// File to which audit events are written as JSON lines; `-` is standard output. A new file is readable by its owner
    /// only.
    #[arg(
        long,
        alias = "audit-log",
        env = "PRATIQUE_AUDIT_LOG_PATH",
        value_name = "FILE"
    )]
    pub(crate) audit_log_path: Option<String>,
    /// How much audit events record.
    #[arg(long, env = "PRATIQUE_AUDIT_LEVEL", default_value = "metadata")]
    pub(crate) audit_level: AuditLevel,
    /// Keep the data of Secrets and the tokens of TokenRequests and TokenReviews in the objects that audit events record.
    #[arg(long, env = "PRATIQUE_AUDIT_SECRETS")]
    pub(crate) audit_secrets: bool,
    #[command(flatten)]
    pub(crate) record: RecordArguments,
    /// Do not serve the status page at /. Without --client-ca-file, it is served to browsers on this machine only.
    #[arg(long, env = "PRATIQUE_NO_STATUS_PAGE")]
    pub(crate) no_status_page: bool,
    /// Host names under which the status page may be opened, besides localhost, the addresses of this machine and the name
    /// in --listen. Requests for other hosts are refused, which protects against DNS rebinding.
    #[arg(
        long,
        env = "PRATIQUE_STATUS_PAGE_HOSTS",
        value_name = "NAME,…",
        value_delimiter = ','
    )]
    pub(crate) status_page_hosts: Vec<String>,
    /// Time to delay the termination after SIGTERM. During that time the server keeps serving requests, and /readyz fails,
    /// so that load balancers stop sending traffic. After SIGINT there is no delay.
    #[arg(
        long,
        alias = "drain-delay",
        env = "PRATIQUE_SHUTDOWN_DELAY_DURATION",
        value_name = "DURATION",
        default_value = "5s",
        value_parser = duration
    )]
    pub(crate) shutdown_delay_duration: Duration,
    /// Time that requests in flight have to finish after the delay.
    #[arg(
        long,
        env = "PRATIQUE_DRAIN_GRACE",
        value_name = "DURATION",
        default_value = "20s",
        value_parser = duration
    )]
    pub(crate) drain_grace: Duration,
    /// Identity of this server; metrics show its hash.
    #[arg(long, env = "PRATIQUE_IDENTITY", value_name = "NAME")]
    pub(crate) identity: Option<String>,
    /// Format of the log.
    #[arg(
        long,
        alias = "log-format",
        env = "PRATIQUE_LOGGING_FORMAT",
        default_value = "text"
    )]
    pub(crate) logging_format: LogFormat,
    /// Least severity of the messages that are logged.
    #[arg(long, env = "PRATIQUE_LOG_LEVEL", default_value = "info")]
    pub(crate) log_level: LogLevel,
    #[command(flatten)]
    pub(crate) gates: GateArguments,
}

impl ServeArguments {
    /// A plugin that would count the reviews of everyone who reaches the port, without being told to.
    pub(crate) fn plugin_counting_anonymous_reviews(&self) -> Option<&'static str> {
        let CertificateArguments {
            client_ca_file,
            count_anonymous_reviews,
            ..
        } = &self.certificates;
        if client_ca_file.is_some() || *count_anonymous_reviews {
            return None;
        }
        let mut plugins = self.plugins.iter();
        plugins
            .find(|plugin| plugin.counts_requests)
            .map(|plugin| plugin.name)
    }

    /// Whether the arguments name policies, webhooks or plugins; otherwise the Pod Security Standards are evaluated.
    pub(crate) fn has_policies(&self) -> bool {
        self.policies.admission_control_config_file.is_some()
            || self.policies.manifests.is_some()
            || self.cluster.follows()
            || !self.plugins.is_empty()
    }
}

/// The plugin of a name, or why there is none that a webhook can stand in for.
fn offered(name: &str) -> Result<&'static WebhookPlugin, String> {
    WebhookPlugin::named(name).map_err(|why| match &why {
        NotOffered::Unknown(name) => known(name).map_or_else(|error| error.to_string(), |_| why.to_string()),
        _ => why.to_string(),
    })
}

/// TLS certificates.
#[derive(Debug, Args)]
pub(crate) struct CertificateArguments {
    /// PEM file with the server's certificate, followed by the intermediate certificates.
    #[arg(
        long,
        alias = "tls-cert",
        env = "PRATIQUE_TLS_CERT_FILE",
        value_name = "FILE",
        requires = "tls_private_key_file"
    )]
    pub(crate) tls_cert_file: Option<PathBuf>,
    /// PEM file with the private key of --tls-cert-file.
    #[arg(
        long,
        alias = "tls-key",
        env = "PRATIQUE_TLS_PRIVATE_KEY_FILE",
        value_name = "FILE",
        requires = "tls_cert_file"
    )]
    pub(crate) tls_private_key_file: Option<PathBuf>,
    /// PEM file with the certificate authorities of clients. If set, only clients with a certificate signed by one of them
    /// can send reviews.
    #[arg(
        long,
        alias = "client-ca",
        env = "PRATIQUE_CLIENT_CA_FILE",
        value_name = "FILE",
        requires = "tls_cert_file"
    )]
    pub(crate) client_ca_file: Option<PathBuf>,
    /// Require a client certificate for /metrics as well. Otherwise every client that reaches the port can read them.
    #[arg(long, env = "PRATIQUE_PROTECT_METRICS", requires = "client_ca_file")]
    pub(crate) protect_metrics: bool,
    /// Let plugins that count requests, which EventRateLimit does, run without --client-ca-file. Everyone who reaches the port
    /// can then send reviews that are counted, until the events of others are refused: use it only where a network policy
    /// lets in API servers alone.
    #[arg(
        long,
        env = "PRATIQUE_COUNT_ANONYMOUS_REVIEWS",
        conflicts_with = "client_ca_file"
    )]
    pub(crate) count_anonymous_reviews: bool,
    /// Serve plain HTTP instead of HTTPS, on loopback addresses only.
    #[arg(long, env = "PRATIQUE_PLAIN_HTTP", conflicts_with = "tls_cert_file")]
    pub(crate) plain_http: bool,
}

/// Limits on what clients can use.
#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// Largest request body, in MiB. An API server sends up to 27 MiB; with a smaller limit, large objects are not
    /// evaluated and are admitted where the failure policy is Ignore.
    #[arg(long, env = "PRATIQUE_MAX_BODY", value_name = "MIB", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) max_body: u16,
    /// Memory that all requests may use together, in MiB: bodies, parsed objects, evaluation, and responses until they are
    /// read. By default half of the container's limit, up to 1024; or 512 if the container has no limit.
    #[arg(long, alias = "max-bodies", env = "PRATIQUE_MAX_MEMORY", value_name = "MIB",
          value_parser = clap::value_parser!(u32).range(16..=1 << 20))]
    pub(crate) max_memory: Option<u32>,
    /// Memory that loading manifests may use, in MiB, by an estimate that counts values as often as YAML aliases repeat them.
    /// A larger set is not loaded, and the one in use stays. By default three eighths of the container's limit, up to 2048; or
    /// 2048 if the container has no limit.
    #[arg(long, env = "PRATIQUE_MAX_LOAD_MEMORY", value_name = "MIB",
          value_parser = clap::value_parser!(u32).range(16..=1 << 20))]
    pub(crate) max_load_memory: Option<u32>,
    /// Maximum number of requests in flight: those that are evaluated at the same time. Others wait for up to a second.
    #[arg(long, alias = "max-requests", env = "PRATIQUE_MAX_REQUESTS_INFLIGHT", value_name = "COUNT", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests_inflight: u32,
    /// Maximum number of connections; fewer if the process may not open enough files (`ulimit -n`).
    #[arg(long, env = "PRATIQUE_MAX_CONNECTIONS", value_name = "COUNT", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: u32,
}

/// Protection against webhooks among the manifests that are slow or fail.
#[derive(Debug, Args)]
pub(crate) struct GuardArguments {
    /// Open a webhook's circuit breaker after this many consecutive failures: the webhook is not called, and its
    /// failurePolicy applies at once. Without the flag there is no circuit breaker, as in an API server.
    #[arg(long, env = "PRATIQUE_CALL_BREAKER", value_name = "FAILURES")]
    pub(crate) call_breaker: Option<NonZeroU32>,
    /// Seconds until an open circuit breaker lets one call through to probe the webhook.
    #[arg(
        long,
        env = "PRATIQUE_CALL_COOL_DOWN",
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "call_breaker"
    )]
    pub(crate) call_cool_down: u64,
    /// Maximum number of concurrent calls of one webhook; further calls wait within their timeout.
    #[arg(long, env = "PRATIQUE_CALLS_AT_ONCE", value_name = "COUNT")]
    pub(crate) calls_at_once: Option<NonZeroUsize>,
    /// Time budget of all webhook calls of a request together, in seconds.
    #[arg(long, env = "PRATIQUE_CALL_BUDGET", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) call_budget: Option<u64>,
    /// Follow redirects of webhooks from https to http, as an API server does. Reviews, the objects in them, and
    /// credentials are then sent unencrypted. Without the flag such a call fails.
    #[arg(long, env = "PRATIQUE_FOLLOW_PLAIN_HTTP_REDIRECTS")]
    pub(crate) follow_plain_http_redirects: bool,
}

impl GuardArguments {
    /// The guards that the arguments configure.
    pub(crate) fn guards(&self) -> WebhookGuards {
        WebhookGuards {
            breaker: self.call_breaker.map(|failures| BreakerSettings {
                failures,
                cool_down: Duration::from_secs(self.call_cool_down),
            }),
            calls_at_once: self.calls_at_once,
            budget: self.call_budget.map(Duration::from_secs),
        }
    }
}

/// The webhook configurations that register this server with an API server.
#[derive(Debug, Args)]
pub(crate) struct RegistrationArguments {
    /// Print the webhook configurations that make an API server send this server the requests that its policies and
    /// webhooks match, and exit.
    #[arg(long)]
    pub(crate) print_webhook_configuration: bool,
    /// Name of the webhook configurations.
    #[arg(
        long,
        env = "PRATIQUE_WEBHOOK_NAME",
        value_name = "NAME",
        default_value = "pratique"
    )]
    pub(crate) webhook_name: String,
    /// Service of this server. Requests in its namespace are never sent to it.
    #[arg(long, env = "PRATIQUE_WEBHOOK_SERVICE", value_name = "NAMESPACE/NAME[:PORT]",
          default_value = "pratique-system/pratique", value_parser = service)]
    pub(crate) webhook_service: ServiceReference,
    /// URL of this server, if it is reached without a service.
    #[arg(long, env = "PRATIQUE_WEBHOOK_URL", value_name = "URL")]
    pub(crate) webhook_url: Option<String>,
    /// PEM file with the certificate authority of the server's certificate.
    #[arg(long, env = "PRATIQUE_WEBHOOK_CA", value_name = "FILE")]
    pub(crate) webhook_ca: Option<String>,
    /// Certificate of cert-manager whose certificate authority cert-manager injects.
    #[arg(
        long,
        env = "PRATIQUE_WEBHOOK_CA_FROM",
        value_name = "NAMESPACE/NAME",
        conflicts_with = "webhook_ca"
    )]
    pub(crate) webhook_ca_from: Option<String>,
    /// Timeout of the API server for calls of this server, in seconds.
    #[arg(long, env = "PRATIQUE_WEBHOOK_TIMEOUT", value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=30))]
    pub(crate) webhook_timeout: u32,
    /// Namespaces whose requests are never sent, besides kube-system, kube-public, kube-node-lease and that of the service.
    #[arg(
        long,
        env = "PRATIQUE_EXEMPT_NAMESPACE",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub(crate) exempt_namespace: Vec<String>,
    /// Label that exempts the namespaces that have it, with one of the values if any are given: runlevel=0,1 exempts what a
    /// cluster and its webhooks need to start. Can be repeated.
    #[arg(
        long,
        env = "PRATIQUE_EXEMPT_NAMESPACE_LABEL",
        value_name = "KEY[=VALUE,…]",
        value_delimiter = ';',
        value_parser = exempt_label
    )]
    pub(crate) exempt_namespace_label: Vec<(String, Vec<String>)>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceReference {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) port: u16,
}

/// Which requests are recorded.
#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// File in which requests are recorded with their answers, as lines of AdmissionReviews that `pratique replay` reads; without
    /// the data of Secrets and tokens. It is readable by its owner only. Once it has half of --record-max-size, its name gets
    /// `.1`, and another file begins.
    #[arg(long, env = "PRATIQUE_RECORD", value_name = "FILE")]
    pub(crate) record: Option<std::path::PathBuf>,
    /// Which share of requests is recorded, from 0 to 1.
    #[arg(long, env = "PRATIQUE_RECORD_SAMPLE", value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    pub(crate) record_sample: f64,
    /// Maximum size of the files of --record together, in MiB.
    #[arg(long, env = "PRATIQUE_RECORD_MAX_SIZE", value_name = "MIB", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) record_max_size: u32,
}

/// A share, from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse::<f64>()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// How much an audit event records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditLevel {
    /// User, resource, decision and annotations.
    Metadata,
    /// The object of the request as well, without the data of Secrets and tokens.
    Request,
}

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines of text.
    #[value(alias = "human")]
    Text,
    /// JSON lines.
    Json,
}

/// The least severity of what is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors.
    Error,
    /// Warnings.
    Warn,
    /// Events, such as reloads.
    Info,
    /// Events of connections.
    Debug,
}

/// Parses a label's key and the values that it may have.
fn exempt_label(text: &str) -> Result<(String, Vec<String>), String> {
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let values: Vec<String> = values
        .split(',')
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
        .collect();
    let in_a_key = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    if key.is_empty() || !key.chars().all(in_a_key) {
        return Err(format!("{key:?} is not a label key"));
    }
    if text.contains('=') && values.is_empty() {
        return Err("expected KEY, or KEY=VALUE[,VALUE]".to_owned());
    }
    Ok((key.to_owned(), values))
}

fn service(text: &str) -> Result<ServiceReference, String> {
    let (path, port) = text.split_once(':').unwrap_or((text, "443"));
    let port = port.parse().map_err(|_| format!("{port:?} is not a port"))?;
    match path.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(ServiceReference {
                namespace: namespace.into(),
                name: name.into(),
                port,
            })
        }
        _ => Err("expected NAMESPACE/NAME".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read() {
        let label = |text: &str| exempt_label(text).map(|(key, values)| format!("{key} {values:?}"));
        assert_eq!(label("runlevel=0,1").as_deref(), Ok(r#"runlevel ["0", "1"]"#));
        assert_eq!(
            label("example.com/bootstrap").as_deref(),
            Ok("example.com/bootstrap []")
        );
        for wrong in ["", "=0", "runlevel=", "run level=0"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn plugins_are_offered_or_refused() {
        let plugin = |name: &str| offered(name).map(|plugin| plugin.name);
        assert_eq!(plugin("PodSecurity"), Ok("PodSecurity"));
        let check = |name: &str, expected: &str| {
            let error = plugin(name).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(
            "ResourceQuota",
            "not offered as a webhook: what it books must be exact",
        );
        check("PodSecurityPolicy", "is gone since Kubernetes 1.25");
        check("PodSecurityy", "did you mean \"PodSecurity\"?");
    }

    #[test]
    fn services_are_read() {
        let service = |text| service(text).map(|service| (service.namespace, service.name, service.port));
        assert_eq!(service("a/b"), Ok(("a".into(), "b".into(), 443)));
        assert_eq!(service("a/b:8443"), Ok(("a".into(), "b".into(), 8443)));
        for wrong in ["", "a", "a/", "/b", "a/b/c", "a/b:x", "a/b:70000"] {
            assert!(service(wrong).is_err(), "{wrong}");
        }
    }
}
