//! The command line of `pratique serve`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pratique::guards::{Breaking, Guards};
use pratique_types::FeatureGates;

use super::{ClusterArguments, Listen, PolicyArguments};

/// Answer an API server's AdmissionReviews, at /mutate, /validate and /admit.
///
/// Without --config, --manifests and --follow the Pod Security Standards judge; without certificates the server makes one
/// for itself, which nobody trusts. Directories and certificates are read again whenever they change.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The address to listen at; a name, such as localhost, stands for all its addresses, and :8443 for all of the machine.
    #[arg(
        long,
        env = "PRATIQUE_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8443"
    )]
    pub(crate) listen: Listen,
    /// An address to serve health and metrics at as well: by plain HTTP, without anything that clients of reviews could
    /// use up. /livez, /readyz and /metrics stay at the other address, too.
    #[arg(long, env = "PRATIQUE_HEALTH_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) health_listen: Option<Listen>,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
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
    /// Where to write audit events, as lines of JSON; `-` is standard output. A file that is made is for its owner only.
    #[arg(long, env = "PRATIQUE_AUDIT_LOG", value_name = "FILE")]
    pub(crate) audit_log: Option<String>,
    /// How much audit events tell.
    #[arg(long, env = "PRATIQUE_AUDIT_LEVEL", default_value = "metadata")]
    pub(crate) audit_level: AuditLevel,
    /// Keep the data of Secrets, and tokens of TokenRequests and TokenReviews, in the objects that audit events tell.
    #[arg(long, env = "PRATIQUE_AUDIT_SECRETS")]
    pub(crate) audit_secrets: bool,
    /// Leave out the page for people at /. Without --client-ca, it is for browsers on this machine only.
    #[arg(long, env = "PRATIQUE_NO_STATUS_PAGE")]
    pub(crate) no_status_page: bool,
    /// Names in URLs that the page may be opened by, besides localhost, the address of this machine and the name in
    /// --listen. To others it is refused, so that a web site whose name resolves to this machine cannot read it.
    #[arg(
        long,
        env = "PRATIQUE_STATUS_PAGE_HOSTS",
        value_name = "NAME,…",
        value_delimiter = ','
    )]
    pub(crate) status_page_hosts: Vec<String>,
    /// How long to go on, in seconds, after SIGTERM, so that others hear that this server ends. After SIGINT it ends at
    /// once.
    #[arg(
        long,
        env = "PRATIQUE_DRAIN_DELAY",
        value_name = "SECONDS",
        default_value_t = 5
    )]
    pub(crate) drain_delay: u64,
    /// How long requests may take then, in seconds.
    #[arg(
        long,
        env = "PRATIQUE_DRAIN_GRACE",
        value_name = "SECONDS",
        default_value_t = 20
    )]
    pub(crate) drain_grace: u64,
    /// The identity of this server, whose hash metrics show.
    #[arg(long, env = "PRATIQUE_IDENTITY", value_name = "NAME")]
    pub(crate) identity: Option<String>,
    /// How to print what happens.
    #[arg(long, env = "PRATIQUE_LOG_FORMAT", default_value = "human")]
    pub(crate) log_format: LogFormat,
    /// How much of it to print.
    #[arg(long, env = "PRATIQUE_LOG_LEVEL", default_value = "info")]
    pub(crate) log_level: LogLevel,
    /// Feature gates of kube-apiserver, as NAME=true|false.
    #[arg(
        long,
        env = "PRATIQUE_FEATURE_GATES",
        value_name = "NAME=BOOL,…",
        default_value = ""
    )]
    pub(crate) feature_gates: FeatureGates,
}

impl ServeArguments {
    /// Whether they name what to evaluate: without, that is the Pod Security Standards.
    pub(crate) fn has_policies(&self) -> bool {
        self.policies.config.is_some() || self.policies.manifests.is_some() || self.cluster.follows()
    }
}

