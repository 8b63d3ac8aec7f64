//! The audit log as an observer.

use pratique_audit::{Event, Level, Log};

use crate::live::{AdmissionObserver, AnsweredRequest};

impl AdmissionObserver for Log {
    fn answered(&self, answered: &AnsweredRequest<'_>) {
        if self.level() == Level::None {
            return;
        }
        let AnsweredRequest {
            request,
            outcome,
            received,
            took,
        } = *answered;
        let mut response = outcome.clone().into_response(request);
        // Patches may contain the parts that are left out of the object.
        if self.includes_objects(request) {
            response
                .audit_annotations
                .extend(outcome.patch_annotations.clone());
        }
        let ended = received.checked_add(took).unwrap_or(received);
        let event = Event::new(self.level(), request, &response, (received, ended));
        let object = outcome.object.as_ref().unwrap_or(&request.object);
        // An event that finds no place is counted by the log.
        let _ = self.record(&event.with_response_object(object));
    }
}
