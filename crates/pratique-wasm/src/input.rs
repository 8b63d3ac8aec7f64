//! The request to evaluate, built from the input.

use std::fmt::Display;

use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_request::subresource::usual_operation;
use pratique_request::{RequestTemplate, Resolution, review};
use pratique_review::{GivenObject, GivenObjectError, ReviewInput};
use pratique_types::{AdmissionRequest, Operation, UserInfo};

use crate::cluster::GivenCluster;
use crate::findings::Finding;
use crate::request::{Evaluate, User};

/// A request, and the assumptions that were made for it.
pub(crate) struct RequestInput {
    pub(crate) review: ReviewInput<'static>,
    pub(crate) notes: Vec<String>,
}

impl RequestInput {
    fn sent(request: AdmissionRequest<'static>) -> Self {
        RequestInput {
            review: ReviewInput::sent(request),
            notes: Vec::new(),
        }
    }
}

/// The request; `None` where there is none, or a problem was added.
pub(crate) fn request(
    arguments: &Evaluate,
    cluster: &GivenCluster,
    problems: &mut Vec<Finding>,
) -> Option<RequestInput> {
    if let Some(request) = &arguments.request {
        return sent(request.to_string().as_bytes(), problems);
    }
    let previous_count = problems.len();
    let object = single("object", arguments.object.as_deref(), problems);
    let old = single("oldObject", arguments.old_object.as_deref(), problems);
    if problems.len() > previous_count {
        return None;
    }
    if let Some(object) = object.as_ref().filter(|object| review::is_review(object)) {
        let decoded = review::decode(object).map(RequestInput::sent);
        return or_problem(decoded, "object", problems);
    }
    let subject = object.or_else(|| old.clone())?;
    or_problem(built(arguments, subject, old, cluster), "object", problems)
}

/// The input; an error becomes a problem in a text.
fn or_problem<E: Display>(
    input: Result<RequestInput, E>,
    file: &str,
    problems: &mut Vec<Finding>,
) -> Option<RequestInput> {
    input
        .map_err(|error| problems.push(Finding::plain("invalid-field", error.to_string()).within(file)))
        .ok()
}

/// A request as `admission.k8s.io/v1` has it.
fn sent(request: &[u8], problems: &mut Vec<Finding>) -> Option<RequestInput> {
    let decoded = serde_json::from_slice::<AdmissionRequest<'_>>(request);
    let decoded = decoded.map(|request| RequestInput::sent(request.into_owned()));
    or_problem(decoded, "request", problems)
}

fn built(
    arguments: &Evaluate,
    object: Value<'static>,
    old: Option<Value<'static>>,
    cluster: &GivenCluster,
) -> Result<RequestInput, GivenObjectError> {
    let usual = match (usual_operation(&arguments.subresource), &old) {
        (Operation::Create, Some(_)) => Operation::Update,
        (usual, _) => usual,
    };
    let template = RequestTemplate {
        operation: arguments.operation.unwrap_or(usual),
        namespace: arguments
            .namespace
            .clone()
            .unwrap_or_else(|| "default".to_owned()),
        name: arguments.name.clone(),
        resource: arguments.resource.clone(),
        subresource: arguments.subresource.clone(),
        user: arguments
            .user
            .as_ref()
            .map_or_else(|| pratique_request::user("kubernetes-admin", &[]), user),
        dry_run: arguments.dry_run,
        options: None,
    };
    let release = cluster.gates.release();
    let given = GivenObject::decode(release, object);
    let mut old = old.map(|old| GivenObject::decode(release, old));
    let resolver = &cluster.known.resolver;
    let (review, resolution) = ReviewInput::from_object(given, &template, resolver, |_, _| old.take(), 1)?;
    let note = match resolution {
        Resolution::Known(_) => None,
        Resolution::Unserved(unserved) => Some(unserved.help()),
        Resolution::Assumed(assumed) => Some(format!(
            "kind {} is not known: what matches its resource is undecided without its CustomResourceDefinition",
            assumed.kind
        )),
    };
    let notes = note.into_iter().collect();
    Ok(RequestInput { review, notes })
}

fn user(user: &User) -> UserInfo {
    UserInfo {
        uid: user.uid.clone(),
        extra: user.extra.clone(),
        ..pratique_request::user(&user.name, &user.groups)
    }
}

/// The single object of a text; `None` for an empty one.
pub(crate) fn single(name: &str, text: Option<&str>, problems: &mut Vec<Finding>) -> Option<Value<'static>> {
    let mut objects = read(name, text?, problems);
    if objects.len() > 1 {
        let message = format!("there are {} objects; a request has one", objects.len());
        problems.push(Finding::plain("invalid-field", message).within(name));
        return None;
    }
    objects.pop()
}

/// The objects of a text.
pub(crate) fn read(name: &str, text: &str, problems: &mut Vec<Finding>) -> Vec<Value<'static>> {
    let file = ManifestFile {
        path: name.to_owned(),
        content: text.as_bytes().to_vec(),
    };
    pratique_manifest::convert::objects(&file).unwrap_or_else(|read_problems| {
        problems.extend(read_problems.iter().map(Finding::from));
        Vec::new()
    })
}
