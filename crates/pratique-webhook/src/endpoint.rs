//! The endpoint of a webhook: its URL, or that of a service.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::WebhookClientConfig;
use pratique_gotext::strconv::quote;
use pratique_gotext::url::Url;

use crate::caller::Endpoint;

/// A service of the cluster, with the port of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// The name of the service.
    pub name: String,
    /// The namespace of the service.
    pub namespace: String,
    /// The port of the service.
    pub port: i32,
}

/// Resolves services. Without a resolver, the DNS of the cluster has to know `name.namespace.svc`.
// Upstream: pkg/util/webhook/serviceresolver.go, ServiceResolver
pub trait Services: Send + Sync {
    /// The `host:port` to connect to; `None` where the name of the service is looked up.
    ///
    /// # Errors
    /// The message of a call that fails because the service is not found.
    fn address(&self, service: &Service) -> Result<Option<String>, String>;
}

/// Leaves all services to the DNS of the cluster.
impl Services for () {
    fn address(&self, _: &Service) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// Why a webhook has no endpoint. The messages are those that its calls fail with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EndpointError {
    /// Its configuration has neither a service nor a URL.
    #[error(
        "could not get REST client: failed calling webhook {}: webhook configuration must have either service or URL",
        quote(webhook)
    )]
    Missing {
        /// The name of the webhook.
        webhook: String,
    },
    /// Its URL cannot be parsed.
    #[error(
        "could not get REST client: failed calling webhook {}: Unparsable URL: {error}",
        quote(webhook)
    )]
    Unparsable {
        /// The name of the webhook.
        webhook: String,
        /// Why.
        error: String,
    },
    /// Its URL has no scheme; it is given without its path.
    #[error("could not get REST client: host must be a URL or a host:port pair: {}", quote(.0))]
    NoScheme(String),
}

/// The endpoint of a webhook, and the service that it belongs to.
#[derive(Debug)]
pub(crate) struct ServiceLocation {
    pub(crate) endpoint: Result<Arc<Endpoint>, EndpointError>,
    pub(crate) service: Option<Service>,
}

impl ServiceLocation {
    pub(crate) fn compile(webhook: &str, config: &WebhookClientConfig) -> Self {
        let ca_bundle = config.ca_bundle.as_ref().map(|bundle| bundle.0.clone());
        let ca_bundle = ca_bundle.filter(|bundle| !bundle.is_empty());
        let Some(reference) = &config.service else {
            let url = normalized(webhook, config.url.as_deref());
            return ServiceLocation {
                endpoint: url.map(|url| {
                    Arc::new(Endpoint {
                        url,
                        server_name: None,
                        ca_bundle,
                    })
                }),
                service: None,
            };
        };
        let service = Service {
            name: reference.name.clone(),
            namespace: reference.namespace.clone(),
            port: reference.port.filter(|port| *port != 0).unwrap_or(443),
        };
        let name = format!("{}.{}.svc", service.name, service.namespace);
        // In a URL, these characters would end the path.
        let path = clean(reference.path.as_deref().unwrap_or_default());
        let path = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
        ServiceLocation {
            endpoint: Ok(Arc::new(Endpoint {
                url: format!("https://{name}:{}{path}", service.port),
                server_name: Some(name),
                ca_bundle,
            })),
            service: Some(service),
        }
    }
}

/// Normalises a URL: the path is cleaned, and everything after it is dropped.
fn normalized(webhook: &str, url: Option<&str>) -> Result<String, EndpointError> {
    let webhook = || webhook.to_owned();
    let url = url.filter(|url| !url.is_empty());
    let url = url.ok_or_else(|| EndpointError::Missing { webhook: webhook() })?;
    let parsed = Url::parse(url).map_err(|error| EndpointError::Unparsable {
        webhook: webhook(),
        error: error.to_string(),
    })?;
    if parsed.scheme().is_empty() {
        return Err(EndpointError::NoScheme(format!("://{}", parsed.host())));
    }
    let path = clean(&parsed.escaped_path());
    Ok(format!("{}://{}{path}", parsed.scheme(), parsed.host()))
}

/// An absolute path without empty segments, `.`, `..` and a slash at its end.
pub(crate) fn clean(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::admissionregistration::v1::ServiceReference;

    use super::*;

    fn at_url(url: &str) -> WebhookClientConfig {
        WebhookClientConfig {
            url: Some(url.to_owned()),
            ..WebhookClientConfig::default()
        }
    }

    #[track_caller]
    fn check(config: &WebhookClientConfig, expected: &str) {
        let location = ServiceLocation::compile("h.example.com", config);
        let shown = location.endpoint.map(|endpoint| endpoint.url.clone());
        assert_eq!(shown.unwrap_or_else(|error| error.to_string()), expected);
    }

    #[test]
    fn urls_are_cleaned() {
        check(&at_url("https://a.example:8443/x"), "https://a.example:8443/x");
        check(&at_url("https://a.example"), "https://a.example/");
        check(&at_url("https://a.example/x//y/?q=1#f"), "https://a.example/x/y");
        check(&at_url("https://a.example/x/../%20y"), "https://a.example/%20y");
    }

    #[test]
    fn services_have_a_name() {
        let service = |path: Option<&str>, port| WebhookClientConfig {
            service: Some(ServiceReference {
                name: "s".to_owned(),
                namespace: "n".to_owned(),
                path: path.map(str::to_owned),
                port,
            }),
            ..WebhookClientConfig::default()
        };
        check(&service(None, None), "https://s.n.svc:443/");
        check(&service(Some("/x"), Some(8443)), "https://s.n.svc:8443/x");
        check(
            &service(Some("/x?a=b#c"), None),
            "https://s.n.svc:443/x%3Fa=b%23c",
        );
    }

    #[test]
    fn without_either_there_is_an_error() {
        check(
            &WebhookClientConfig::default(),
            "could not get REST client: failed calling webhook \"h.example.com\": webhook configuration must have \
             either service or URL",
        );
        check(
            &at_url(""),
            "could not get REST client: failed calling webhook \"h.example.com\": webhook configuration must have \
             either service or URL",
        );
        check(
            &at_url("/x"),
            "could not get REST client: host must be a URL or a host:port pair: \"://\"",
        );
    }
}
