//! NodeRestriction: a node changes only its own objects.

mod audience;
mod certificates;
mod claim_diff;
mod claims;
mod csi_node;
mod node;
mod permission;
mod pods;
mod references;

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::{MissingState, MutableAttributes, PluginContext, PluginSettings, Rejection, gates};
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, Operation};

use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{go_type, is_kind, name, text};

// Upstream: plugin/pkg/admission/noderestriction/admission.go
pub(crate) struct NodeRestriction {
    insecure_requests: bool,
    restricts_audiences: bool,
    pod_certificates: bool,
    volume_health: bool,
    release: &'static Release,
}

impl NodeRestriction {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        let enabled = |gate| settings.feature_gates.is_on(gate);
        NodeRestriction {
            insecure_requests: enabled(gates::ALLOW_INSECURE_KUBELET_CSR),
            restricts_audiences: enabled(gates::NODE_AUDIENCE_RESTRICTION),
            pod_certificates: enabled(gates::POD_CERTIFICATE_REQUEST),
            volume_health: enabled(gates::CSI_VOLUME_HEALTH),
            release: settings.feature_gates.release(),
        }
    }
}

/// A request of a node.
struct NodeRequest<'a> {
    node: &'a str,
    attributes: Attributes<'a>,
    context: &'a PluginContext<'a>,
    release: &'static Release,
}

impl BuiltInPlugin for NodeRestriction {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let Some(node) = node_of(attributes.request)? else {
            return Ok(());
        };
        let request = NodeRequest {
            node,
            attributes: attributes.as_attributes(),
            context,
            release: self.release,
        };
        if node.is_empty() {
            let user = quote(&attributes.request.user_info.username);
            return Err(request.forbidden(format!("could not determine node from user {user}")));
        }
        self.check_request(&request)
    }
}

impl NodeRestriction {
    fn check_request(&self, request: &NodeRequest<'_>) -> Result<(), Rejection> {
        let of = request.attributes.request;
        let subresource = of.sub_resource.as_str();
        match (of.resource.group.as_str(), of.resource.resource.as_str()) {
            ("", "pods") => match subresource {
                "" => pods::check_pod(request),
                "status" => pods::check_status(request),
                "eviction" => pods::check_eviction(request),
                other => {
                    let other = quote(other);
                    Err(request.forbidden(format!(
                        "unexpected pod subresource {other}, only 'status' and 'eviction' are allowed"
                    )))
                }
            },
            ("", "nodes") => node::check_node(request),
            ("", "persistentvolumeclaims") => match subresource {
                "status" => claims::check_status(request),
                _ => Err(request.forbidden("may only update PVC status")),
            },
            ("", "serviceaccounts") => audience::check_token(request, self.restricts_audiences),
            ("certificates.k8s.io", "podcertificaterequests") => {
                certificates::check_pod_certificate(request, self.pod_certificates)
            }
            ("certificates.k8s.io", "certificatesigningrequests") if !self.insecure_requests => {
                certificates::check_signing_request(request)
            }
            ("coordination.k8s.io", "leases") => check_lease(request),
            ("storage.k8s.io", "csinodes") => csi_node::check_csi_node(request, self.volume_health),
            ("resource.k8s.io", "resourceslices") => check_slice(request),
            _ => Ok(()),
        }
    }
}

impl<'a> NodeRequest<'a> {
    fn forbidden(&self, error: impl AsRef<str>) -> Rejection {
        forbidden(&self.attributes, error)
    }

    fn object(&self) -> &'a Value<'a> {
        self.attributes.object
    }

    fn old_object(&self) -> &'a Value<'a> {
        &self.attributes.request.old_object
    }

    fn operation(&self) -> Operation {
        self.attributes.request.operation
    }

    /// The node's name as messages quote it.
    fn quoted_node(&self) -> String {
        quote(self.node)
    }

    fn unexpected_type(&self, object: &Value<'_>) -> Rejection {
        self.forbidden(format!("unexpected type {}", go_type(object)))
    }

    /// Checks that an object is of a kind.
    fn require(&self, object: &Value<'_>, group: &str, kind: &str) -> Result<(), Rejection> {
        if is_kind(object, group, kind) {
            Ok(())
        } else {
            Err(self.unexpected_type(object))
        }
    }
}

/// The name of the node that sends a request; `None` for users that are no nodes.
// Upstream: pkg/auth/nodeidentifier/default.go, NodeIdentity
fn node_of<'a>(request: &'a AdmissionRequest<'_>) -> Result<Option<&'a str>, MissingState> {
    let user = &request.user_info;
    let Some(node) = user.username.strip_prefix("system:node:") else {
        return Ok(None);
    };
    // Without its groups, nothing says whether such a user is one.
    if request.lacks_details {
        let path = "request.userInfo.groups";
        return Err(MissingState::RequestDetail { path });
    }
    let is_node = user.groups.iter().any(|group| group == "system:nodes");
    Ok(is_node.then_some(node))
}

fn check_lease(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let of = request.attributes.request;
    if of.namespace != "kube-node-lease" {
        return Err(request.forbidden("can only access leases in the \"kube-node-lease\" system namespace"));
    }
    let lease = match request.operation() {
        Operation::Create => {
            request.require(request.object(), "coordination.k8s.io", "Lease")?;
            name(request.object())
        }
        _ => &of.name,
    };
    if lease == request.node {
        Ok(())
    } else {
        Err(request.forbidden("can only access node lease with the same name as the requesting node"))
    }
}

fn check_slice(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let (slice, verb) = match request.operation() {
        Operation::Create => (request.object(), "create"),
        Operation::Delete => (request.old_object(), "delete"),
        _ => return Ok(()),
    };
    request.require(slice, "resource.k8s.io", "ResourceSlice")?;
    if text(slice, &["spec", "nodeName"]) == request.node {
        Ok(())
    } else {
        Err(request.forbidden(format!(
            "can only {verb} ResourceSlice with the same NodeName as the requesting node"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_nodes_by_name_and_group() {
        let node = |username: &str, groups: &[&str], lacks_details: bool| {
            let mut request = AdmissionRequest {
                lacks_details,
                ..AdmissionRequest::default()
            };
            username.clone_into(&mut request.user_info.username);
            request.user_info.groups = groups.iter().map(|group| (*group).to_owned()).collect();
            node_of(&request)
                .map(|node| node.map(str::to_owned))
                .map_err(drop)
        };
        assert_eq!(
            node("system:node:a", &["system:nodes"], false),
            Ok(Some("a".to_owned()))
        );
        assert_eq!(node("system:node:a", &["others"], false), Ok(None));
        assert_eq!(node("ann", &["system:nodes"], false), Ok(None));
        // A log may leave out groups.
        assert_eq!(node("system:node:a", &[], true), Err(()));
        assert_eq!(node("ann", &[], true), Ok(None));
    }
}
