//! Where a webhook listens: its URL, or that of a service.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::WebhookClientConfig;
use pratique_gotext::strconv::quote;
use pratique_gotext::url::Url;

use crate::caller::Endpoint;

/// A service of the cluster, with the port that a webhook is behind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The namespace that it is in.
    pub namespace: String,
    /// The port that it serves.
    pub port: i32,
}

/// Finds services. Where nobody does, the cluster's DNS has to know `name.namespace.svc`.
pub trait Services: Send + Sync {
    /// `host:port` to connect to; `None` where its name is to be looked up.
    ///
    /// # Errors
    /// Why it is not found, for people.
    fn address(&self, service: &Service) -> Result<Option<String>, String>;
}

/// Leaves all services to the cluster's DNS.
impl Services for () {
    fn address(&self, _: &Service) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// Where a webhook is to be found; the error is what a call fails with.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) endpoint: Result<Arc<Endpoint>, String>,
    pub(crate) service: Option<Service>,
}

impl Location {
    pub(crate) fn compile(webhook: &str, config: &WebhookClientConfig) -> Self {
        let ca_bundle = config.ca_bundle.as_ref().map(|bundle| bundle.0.clone());
        let ca_bundle = ca_bundle.filter(|bundle| !bundle.is_empty());
        let Some(reference) = &config.service else {
            let url = normalized(webhook, config.url.as_deref());
            return Location {
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
        // A service's path is one whatever it has in it; a URL would end it at these.
        let path = clean(reference.path.as_deref().unwrap_or_default());
        let path = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
        Location {
            endpoint: Ok(Arc::new(Endpoint {
                url: format!("https://{name}:{}{path}", service.port),
                server_name: Some(name),
                ca_bundle,
            })),
            service: Some(service),
        }
    }
}

/// A URL as requests are sent to it: the query and what else follows the path is dropped, the path is cleaned.
fn normalized(webhook: &str, url: Option<&str>) -> Result<String, String> {
    let failed = |why: &str| {
        format!(
            "could not get REST client: failed calling webhook {}: {why}",
            quote(webhook)
        )
    };
    let url = url.filter(|url| !url.is_empty());
    let url = url.ok_or_else(|| failed("webhook configuration must have either service or URL"))?;
    let parsed = Url::parse(url).map_err(|error| failed(&format!("Unparsable URL: {error}")))?;
    if parsed.scheme().is_empty() {
        let shown = quote(&format!("://{}", parsed.host()));
        return Err(format!(
            "could not get REST client: host must be a URL or a host:port pair: {shown}"
        ));
    }
    let path = clean(&parsed.escaped_path());
    Ok(format!("{}://{}{path}", parsed.scheme(), parsed.host()))
}

/// A path from the root, without empty steps and those up and on the spot.
fn clean(path: &str) -> String {
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
        let location = Location::compile("h.example.com", config);
        let shown = location.endpoint.map(|endpoint| endpoint.url.clone());
        assert_eq!(shown.unwrap_or_else(|error| error), expected);
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
