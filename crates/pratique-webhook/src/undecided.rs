//! Webhooks of which it depends on what was not given whether they are called.

use pratique_expression::{Missing, OnUndecided, Undecided};
use pratique_types::AdmissionRequest;

use crate::observer::{Does, Observer};
use crate::outcome::End;
use crate::statuses::forbidden;
use crate::surroundings::Surroundings;
use crate::webhook::Webhook;

/// Tells of a webhook of which it is not known whether it is called; gives whether the request goes on without it. `name`
/// is that of the request's object.
pub(crate) fn settle(
    (webhook, does): (&Webhook, Does),
    missing: Missing,
    (request, name): (&AdmissionRequest<'_>, &str),
    surroundings: &Surroundings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), End> {
    let undecided = Undecided {
        plugin: does.plugin(),
        name: webhook.name.clone(),
        binding: None,
        missing,
    };
    observer.undecided(&undecided);
    match surroundings.on_undecided {
        OnUndecided::Report => Err(End::Undecided(Box::new(undecided))),
        OnUndecided::FailurePolicy if webhook.ignores_failures() => Ok(()),
        OnUndecided::FailurePolicy => Err(forbidden(&request.resource, name, &undecided.to_string()).into()),
    }
}
