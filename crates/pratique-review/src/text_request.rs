//! The request that is made of the texts of an object.

use pratique_json::Value;
use pratique_manifest::Problem;
use pratique_request::subresource::usual_operation;
use pratique_request::{DEFAULT_NAMESPACE, DEFAULT_USER, RequestTemplate, Resolution, review, user};
use pratique_state::{TextCluster, TextFile, invalid_text, read_object};
use pratique_types::{AdmissionRequest, Operation, UserInfo};

use crate::given_object::{GivenObject, GivenObjectError};
use crate::input::ReviewInput;
use crate::review_texts::ReviewTexts;

/// The name of the text of an object, in what is said of it.
pub(crate) const OBJECT: &str = "object";

/// A request, and what is to be told of its kind.
type NotedInput = (ReviewInput<'static>, Option<String>);

impl ReviewTexts {
    /// The text of the object.
    pub(crate) fn object_file(&self) -> Option<TextFile> {
        ReviewTexts::make_text(OBJECT, self.object.as_ref())
    }

    /// The request, made as a server of the cluster would; `None` where nothing is given.
    pub(crate) fn read_request(&self, cluster: &TextCluster) -> Result<Option<NotedInput>, Vec<Problem>> {
        let sent = |request| Some((ReviewInput::sent(request), None));
        if let Some(request) = &self.request {
            let text = request.to_string();
            let decoded = serde_json::from_str::<AdmissionRequest<'_>>(&text);
            let decoded = decoded.map_err(|error| vec![invalid_text("request", error.to_string())]);
            return Ok(sent(decoded?.into_owned()));
        }
        let old = ReviewTexts::make_text("oldObject", self.old_object.as_ref());
        let read = |file: Option<TextFile>| file.as_ref().map_or(Ok(None), read_object);
        let (object, old) = match (read(self.object_file()), read(old)) {
            (Ok(object), Ok(old)) => (object, old),
            (object, old) => {
                let faults = [object.err(), old.err()].into_iter().flatten();
                return Err(faults.flatten().collect());
            }
        };
        if let Some(object) = object.as_ref().filter(|object| review::is_review(object)) {
            let decoded = review::decode(object);
            return decoded
                .map(sent)
                .map_err(|error| vec![invalid_text(OBJECT, error.to_string())]);
        }
        let Some(subject) = object.or_else(|| old.clone()) else {
            return Ok(None);
        };
        let made = self.make_request(subject, old, cluster).map(Some);
        made.map_err(|error| vec![invalid_text(OBJECT, error.to_string())])
    }

    /// The request for an object, with a note on its kind.
    fn make_request(
        &self,
        object: Value<'static>,
        old: Option<Value<'static>>,
        cluster: &TextCluster,
    ) -> Result<NotedInput, GivenObjectError> {
        let usual = match (usual_operation(&self.subresource), &old) {
            (Operation::Create, Some(_)) => Operation::Update,
            (usual, _) => usual,
        };
        let template = RequestTemplate {
            operation: self.operation.unwrap_or(usual),
            namespace: self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE).to_owned(),
            name: self.name.clone(),
            resource: self.resource.clone(),
            subresource: self.subresource.clone(),
            user: self
                .user
                .as_ref()
                .map_or_else(|| user(DEFAULT_USER, &[]), UserInfo::from),
            dry_run: self.dry_run,
            options: None,
        };
        let release = cluster.gates.release();
        let given = GivenObject::decode(release, object);
        let mut old = old.map(|old| GivenObject::decode(release, old));
        let resolver = &cluster.known.resolver;
        let (input, resolution) = ReviewInput::from_object(given, &template, resolver, |_, _| old.take(), 1)?;
        let note = match resolution {
            Resolution::Known(_) => None,
            Resolution::Unserved(unserved) => Some(unserved.help()),
            Resolution::Assumed(assumed) => Some(format!(
                "kind {} is not known: what matches its resource is undecided without its CustomResourceDefinition",
                assumed.kind
            )),
        };
        Ok((input, note))
    }
}
