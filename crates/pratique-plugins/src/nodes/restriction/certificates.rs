//! The certificates that a node requests.

use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_objects::CertificateRequest;
use pratique_plugin::{Rejection, StateKind};
use pratique_types::Operation;

use super::NodeRequest;
use super::permission::NodePermission;
use super::pods::quoted_name;
use crate::answer::not_found_text;
use crate::object::{elements, has_annotation, text};
use crate::pods::MIRROR_POD;

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitCSR
pub(super) fn check_signing_request(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    if request.operation() != Operation::Create {
        return Ok(());
    }
    let object = request.object();
    request.require(object, "certificates.k8s.io", "CertificateSigningRequest")?;
    let signer = text(object, &["spec", "signerName"]);
    if !matches!(
        signer,
        "kubernetes.io/kubelet-serving" | "kubernetes.io/kube-apiserver-client-kubelet"
    ) {
        return Ok(());
    }
    let subject = CertificateRequest::parse(text(object, &["spec", "request"]))
        .map_err(|error| request.forbidden(format!("unable to parse csr: {error}")))?;
    let expected = format!("system:node:{}", request.node);
    if subject.common_name == expected {
        Ok(())
    } else {
        Err(request.forbidden(format!("can only create a node CSR with CN={expected}")))
    }
}

/// Checks a request for the certificate of a pod. A rejection that a stale view of the cluster may cause is an error
/// without a status, so that clients retry.
// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitPodCertificateRequest
pub(super) fn check_pod_certificate(request: &NodeRequest<'_>, enabled: bool) -> Result<(), Rejection> {
    let of = request.attributes.request;
    let operation = request.operation();
    if !enabled {
        return Err(request.forbidden("PodCertificateRequest feature gate is disabled"));
    }
    if operation != Operation::Create {
        return Err(request.forbidden(format!("unexpected operation {operation}")));
    }
    if !of.sub_resource.is_empty() {
        let subresource = &of.sub_resource;
        return Err(request.forbidden(format!("unexpected subresource {subresource}")));
    }
    let object = request.object();
    request.require(object, "certificates.k8s.io", "PodCertificateRequest")?;
    let node = text(object, &["spec", "nodeName"]);
    let quoted_node = quote(node);
    if node != request.node {
        let requesting = request.quoted_node();
        return Err(request.forbidden(format!(
            "PodCertificateRequest.Spec.NodeName={quoted_node}, which is not the requesting node {requesting}"
        )));
    }
    let state = request.context.state;
    let shown_pod = quoted_name(&of.namespace, text(object, &["spec", "podName"]));
    let Some(stored) = state.find(StateKind::NODE, "", node)? else {
        let reason = not_found_text("", "node", node);
        return Err(Rejection::Error(format!(
            "while retrieving node {quoted_node} named in the PodCertificateRequest: {reason}"
        )));
    };
    let (uid, stored_uid) = (
        text(object, &["spec", "nodeUID"]),
        text(stored, &["metadata", "uid"]),
    );
    if uid != stored_uid {
        let (uid, stored_uid) = (quote(uid), quote(stored_uid));
        return Err(Rejection::Error(format!(
            "PodCertificateRequest for pod {shown_pod} names node UID {uid}, inconsistent with the running node \
             ({stored_uid})"
        )));
    }
    check_pod(request, &shown_pod)
}

