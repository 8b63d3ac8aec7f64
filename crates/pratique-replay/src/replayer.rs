//! Turns the entries of a log into requests.

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_registry::{CustomResources, Kinds, Placeholders, Target, UnservedError};
use pratique_schema::{FeatureGates, Release};
use pratique_types::{AdmissionReview, GroupVersionKind, GroupVersionResource};

use crate::convert;
use crate::entries::LogEntry;
use crate::event::ObjectReference;
use crate::recent_objects::RecentObjects;
use crate::recorded_outcome::RecordedOutcome;
use crate::replay_result::{EventRequests, ObjectKnowledge, ReplayRequest, ReplayResult};

/// Turns the entries of a log into requests of built-in kinds, and of the custom resources of some definitions.
#[derive(Clone, Debug)]
pub struct LogReplayer {
    builtin: ObjectCodec,
    custom: CustomResources,
    pub(crate) placeholders: Placeholders,
}

impl Default for LogReplayer {
    fn default() -> Self {
        let placeholders = Placeholders::default();
        LogReplayer {
            builtin: ObjectCodec::with_placeholder(placeholders.time.clone()),
            custom: CustomResources::default(),
            placeholders,
        }
    }
}

impl LogReplayer {
    /// The same for the log of a server of a release with its feature gates, before any definition is added.
    #[must_use]
    pub fn with_gates(self, gates: FeatureGates) -> Self {
        LogReplayer {
            builtin: self.builtin.with_gates(gates),
            custom: self.custom.with_release(gates.release()),
            ..self
        }
    }

    /// Adds the custom resources of a CustomResourceDefinition, to which patches can then be applied.
    ///
    /// # Errors
    /// A schema cannot be followed.
    pub fn define(&mut self, definition: &Value<'_>) -> Result<(), UnservedError> {
        self.custom.serve(definition).map(drop)
    }

    /// What admission was asked. Old objects are those of `remembered`, which learns from the entry; entries have to come in
    /// the order of the log then.
    pub fn replay<'e>(
        &self,
        entry: LogEntry<'e>,
        remembered: Option<&mut RecentObjects>,
    ) -> ReplayResult<'e> {
        match entry {
            LogEntry::Event(event) => convert::event(self, *event, remembered),
            LogEntry::Review(review) => recorded(*review),
        }
    }

    pub(crate) fn kinds(&self) -> Kinds<'_> {
        Kinds {
            builtin: &self.builtin,
            custom: &self.custom,
        }
    }

    /// The release of the server whose log it is.
    pub(crate) fn release(&self) -> &'static Release {
        self.builtin.gates().release()
    }

    pub(crate) fn builtin(&self) -> &ObjectCodec {
        &self.builtin
    }

    pub(crate) fn custom(&self) -> &CustomResources {
        &self.custom
    }

    /// The kind of the objects that requests for a resource carry; `None` where it is not known.
    pub(crate) fn kind(&self, about: &ObjectReference) -> Option<GroupVersionKind> {
        let resource = GroupVersionResource::new(&about.api_group, &about.api_version, &about.resource);
        // A log may be older than its server.
        if let Some(target) = Target::part_from(self.release(), &resource, &about.subresource) {
            return Some(target.kind);
        }
        let subresource = match about.subresource.as_str() {
            "" => String::new(),
            subresource => format!("/x/{subresource}"),
        };
        let path = format!(
            "/apis/{}/{}/{}{subresource}",
            about.api_group, about.api_version, about.resource
        );
        self.custom.target(&path).map(|target| target.kind)
    }
}

/// A request that was recorded as admission was asked.
fn recorded(review: AdmissionReview<'_>) -> ReplayResult<'_> {
    let then = RecordedOutcome::of_response(review.response.as_ref());
    let request = review.request.unwrap_or_default();
    ReplayResult {
        id: request.uid.clone(),
        at: String::new(),
        then,
        what: EventRequests::Requests(vec![ReplayRequest {
            request,
            seen: ObjectKnowledge::Admitted,
            approximations: Vec::new(),
        }]),
    }
}
