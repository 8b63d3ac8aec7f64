//! `certificates`.

use pratique_json::{Object, Value};

use super::DefaultContext;
use super::field::text_member;
use crate::certificate_request::CertificateRequest;

/// The default signer of a request, which is another one for requests of nodes.
// Upstream: pkg/apis/certificates/v1beta1/defaults.go, DefaultSignerNameFromSpec
pub(super) fn signer(spec: &mut Object<'_>, _: &DefaultContext<'_>) {
    let usages = spec.get("usages").and_then(Value::as_array).unwrap_or_default();
    let usages: Vec<&str> = usages.iter().filter_map(Value::as_str).collect();
    let signer = match CertificateRequest::parse(text_member(spec, "request")) {
        Ok(request) if request.is_kubelet_client(&usages) => "kubernetes.io/kube-apiserver-client-kubelet",
        Ok(request) if request.is_kubelet_serving(&usages) => "kubernetes.io/kubelet-serving",
        _ => "kubernetes.io/legacy-unknown",
    };
    spec.insert("signerName", signer);
}
