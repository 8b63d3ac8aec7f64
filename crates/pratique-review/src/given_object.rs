//! Objects that somebody gives, and the requests that are made of them: one maker for every tool.

use pratique_json::Value;
use pratique_request::subresource::{check_subresource, to_subresource};
use pratique_request::{BuildError, RequestTemplate, Resolution, ResourceResolver, kind_of};
use pratique_schema::Release;
use pratique_typed::decode::received_in;
use pratique_types::{GroupVersionKind, Operation};

use crate::input::ReviewInput;

/// An object that somebody gives, with what a server says when it decodes it.
#[derive(Clone, Debug)]
pub struct GivenObject<'t> {
    /// The object.
    pub object: Value<'t>,
    /// The warnings of a server that decodes it, or why none can.
    pub decoded: Result<Vec<String>, String>,
}

/// Why no request is made of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GivenObjectError {
    /// There is no request for it.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A server cannot decode the object that is deleted, so it never stored it.
    #[error("{0}")]
    Deleted(String),
    /// A server cannot decode the object that is updated, so it never stored it.
    #[error("the old object: {0}")]
    OldObject(String),
    /// A connection has no object of its own that would say the name.
    #[error("a connection is made to an object: give its name")]
    NoName,
}

impl<'t> GivenObject<'t> {
    /// Decodes an object as a server of a release does. No request is made of one without a kind.
    pub fn decode(release: &'static Release, object: Value<'t>) -> Self {
        let decoded = match kind_of(&object) {
            Ok(kind) => received_in(release.schema(), &kind, &object),
            Err(_) => Ok(Vec::new()),
        };
        GivenObject { object, decoded }
    }

    /// An object that a server has stored.
    pub fn stored(object: Value<'t>) -> Self {
        let decoded = Ok(Vec::new());
        GivenObject { object, decoded }
    }
}

impl<'t> ReviewInput<'t> {
    /// The request for an object, the `number`th of a run, and what is known of its resource. A kind that no server serves is refused
    /// in the review.
    ///
    /// `old` finds the stored form of an object of a kind. To a request for a part of an object it may give the whole.
    ///
    /// # Errors
    /// No request can be made of it, or what it says to be stored cannot have been.
    pub fn from_object(
        given: GivenObject<'t>,
        template: &RequestTemplate,
        resolver: &ResourceResolver,
        mut old: impl FnMut(&Value<'t>, &GroupVersionKind) -> Option<GivenObject<'t>>,
        number: usize,
    ) -> Result<(Self, Resolution), GivenObjectError> {
        let GivenObject { object, decoded } = given;
        let received = match (template.operation, decoded) {
            (Operation::Delete, Err(why)) => return Err(GivenObjectError::Deleted(why)),
            // Of fields that it stored before, a server says nothing.
            (Operation::Delete, Ok(_)) => Ok(Vec::new()),
            (_, decoded) => decoded,
        };
        let kind = kind_of(&object).map_err(BuildError::from)?;
        let resolution = template.resolve(&kind, resolver)?;
        let resource = resolution.target().resource;
        if !matches!(resolution, Resolution::Unserved(_)) {
            check_subresource(&resource, &template.subresource, resolver.release())
                .map_err(BuildError::from)?;
        }
        let is_part = !template.subresource.is_empty();
        let whole = is_part.then(|| resolver.kind_of_resource(&resource)).flatten();
        let whole = whole.filter(|whole| **whole != kind);
        let mut undecodable = None;
        let old = |object: &Value<'t>, kind: &GroupVersionKind| {
            let GivenObject { object, decoded } = old(object, kind).or_else(|| old(object, whole?))?;
            undecodable = decoded.err();
            Some(object)
        };
        let mut request = template.request_to(object, kind, &resolution, old, number)?;
        if let Some(why) = undecodable {
            return Err(GivenObjectError::OldObject(why));
        }
        if let Resolution::Unserved(unserved) = &resolution {
            let refused = (**unserved).clone();
            return Ok((ReviewInput::new(request, Err(refused)), resolution));
        }
        to_subresource(&mut request, resolver.release()).map_err(BuildError::from)?;
        if request.operation == Operation::Connect && request.name.is_empty() {
            return Err(GivenObjectError::NoName);
        }
        Ok((ReviewInput::new(request, received), resolution))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}"#;
    const BROKEN_POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":7}"#;

