//! The request that is evaluated, made of what was given.

use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_suite::request::subresource::{to_subresource, usual_operation};
use pratique_suite::request::{self, BuildError, RequestTemplate, kind_of, regular_resource, review};
use pratique_typed::decode;
use pratique_types::{AdmissionRequest, Operation, UserInfo};

use crate::cluster::Cluster;
use crate::findings::Finding;
use crate::request::{Evaluate, User};

/// A request, and what is to be told of it.
pub(crate) struct Input {
    pub(crate) request: AdmissionRequest<'static>,
    /// Whether an API server sent it.
    pub(crate) is_sent: bool,
    /// The warnings of a server that decodes the object, or its error.
    pub(crate) received: Result<Vec<String>, String>,
    /// What had to be assumed.
    pub(crate) notes: Vec<String>,
}

/// The request; `None` where there is none, or a problem was added.
pub(crate) fn request(given: &Evaluate, cluster: &Cluster, problems: &mut Vec<Finding>) -> Option<Input> {
    if let Some(request) = &given.request {
        return sent(request.to_string().as_bytes(), problems);
    }
    let before = problems.len();
    let object = one("object", given.object.as_deref(), problems);
    let old = one("oldObject", given.old_object.as_deref(), problems);
    if problems.len() > before {
        return None;
    }
    if let Some(object) = object.as_ref().filter(|object| review::is_review(object)) {
        return match review::decode(object) {
            Ok(request) => Some(Input {
                request,
                is_sent: true,
                received: Ok(Vec::new()),
                notes: Vec::new(),
            }),
            Err(why) => {
                problems.push(Finding::plain("invalid-field", why).within("object"));
                None
            }
        };
    }
    let subject = object.or_else(|| old.clone())?;
    match built(given, subject, old, cluster) {
        Ok(input) => Some(input),
        Err(why) => {
            problems.push(Finding::plain("invalid-field", why).within("object"));
            None
        }
    }
}

/// A request as `admission.k8s.io/v1` has it.
fn sent(request: &[u8], problems: &mut Vec<Finding>) -> Option<Input> {
    let decoded = serde_json::from_slice::<AdmissionRequest<'_>>(request);
    match decoded {
        Ok(request) => Some(Input {
            request: request.into_owned(),
            is_sent: true,
            received: Ok(Vec::new()),
            notes: Vec::new(),
        }),
        Err(error) => {
            problems.push(Finding::plain("invalid-field", error.to_string()).within("request"));
            None
        }
    }
}

fn built(
    given: &Evaluate,
    object: Value<'static>,
    old: Option<Value<'static>>,
    cluster: &Cluster,
) -> Result<Input, String> {
    let usual = match (usual_operation(&given.subresource), &old) {
        (Operation::Create, Some(_)) => Operation::Update,
        (usual, _) => usual,
    };
    let template = RequestTemplate {
        operation: given.operation.unwrap_or(usual),
        namespace: given.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        name: given.name.clone(),
        resource: given.resource.clone(),
        subresource: given.subresource.clone(),
        user: given
            .user
            .as_ref()
            .map_or_else(|| request::user("kubernetes-admin", &[]), user),
        dry_run: given.dry_run,
        options: None,
    };
    let kind = kind_of(&object)?;
    let defined = cluster.defined();
    let mut notes = Vec::new();
    let found = template.target(&kind, given.resource.as_deref(), &defined);
    let target = match (found, &given.resource) {
        (Err(BuildError::UnknownKind(shown)), None) => {
            let assumed = regular_resource(&kind);
            notes.push(format!(
                "kind {shown} is not known: its resource is assumed to be {assumed}"
            ));
            template.target(&kind, Some(&assumed), &defined)
        }
        (found, _) => found,
    };
    let received = match template.operation {
        // A deleted object was stored before.
        Operation::Delete => decode::received(&kind, &object).map(|_| Ok(Vec::new()))?,
        _ => decode::received(&kind, &object),
    };
    if let Some(old) = &old {
        decode::received(&kind, old).map_err(|why| format!("the old object: {why}"))?;
    }
    let request = target.and_then(|target| template.request_to(object, kind, target, |_, _| old, 1));
    let mut request = request.map_err(|error| error.to_string())?;
    to_subresource(&mut request).map_err(|error| error.to_string())?;
    Ok(Input {
        request,
        is_sent: false,
        received,
        notes,
    })
}

fn user(given: &User) -> UserInfo {
    UserInfo {
        uid: given.uid.clone(),
        extra: given.extra.clone(),
        ..request::user(&given.name, &given.groups)
    }
}

/// The one object of a text; `None` for an empty one.
pub(crate) fn one(name: &str, text: Option<&str>, problems: &mut Vec<Finding>) -> Option<Value<'static>> {
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
    pratique_suite::objects(&file).unwrap_or_else(|found| {
        problems.extend(found.iter().map(Finding::from));
        Vec::new()
    })
}
