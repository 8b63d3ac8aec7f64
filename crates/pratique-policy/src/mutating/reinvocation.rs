//! Which mutating policies are reinvoked.

/// The state kept from the first round of the mutating policies to the second.
///
/// A policy that wants to be reinvoked runs again when it, or anything after it, changed the object.
#[derive(Clone, Debug, Default)]
pub struct Reinvocation(pub(crate) pratique_core::Reinvocation<InvocationKey>);

/// A policy with a binding and a param.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InvocationKey {
    pub(crate) policy: String,
    pub(crate) binding: String,
    /// Namespace and name.
    pub(crate) param: Option<(String, String)>,
}

impl Reinvocation {
    /// Whether a second round is due after the first.
    pub fn is_due(&self) -> bool {
        self.0.is_due()
    }

    /// Begins the second round. `changed` is whether anything but these policies changed the object since the first.
    pub fn begin_second(&mut self, changed: bool) {
        self.0.begin_second();
        if changed {
            self.0.require();
        }
    }
}