    fn read(text: &str) -> GivenObject<'static> {
        let object = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        GivenObject::decode(Release::latest(), object)
    }

    /// What becomes of an object: the request and what a server says when it decodes the object, or why there is none.
    #[track_caller]
    fn check(
        (operation, subresource): (Operation, &str),
        (object, old): (&str, Option<&str>),
        expected: &str,
    ) {
        let template = RequestTemplate {
            operation,
            subresource: subresource.to_owned(),
            namespace: "shop".to_owned(),
            ..RequestTemplate::default()
        };
        let resolver = ResourceResolver::default();
        let mut old = old.map(read);
        let input = ReviewInput::from_object(read(object), &template, &resolver, |_, _| old.take(), 1);
        let told = match input {
            Ok((input, resolution)) => {
                let request = &input.request;
                let received = match &input.received {
                    Ok(warnings) => format!("{warnings:?}"),
                    Err(_) => "refused".to_owned(),
                };
                let known = matches!(resolution, Resolution::Known(_));
                format!(
                    "{} {} {} known: {known}, {received}",
                    request.operation.as_str(),
                    request.kind.kind,
                    request.name
                )
            }
            Err(error) => error.to_string(),
        };
        assert!(told.starts_with(expected), "{told}");
    }

    #[test]
    fn what_a_server_cannot_decode_is_refused_or_was_never_stored() {
        let create = (Operation::Create, "");
        check(create, (POD, None), "CREATE Pod p known: true, []");
        check(create, (BROKEN_POD, None), "CREATE Pod p known: true, refused");
        let told = r#"Pod in version "v1" cannot be handled as a Pod"#;
        check((Operation::Delete, ""), (BROKEN_POD, None), told);
        let update = (Operation::Update, "");
        check(
            update,
            (POD, Some(BROKEN_POD)),
            &format!("the old object: {told}"),
        );
        check(
            update,
            (BROKEN_POD, Some(POD)),
            "UPDATE Pod p known: true, refused",
        );
        check(update, (POD, None), "an update needs the stored object");
        check(
            create,
            (r#"{"kind":"Pod"}"#, None),
            "Object 'apiVersion' is missing",
        );
    }

    #[test]
    fn fields_of_what_was_stored_are_no_news() {
        let unknown = POD.replacen("\"name\"", "\"nam\":1,\"name\"", 1);
        check(
            (Operation::Create, ""),
            (&unknown, None),
            r#"CREATE Pod p known: true, ["unknown field \"metadata.nam\""]"#,
        );
        check(
            (Operation::Delete, ""),
            (&unknown, None),
            "DELETE Pod p known: true, []",
        );
    }

    #[test]
    fn parts_have_their_objects_and_connections_a_name() {
        // That there is no such part is said before what else is missing.
        check(
            (Operation::Update, "scale"),
            (POD, None),
            "pods have no subresource scale",
        );
        let deployment =
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2}}"#;
        let scale = (Operation::Update, "scale");
        check(
            scale,
            (deployment, Some(deployment)),
            "UPDATE Scale d known: true, []",
        );
        check(
            (Operation::Create, "eviction"),
            (POD, None),
            "CREATE Eviction p known: true, []",
        );
        let exec = r#"{"apiVersion":"v1","kind":"PodExecOptions"}"#;
        check(
            (Operation::Connect, "exec"),
            (exec, None),
            "a connection is made to an object: give its name",
        );
    }

    #[test]
    fn kinds_that_no_server_serves_are_refused_in_the_review() {
        let gone = r#"{"apiVersion":"extensions/v1beta1","kind":"Deployment","metadata":{"name":"d"}}"#;
        check(
            (Operation::Create, ""),
            (gone, None),
            "CREATE Deployment d known: false, refused",
        );
        let unknown = r#"{"apiVersion":"example.com/v1","kind":"Stall","metadata":{"name":"s"}}"#;
        check(
            (Operation::Create, ""),
            (unknown, None),
            "CREATE Stall s known: false, []",
        );
    }
}
