//! Statuses that policies and webhooks refuse requests with, besides those of [`pratique_types::status`].

use pratique_cel::OutOfMemory;
use pratique_types::{GroupResource, Reason, Status, status};

/// The namespace of a request does not exist.
pub fn namespace_not_found(name: &str) -> Status {
    status::not_found(GroupResource::new("", "namespaces"), name)
}

/// The reason of a request that is refused for lack of memory.
pub fn out_of_memory_reason(error: OutOfMemory) -> Reason {
    match error {
        OutOfMemory::Limit => Reason::RequestEntityTooLarge,
        OutOfMemory::Budget => Reason::TooManyRequests,
    }
}
