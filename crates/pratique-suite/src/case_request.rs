//! What a case asks, for programs that ask something else the same.

use pratique_json::Value;
use pratique_types::AdmissionRequest;

use crate::load::Policies;
use crate::run::request;
use crate::suite::{Case, Suite};

/// A request, and what is known of the cluster around it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The request as policies see it first.
    pub request: AdmissionRequest<'static>,
    /// The objects of the cluster.
    pub objects: Vec<Value<'static>>,
    /// Whether there is more to it: rules of an authorizer, snapshots, plugins, webhooks.
    pub has_more: bool,
}

impl Suite {
    /// What a case asks.
    ///
    /// # Errors
    /// It has no request, or the server refuses it before admission.
    pub fn question(&self, case: &Case, policies: &Policies) -> Result<Question, String> {
        let of_case = &case.input.cluster;
        let objects = self.cluster.objects.iter().chain(&of_case.objects);
        let snapshots = || self.cluster.snapshots.iter().chain(&of_case.snapshots);
        let built = request(&case.input, objects.clone(), snapshots(), policies.defined());
        let (mut request, _) = built.map_err(|error| error.to_string())?;
        if let Some(model) = self.api_objects(case, policies)?
            && case.input.request.is_none()
        {
            let received = model.receive(&mut request);
            received.map_err(|refused| refused.status.message.clone())?;
        }
        let has_rules = of_case.rules.is_some() || self.cluster.rules.is_some();
        Ok(Question {
            request,
            objects: objects.cloned().collect(),
            has_more: has_rules || snapshots().next().is_some() || self.has_webhooks(),
        })
    }
}