fn check_pod(request: &NodeRequest<'_>, shown_pod: &str) -> Result<(), Rejection> {
    let of = request.attributes.request;
    let (object, state) = (request.object(), request.context.state);
    let name = text(object, &["spec", "podName"]);
    let Some(pod) = state.find(StateKind::POD, &of.namespace, name)? else {
        let reason = not_found_text("", "pod", name);
        return Err(Rejection::Error(format!(
            "while retrieving pod {shown_pod} named in the PodCertificateRequest: {reason}"
        )));
    };
    let (uid, stored_uid) = (text(object, &["spec", "podUID"]), text(pod, &["metadata", "uid"]));
    if uid != stored_uid {
        let (uid, stored_uid) = (quote(uid), quote(stored_uid));
        return Err(Rejection::Error(format!(
            "PodCertificateRequest for pod {shown_pod} contains pod UID ({uid}) which differs from running pod \
             {stored_uid}"
        )));
    }
    let node = text(object, &["spec", "nodeName"]);
    if text(pod, &["spec", "nodeName"]) != node {
        let node = quote(node);
        return Err(request.forbidden(format!(
            "pod {shown_pod} is not running on node {node} named in the PodCertificateRequest"
        )));
    }
    if has_annotation(pod, MIRROR_POD) {
        return Err(request.forbidden(format!("pod {shown_pod} is a mirror pod")));
    }
    check_account(request, shown_pod, text(pod, &["spec", "serviceAccountName"]))?;
    // Upstream: validateNodePodCertificateSigner is new in 1.37.
    if request.release.at_least(1, 37) {
        check_signer(request, shown_pod, pod)
    } else {
        Ok(())
    }
}

/// Checks that the pod mounts certificates of the signer, or that the node may request them all the same.
// Upstream: plugin/pkg/admission/noderestriction/admission.go, validateNodePodCertificateSigner, since 1.37
fn check_signer(request: &NodeRequest<'_>, shown_pod: &str, pod: &Value<'_>) -> Result<(), Rejection> {
    let object = request.object();
    let signer = text(object, &["spec", "signerName"]);
    let mut volumes = elements(pod, &["spec", "volumes"]).iter();
    let mounts_signer = volumes.any(|volume| {
        let mut sources = elements(volume, &["projected", "sources"]).iter();
        sources.any(|source| {
            let certificate = source.get("podCertificate").filter(|source| !source.is_null());
            certificate.is_some_and(|certificate| text(certificate, &["signerName"]) == signer)
        })
    });
    if mounts_signer {
        return Ok(());
    }
    // Rules of RBAC cannot name resources with a slash.
    let resource = signer.replace('/', ":");
    let account = text(object, &["spec", "serviceAccountName"]);
    let permission = request.ask(
        "request-serviceaccounts-podcertificate-signer",
        &resource,
        account,
    )?;
    let signer = quote(signer);
    match permission {
        NodePermission::Granted => Ok(()),
        NodePermission::Refused => Err(request.forbidden(format!(
            "pod {shown_pod} does not mount a podCertificate projected volume for signer {signer}"
        ))),
        NodePermission::Failed(error) => {
            let user = &request.attributes.request.user_info.username;
            Err(request.forbidden(format!(
                "error authorizing {user} to request podcertificaterequests for signer {signer}: {error}"
            )))
        }
    }
}

fn check_account(request: &NodeRequest<'_>, shown_pod: &str, of_pod: &str) -> Result<(), Rejection> {
    let namespace = &request.attributes.request.namespace;
    let (object, state) = (request.object(), request.context.state);
    let account = text(object, &["spec", "serviceAccountName"]);
    if account != of_pod {
        let (account, of_pod) = (quote(account), quote(of_pod));
        return Err(request.forbidden(format!(
            "PodCertificateRequest for pod {shown_pod} contains serviceAccountName ({account}) that differs from \
             running pod ({of_pod})"
        )));
    }
    let Some(stored) = state.find(StateKind::SERVICE_ACCOUNT, namespace, account)? else {
        let reason = not_found_text("", "serviceaccount", account);
        let account = quoted_name(namespace, account);
        return Err(Rejection::Error(format!(
            "while retrieving service account {account} named in the PodCertificateRequest: {reason}"
        )));
    };
    let uid = text(object, &["spec", "serviceAccountUID"]);
    let stored_uid = text(stored, &["metadata", "uid"]);
    if uid != stored_uid {
        let (uid, stored_uid) = (quote(uid), quote(stored_uid));
        return Err(Rejection::Error(format!(
            "PodCertificateRequest for pod {shown_pod} names service account UID {uid}, which differs from the \
             running service account ({stored_uid})"
        )));
    }
    Ok(())
}
