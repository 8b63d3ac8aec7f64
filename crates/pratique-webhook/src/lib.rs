//! Admission webhooks: which ones a request goes to, the calls, and what their answers do.

mod caller;

pub use caller::{Answer, Call, CallError, CallErrorKind, Caller, Endpoint};
