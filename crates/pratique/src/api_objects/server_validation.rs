//! A server's own validation of the object of a request, as it is to be stored.

use std::sync::PoisonError;

use pratique_json::Value;
use pratique_match::Namespace;
use pratique_policy::Cluster;
use pratique_schema::FeatureGates;
use pratique_types::{AdmissionRequest, GroupVersionResource, Operation, Status, status};
use pratique_validation::{Candidate, NamespaceView, OpenQuestion, Rejection};

use super::assumed_fields::{assume_plugins, keep_stored};
use super::known_services::{
    KnownServices, RequestedService, asks_for_one, depends_on_services, is_of_service,
};
use super::server_request::ReceivedRequest;

/// An object of a built-in kind that a server's own validation refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidObject {
    /// The object as it was to be stored.
    pub object: Value<'static>,
    /// The stored object; null where the object is new.
    pub old_object: Value<'static>,
    /// The feature gates of the server.
    pub gates: FeatureGates,
    /// The stored namespace of the object, where it is known.
    pub namespace: Option<Value<'static>>,
}

impl ReceivedRequest<'_> {
    /// Whether there are rules by which the object of a request is validated.
    pub(super) fn is_validated(&self, request: &AdmissionRequest<'_>) -> bool {
        let is_update = request.operation == Operation::Update;
        self.options
            .validator
            .is_some_and(|validator| validator.covers(&request.kind, &request.sub_resource, is_update))
    }

    /// Validates an object as it is to be stored, beside the Service that was sent, if it is one. Of a kind without rules it is not known
    /// whether a server stores it.
    // Upstream: apiserver/pkg/registry/rest/create.go, BeforeCreate; update.go, BeforeUpdate
    pub(super) fn validate(
        &self,
        attributes: &pratique_registry::Attributes<'_>,
        sent: Option<&Value<'_>>,
        cluster: &dyn Cluster,
    ) -> Result<(), Box<Status>> {
        let Some(validator) = self.options.validator else {
            return Ok(());
        };
        let not_found;
        let namespace = match cluster.namespace(&attributes.namespace) {
            Namespace::Stored(stored) => NamespaceView::Stored(stored),
            Namespace::Named => NamespaceView::Unknown,
            Namespace::Absent => {
                let namespaces = GroupVersionResource::new("", "v1", "namespaces");
                not_found = status::not_found(&namespaces, &attributes.namespace).message;
                NamespaceView::Unreadable(&not_found)
            }
        };
        let sent = sent.filter(|sent| depends_on_services(attributes, sent));
        let services = sent.map(|sent| (sent, KnownServices::of_cluster(cluster, self.is_of_cluster)));
        let validate_change = |object: &Value<'_>, old: &Value<'_>| {
            let mut candidate = Candidate::new(&attributes.kind, object)
                .of_subresource(&attributes.subresource)
                .in_namespace(namespace);
            if let Some((sent, services)) = &services {
                candidate = candidate.among_services(services.beside(sent));
            }
            if attributes.dry_run {
                candidate = candidate.in_dry_run();
            }
            match attributes.operation {
                Operation::Update => validator.update(&candidate, old),
                _ => validator.create(&candidate),
            }
        };
        let given = (&attributes.object, &attributes.old_object);
        let mut status = match validate_change(given.0, given.1) {
            Err(Rejection::Invalid(status)) => status,
            Err(Rejection::Open(question)) => {
                self.leave_open(question);
                return Ok(());
            }
            Err(Rejection::NotValidated(_)) | Ok(()) => return Ok(()),
        };
        let is_update = attributes.operation == Operation::Update;
        let may_lack = if is_update {
            self.options.is_applied
        } else {
            self.options.has_no_plugins
        };
        if !may_lack && !self.options.keeps_invalid {
            return Err(status);
        }
        let names = self.model.builtin.field_names();
        let (mut object, mut old_object) = (given.0.owned_within(names), given.1.owned_within(names));
        let kind = &attributes.kind;
        let lacks = may_lack
            && if is_update {
                keep_stored(kind, &mut object, &mut old_object)
            } else {
                assume_plugins(kind, &mut object)
            };
        if lacks {
            match validate_change(&object, &old_object) {
                Err(Rejection::Invalid(of_whole)) => status = of_whole,
                Err(Rejection::Open(question)) => {
                    self.leave_open(question);
                    return Ok(());
                }
                Err(Rejection::NotValidated(_)) | Ok(()) => return Ok(()),
            }
        }
        if !self.options.keeps_invalid {
            return Err(status);
        }
        let mut invalid = self.invalid.lock().unwrap_or_else(PoisonError::into_inner);
        let gates = self.model.gates();
        *invalid = Some(InvalidObject {
            object,
            old_object,
            gates,
            namespace: cluster
                .namespace(&attributes.namespace)
                .stored()
                .map(|stored| stored.clone().into_owned()),
        });
        Err(status)
    }

    /// Keeps the Service of a request as it was sent, for [`requested_service`](Self::requested_service).
    pub(super) fn keep_service(&self, attributes: &pratique_registry::Attributes<'_>, sent: &Value<'_>) {
        if !is_of_service(attributes) {
            return;
        }
        let is_about_allocation = matches!(
            self.open_question(),
            Some(OpenQuestion::Services | OpenQuestion::ServiceNetworks | OpenQuestion::NodePorts)
        );
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        *service = Some(RequestedService {
            object: sent.owned_within(self.model.builtin.field_names()),
            is_certain: is_about_allocation && asks_for_one(attributes, sent),
        });
    }

    fn leave_open(&self, question: OpenQuestion) {
        let mut left_open = self.left_open.lock().unwrap_or_else(PoisonError::into_inner);
        *left_open = Some(question);
    }

    pub(super) fn open_question(&self) -> Option<OpenQuestion> {
        *self.left_open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
