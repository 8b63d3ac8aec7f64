//! Which webhooks have a second turn.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_exclusion::Origin;
use pratique_json::Value;

use crate::version::Held;

/// What is remembered from the first turn of the mutating webhooks to the second.
///
/// A webhook that wants to be reinvoked has a second turn when anything changed the object after it. Of those that had
/// none in the first turn, none has one in the second.
#[derive(Clone, Debug, Default)]
pub struct Reinvocation {
    second: bool,
    due: bool,
    /// The object as the last turn left it.
    output: Option<Arc<Value<'static>>>,
    /// Called, and not yet due.
    called: HashSet<Key>,
    again: HashSet<Key>,
}

/// A webhook.
pub(crate) type Key = (Origin, Arc<str>);

impl Reinvocation {
    /// Whether a webhook changed the object, so that all who mutate have a second turn once the first is over.
    pub fn is_due(&self) -> bool {
        self.due && !self.second
    }

    /// Begins the second turn. Whether others changed the object meanwhile is found out from the object itself.
    pub fn begin_second(&mut self) {
        self.second = true;
    }

    /// Whether this is the second turn.
    pub(crate) fn is_second(&self) -> bool {
        self.second
    }

    /// Begins a turn with an object, which others may have changed since.
    pub(crate) fn begin(&mut self, object: &Value<'_>) {
        let unchanged = self.output.as_deref().is_some_and(|output| output == object);
        if self.second && !unchanged {
            self.require();
        }
    }

    /// Ends a turn with an object.
    pub(crate) fn end(&mut self, object: &Held<'_>) {
        // A change of others matters to those who were called only.
        if !self.called.is_empty() {
            self.output = Some(object.clone().into_owned());
        }
    }

    /// A webhook changed the object.
    pub(crate) fn changed(&mut self) {
        self.due = true;
        self.require();
    }

    /// Remembers a webhook that wants a second turn.
    pub(crate) fn remember(&mut self, webhook: Key) {
        self.called.insert(webhook);
    }

    /// Whether a webhook has a turn now.
    pub(crate) fn has_turn(&self, webhook: &Key) -> bool {
        !self.second || self.again.contains(webhook)
    }

    fn require(&mut self) {
        self.again.extend(self.called.drain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        (Origin::Api, name.into())
    }

    #[test]
    fn those_before_a_change_have_a_second_turn() {
        let mut turns = Reinvocation::default();
        turns.begin(&Value::Null);
        turns.remember(key("a"));
        turns.changed();
        turns.remember(key("b"));
        turns.end(&Held::Given(&Value::Bool(true)));
        assert!(turns.is_due());
        turns.begin_second();
        turns.begin(&Value::Bool(true));
        assert!(turns.has_turn(&key("a")));
        assert!(!turns.has_turn(&key("b")));
    }

    #[test]
    fn a_change_of_others_counts() {
        let mut turns = Reinvocation::default();
        turns.begin(&Value::Null);
        turns.remember(key("a"));
        turns.end(&Held::Given(&Value::Null));
        assert!(!turns.is_due());
        turns.begin_second();
        turns.begin(&Value::Bool(true));
        assert!(turns.has_turn(&key("a")));
    }

    #[test]
    fn origins_are_apart() {
        let mut turns = Reinvocation::default();
        turns.remember(key("a"));
        turns.changed();
        turns.begin_second();
        assert!(!turns.has_turn(&(Origin::Static, "a".into())));
    }
}
