//! The request of a case, and the state of the cluster around it.

use pratique_json::Value;
use pratique_types::{AdmissionRequest, Operation};

use crate::case_error::CaseError;
use crate::completion::CaseKinds;
use crate::load::Policies;
use crate::suite::{Case, Suite};
use pratique_request::{BuildError, DEFAULT_NAMESPACE, DEFAULT_USER, RequestTemplate, Resolution, review};
use pratique_review::{GivenObject, ReviewInput};
use pratique_state::Rules;
use pratique_state::StoredState;

/// The request of a case, and what is known of the cluster around it.
#[derive(Clone, Debug)]
pub struct CaseRequest {
    /// The request as policies see it first.
    pub request: AdmissionRequest<'static>,
    /// The objects of the cluster.
    pub objects: Vec<Value<'static>>,
    /// Whether there is more to it: rules of an authorizer, snapshots, plugins, webhooks.
    pub has_more: bool,
}

impl Suite {
    /// The request of a case, as policies see it first.
    ///
    /// # Errors
    /// It has no request, or the server refuses it before admission.
    pub fn request(&self, case: &Case, policies: &Policies) -> Result<CaseRequest, CaseError> {
        let kinds = self.kinds(case, policies.of_case(self, case))?;
        let mut input = self.decoded_request(case, &kinds)?;
        let prepared = self.preparation().prepare(&mut input, kinds.completed());
        if let Some(refused) = prepared.refusal(&input) {
            let status = refused.status.unwrap_or_default();
            return Err(CaseError::Refused(status.message));
        }
        drop(prepared);
        let has_snapshots = self.snapshots(case).next().is_some();
        Ok(CaseRequest {
            request: input.request,
            objects: self.objects(case).cloned().collect(),
            has_more: self.rules(case).is_some() || has_snapshots || self.has_webhooks(),
        })
    }

    /// The objects of the cluster in a case.
    pub(crate) fn objects<'c>(&'c self, case: &'c Case) -> impl Iterator<Item = &'c Value<'static>> {
        self.cluster.objects.iter().chain(&case.input.cluster.objects)
    }

    /// Whether these are all objects that the cluster has, with those that every cluster has.
    pub(crate) fn has_all_objects(&self, case: &Case) -> bool {
        self.cluster.complete.all || case.input.cluster.complete.all
    }

    /// The snapshots among the objects of the cluster in a case.
    pub(crate) fn snapshots<'c>(&'c self, case: &'c Case) -> impl Iterator<Item = &'c StoredState> {
        self.cluster.snapshots.iter().chain(&case.input.cluster.snapshots)
    }

    /// The authorizer rules in a case, those of the case first; `None` if none are given.
    pub(crate) fn rules(&self, case: &Case) -> Option<Rules> {
        let mut lists = [&case.input.cluster.rules, &self.cluster.rules]
            .into_iter()
            .flatten()
            .peekable();
        lists.peek()?;
        Some(Rules(lists.flatten().cloned().collect()))
    }

    /// The request of a case as a server decodes it.
    pub(crate) fn decoded_request(
        &self,
        case: &Case,
        kinds: &CaseKinds,
    ) -> Result<ReviewInput<'static>, CaseError> {
        let input = &case.input;
        if let Some(request) = &input.request {
            return Ok(ReviewInput::sent(review::decode(request)?));
        }
        let operation = input.operation.unwrap_or(match input.old_object {
            Some(_) => Operation::Update,
            None => Operation::Create,
        });
        let user = || pratique_request::user(DEFAULT_USER, &[]);
        let namespace = input.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
        let template = RequestTemplate {
            operation,
            namespace: namespace.to_owned(),
            name: None,
            resource: input.resource.clone(),
            subresource: input.subresource.clone().unwrap_or_default(),
            user: input.user.clone().unwrap_or_else(user),
            dry_run: input.dry_run,
            options: input.options.clone(),
        };
        let release = self.release_of(case);
        let decode = |object: &Value<'static>| GivenObject::decode(release, object.clone());
        let mut stored = input.old_object.as_ref().map(decode);
        let given = match &input.object {
            Some(object) => decode(object),
            None => stored.clone().unwrap_or_else(|| GivenObject::stored(Value::Null)),
        };
        let undecodable = given.decoded.as_ref().err().cloned();
        let resolver = &kinds.resolver;
        let (request, resolution) =
            ReviewInput::from_object(given, &template, resolver, |_, _| stored.take(), 1)?;
        match resolution {
            Resolution::Unserved(_) => Ok(request),
            // A test is to say what it tests.
            Resolution::Assumed(assumed) => Err(BuildError::UnknownKind(assumed.kind).into()),
            Resolution::Known(_) => match undecodable {
                Some(why) => Err(CaseError::Undecodable(why)),
                None => Ok(request),
            },
        }
    }
}