/// Certificates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Certificates")]
pub(crate) struct CertificateArguments {
    /// The server's certificate, with those between it and its root, as PEM.
    #[arg(long, env = "PRATIQUE_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the server's certificate, as PEM.
    #[arg(long, env = "PRATIQUE_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Roots of clients' certificates, as PEM: only clients with one may then ask for reviews.
    #[arg(long, env = "PRATIQUE_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Show /metrics only to clients with a certificate, too. Without, they are for everybody who reaches the port.
    #[arg(long, env = "PRATIQUE_PROTECT_METRICS", requires = "client_ca")]
    pub(crate) protect_metrics: bool,
    /// Serve HTTP instead of HTTPS, to this machine only.
    #[arg(long, env = "PRATIQUE_PLAIN_HTTP", conflicts_with = "tls_cert")]
    pub(crate) plain_http: bool,
}

/// What clients may take.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// The largest body of a request, in MiB. An API server's own bounds lead to 27 MiB at most; with less, objects that
    /// are large enough pass where the failure policy is Ignore.
    #[arg(long, env = "PRATIQUE_MAX_BODY", value_name = "MIB", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) max_body: u16,
    /// The memory that all requests may take together, in MiB: bodies, what they are parsed into, evaluation, and answers
    /// until they are read. Without it, half of the container's limit, but not more than 1024; or 512 where there is none.
    #[arg(long, env = "PRATIQUE_MAX_MEMORY", value_name = "MIB",
          value_parser = clap::value_parser!(u32).range(16..=1 << 20))]
    pub(crate) max_memory: Option<u32>,
    /// What --max-memory was called when it was about bodies only.
    #[arg(long, env = "PRATIQUE_MAX_BODIES", value_name = "MIB", hide = true,
          value_parser = clap::value_parser!(u32).range(16..=1 << 20))]
    pub(crate) max_bodies: Option<u32>,
    /// How many requests are judged at a time.
    #[arg(long, env = "PRATIQUE_MAX_REQUESTS", value_name = "COUNT", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests: u32,
    /// How many connections there may be; fewer where the process may not open enough files (`ulimit -n`).
    #[arg(long, env = "PRATIQUE_MAX_CONNECTIONS", value_name = "COUNT", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: u32,
}

/// How webhooks among the manifests are kept from taking everything down with them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calls of webhooks among the manifests")]
pub(crate) struct GuardArguments {
    /// Leave a webhook alone after so many failures in a row: its failurePolicy applies at once. Without, it is called
    /// again and again, as by an API server.
    #[arg(long, env = "PRATIQUE_CALL_BREAKER", value_name = "FAILURES")]
    pub(crate) call_breaker: Option<NonZeroU32>,
    /// For how long, in seconds. Then one call is made to see.
    #[arg(
        long,
        env = "PRATIQUE_CALL_COOL_DOWN",
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "call_breaker"
    )]
    pub(crate) call_cool_down: u64,
    /// How many calls of one webhook may be under way at once; others wait, within their time.
    #[arg(long, env = "PRATIQUE_CALLS_AT_ONCE", value_name = "COUNT")]
    pub(crate) calls_at_once: Option<NonZeroUsize>,
    /// How long all webhooks of a request may take together, in seconds.
    #[arg(long, env = "PRATIQUE_CALL_BUDGET", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) call_budget: Option<u64>,
    /// Follow redirections of webhooks from https to http, as an API server does: reviews, with the objects in them, and
    /// credentials are then sent for everybody on the way to read. Without, such a call fails.
    #[arg(long, env = "PRATIQUE_FOLLOW_PLAIN_HTTP_REDIRECTS")]
    pub(crate) follow_plain_http_redirects: bool,
}

impl GuardArguments {
    /// What they ask for.
    pub(crate) fn guards(&self) -> Guards {
        Guards {
            breaker: self.call_breaker.map(|failures| Breaking {
                failures,
                cool_down: Duration::from_secs(self.call_cool_down),
            }),
            calls_at_once: self.calls_at_once,
            budget: self.call_budget.map(Duration::from_secs),
        }
    }
}

