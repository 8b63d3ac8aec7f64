//! Connections to a part of an object: their options stand in the address.

use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind};

use super::{RequestSource, admitted, options};
use crate::replay_result::ReplayRequest;

/// Whether requests with objects of a kind connect, whatever their method is: `PodExecOptions`, `ServiceProxyOptions`, ….
pub(super) fn is_connected(kind: &GroupVersionKind) -> bool {
    kind.group.is_empty() && kind.kind.ends_with("Options")
}

/// The request of an event that connects.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, ConnectResource
pub(super) fn request<'e>(source: &RequestSource<'_>, request: AdmissionRequest<'e>) -> ReplayRequest<'e> {
    let release = source.replayer.release();
    let mut object = match release.schema().kind(&request.kind) {
        Some(id) => options::of_parameters(release, id, source.uri),
        None => pratique_json::Object::new(),
    };
    if let ("proxy", Some(path)) = (source.about.subresource.as_str(), proxied(&source.uri.path)) {
        object.insert("path", path);
    }
    object.insert("kind", request.kind.kind.clone());
    object.insert("apiVersion", request.kind.api_version());
    let mut object = Value::Object(object);
    source.replayer.builtin().set_defaults(&request.kind, &mut object);
    let request = AdmissionRequest {
        object,
        options: Value::Null,
        dry_run: Some(false),
        ..request
    };
    admitted(request, Vec::new())
}

/// The path that a proxy is asked for.
// Upstream: apiserver/pkg/endpoints/handlers/get.go, getRequestOptions
fn proxied(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/proxy")?;
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    let mut proxied = parts.join("/");
    if !proxied.is_empty() {
        proxied.insert(0, '/');
    }
    if path.ends_with('/') && !proxied.ends_with('/') {
        proxied.push('/');
    }
    Some(proxied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_proxy() {
        for (path, expected) in [
            ("/api/v1/namespaces/a/pods/b/proxy", Some("")),
            ("/api/v1/namespaces/a/pods/b/proxy/", Some("/")),
            ("/api/v1/namespaces/a/services/b:80/proxy/x/y", Some("/x/y")),
            ("/api/v1/nodes/n/proxy/x/", Some("/x/")),
            ("/api/v1/nodes/n", None),
        ] {
            assert_eq!(proxied(path).as_deref(), expected, "{path}");
        }
    }
}
