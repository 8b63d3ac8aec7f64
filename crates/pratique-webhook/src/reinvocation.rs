//! Which mutating webhooks are reinvoked.

use std::sync::Arc;

use pratique_core::Origin;
use pratique_json::Value;

use crate::version::ObjectRef;

/// The state kept from the first round of the mutating webhooks to the second.
///
/// A webhook that wants to be reinvoked is called again when the object changed after it. A webhook that was not called in
/// the first round is not called in the second.
#[derive(Clone, Debug, Default)]
pub struct Reinvocation {
    calls: pratique_core::Reinvocation<WebhookKey>,
    /// The object after the last round.
    output: Option<Arc<Value<'static>>>,
}

/// A webhook: its origin, and its identifier among the webhooks of that.
pub(crate) type WebhookKey = (Origin, Arc<str>);

impl Reinvocation {
    /// Whether a webhook changed the object, so that a second round is due after the first.
    pub fn is_due(&self) -> bool {
        self.calls.is_due()
    }

    /// Begins the second round. Whether others changed the object in between follows from the object.
    pub fn begin_second(&mut self) {
        self.calls.begin_second();
    }

    /// Whether this is the second round.
    pub(crate) fn is_second(&self) -> bool {
        self.calls.is_second()
    }

    /// Begins a round with an object, which others may have changed.
    pub(crate) fn begin(&mut self, object: &Value<'_>) {
        let unchanged = self.output.as_deref().is_some_and(|output| output == object);
        if self.is_second() && !unchanged {
            self.calls.require();
        }
    }

    /// Ends a round with an object.
    pub(crate) fn end(&mut self, object: &ObjectRef<'_>) {
        if self.calls.awaits_changes() {
            self.output = Some(object.clone().into_owned());
        }
    }

    /// A webhook changed the object.
    pub(crate) fn changed(&mut self) {
        self.calls.changed();
    }

    /// Remembers a webhook that wants to be reinvoked.
    pub(crate) fn remember(&mut self, webhook: WebhookKey) {
        self.calls.remember(webhook);
    }

    /// Whether a webhook is called in this round.
    pub(crate) fn runs(&self, webhook: &WebhookKey) -> bool {
        self.calls.runs(webhook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> WebhookKey {
        (Origin::Api, name.into())
    }

    #[test]
    fn webhooks_before_a_change_are_called_again() {
        let mut reinvocation = Reinvocation::default();
        reinvocation.begin(&Value::Null);
        reinvocation.remember(key("a"));
        reinvocation.changed();
        reinvocation.remember(key("b"));
        reinvocation.end(&ObjectRef::Given(&Value::Bool(true)));
        assert!(reinvocation.is_due());
        reinvocation.begin_second();
        reinvocation.begin(&Value::Bool(true));
        assert!(reinvocation.runs(&key("a")));
        assert!(!reinvocation.runs(&key("b")));
    }

    #[test]
    fn a_change_by_others_counts() {
        let mut reinvocation = Reinvocation::default();
        reinvocation.begin(&Value::Null);
        reinvocation.remember(key("a"));
        reinvocation.end(&ObjectRef::Given(&Value::Null));
        assert!(!reinvocation.is_due());
        reinvocation.begin_second();
        reinvocation.begin(&Value::Bool(true));
        assert!(reinvocation.runs(&key("a")));
    }

    #[test]
    fn origins_are_apart() {
        let mut reinvocation = Reinvocation::default();
        reinvocation.remember(key("a"));
        reinvocation.changed();
        reinvocation.begin_second();
        assert!(!reinvocation.runs(&(Origin::Static, "a".into())));
    }
}