/// How an API server is told of this server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Webhook configuration")]
pub(crate) struct RegistrationArguments {
    /// Print the webhook configurations that have an API server ask about what is judged here, and end.
    #[arg(long)]
    pub(crate) print_webhook_configuration: bool,
    /// The name of the configurations.
    #[arg(
        long,
        env = "PRATIQUE_WEBHOOK_NAME",
        value_name = "NAME",
        default_value = "pratique"
    )]
    pub(crate) webhook_name: String,
    /// The service that this server is behind. Its namespace is never asked about.
    #[arg(long, env = "PRATIQUE_WEBHOOK_SERVICE", value_name = "NAMESPACE/NAME[:PORT]",
          default_value = "pratique-system/pratique", value_parser = service)]
    pub(crate) webhook_service: Service,
    /// The URL that this server is at, where it is behind no service.
    #[arg(long, env = "PRATIQUE_WEBHOOK_URL", value_name = "URL")]
    pub(crate) webhook_url: Option<String>,
    /// The root of the server's certificate, as PEM.
    #[arg(long, env = "PRATIQUE_WEBHOOK_CA", value_name = "FILE")]
    pub(crate) webhook_ca: Option<String>,
    /// The Certificate of cert-manager whose root is to be filled in.
    #[arg(
        long,
        env = "PRATIQUE_WEBHOOK_CA_FROM",
        value_name = "NAMESPACE/NAME",
        conflicts_with = "webhook_ca"
    )]
    pub(crate) webhook_ca_from: Option<String>,
    /// How long an API server waits, in seconds.
    #[arg(long, env = "PRATIQUE_WEBHOOK_TIMEOUT", value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=30))]
    pub(crate) webhook_timeout: u32,
    /// Namespaces that are never asked about, besides kube-system, kube-public, kube-node-lease and the server's own.
    #[arg(
        long,
        env = "PRATIQUE_EXEMPT_NAMESPACE",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub(crate) exempt_namespace: Vec<String>,
    /// A label that exempts the namespaces that have it, with one of the values if there are any: runlevel=0,1 spares
    /// what a cluster and its webhooks need to start. Can be given several times.
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
pub(crate) struct Service {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) port: u16,
}

/// How much an audit event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditLevel {
    /// Who, what and how it went.
    Metadata,
    /// The object of the request, too; without the data of Secrets, and tokens.
    Request,
}

/// How lines of a log look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// JSON.
    Json,
}

/// How much a log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// What went wrong.
    Error,
    /// And what may.
    Warn,
    /// And what happens.
    Info,
    /// And what happens to connections.
    Debug,
}

/// A label's key, and the values that it may have.
fn exempt_label(text: &str) -> Result<(String, Vec<String>), String> {
    let (key, values) = text.split_once('=').unwrap_or((text, ""));
    let values: Vec<String> = values
        .split(',')
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
        .collect();
    let in_a_key = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    if key.is_empty() || !key.chars().all(in_a_key) {
        return Err(format!("{key:?} is no key of a label"));
    }
    if text.contains('=') && values.is_empty() {
        return Err("expected KEY, or KEY=VALUE[,VALUE]".to_owned());
    }
    Ok((key.to_owned(), values))
}

fn service(text: &str) -> Result<Service, String> {
    let (path, port) = text.split_once(':').unwrap_or((text, "443"));
    let port = port.parse().map_err(|_| format!("{port:?} is no port"))?;
    match path.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(Service {
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
    fn services_are_read() {
        let service = |text| service(text).map(|own| (own.namespace, own.name, own.port));
        assert_eq!(service("a/b"), Ok(("a".into(), "b".into(), 443)));
        assert_eq!(service("a/b:8443"), Ok(("a".into(), "b".into(), 8443)));
        for wrong in ["", "a", "a/", "/b", "a/b/c", "a/b:x", "a/b:70000"] {
            assert!(service(wrong).is_err(), "{wrong}");
        }
    }
}
