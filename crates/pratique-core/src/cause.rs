//! Why a request is denied.

/// Why a request is denied: a rule denied it, or something failed.
///
/// A status distinguishes the two only by its text, and an API server answers both in the same way. Tests of policies need
/// the difference: an expression that fails on every request denies every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DenialCause {
    /// A rule denied it: a validation evaluated to false, a binding denies where its params do not exist, a webhook or
    /// a step of the caller denied, a name is reserved.
    Rule,
    /// Something failed, and failures deny: the evaluation of an expression, a mutation, the configuration of a policy
    /// or a binding, the call of a webhook, the server.
    Failure,
}
