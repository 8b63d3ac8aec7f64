//! `certificates`.

use pratique_json::{Object, Value};

use super::field::{absent, empty, is_absent, text};
use super::{Context, Function};
use crate::certificate_request::CertificateRequest;

pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "CertificateSigningRequestCondition" => |object, _| empty(object, "status", "True"),
        "CertificateSigningRequestSpec" => request,
        _ => return None,
    })
}

fn request(object: &mut Object<'_>, _: &Context<'_>) {
    let usages = vec![Value::from("digital signature"), Value::from("key encipherment")];
    absent(object, "usages", usages);
    if is_absent(object, "signerName") {
        let signer = signer(object);
        object.insert("signerName", signer);
    }
}

/// Who is to sign a request that does not say it: nodes ask in a form of their own.
// Upstream: pkg/apis/certificates/v1beta1/defaults.go, DefaultSignerNameFromSpec
fn signer(spec: &Object<'_>) -> &'static str {
    let usages = spec.get("usages").and_then(Value::as_array).unwrap_or_default();
    let usages: Vec<&str> = usages.iter().filter_map(Value::as_str).collect();
    match CertificateRequest::parse(text(spec, "request")) {
        Ok(request) if request.is_kubelet_client(&usages) => "kubernetes.io/kube-apiserver-client-kubelet",
        Ok(request) if request.is_kubelet_serving(&usages) => "kubernetes.io/kubelet-serving",
        _ => "kubernetes.io/legacy-unknown",
    }
}
