//! The values of variables.

use crate::value::Value;

/// The place of a variable in the [`Activation`]s of its environment. It knows the variable's name by a tag, so an
/// activation of another environment, whose variables are in other places, is not read at the wrong one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slot {
    pub(crate) index: u32,
    /// A hash of the variable's name, which is not 0.
    tag: u32,
}

impl Slot {
    /// The place of a variable that was not declared: never set.
    pub(crate) const NOWHERE: Slot = Slot {
        index: u32::MAX,
        tag: 0,
    };

    /// The place of the variable of a name.
    pub(super) fn new(index: u32, name: &str) -> Self {
        // FNV-1a
        let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let tag = name.bytes().fold(0x811c_9dc5, hash).max(1);
        Slot { index, tag }
    }
}

/// The values of an environment's variables for one or more evaluations.
#[derive(Clone, Debug, Default)]
pub struct Activation<'a> {
    /// The first ones, in place: an activation is made for each evaluation.
    few: [Option<Value<'a>>; FEW],
    /// The tags of the slots by which the first ones were set.
    tags: [u32; FEW],
    more: Vec<(u32, Option<Value<'a>>)>,
}

/// How many variables find room in an activation itself.
const FEW: usize = 8;

impl<'a> Activation<'a> {
    pub(crate) fn new(count: usize) -> Self {
        Activation {
            few: [None; FEW],
            tags: [0; FEW],
            more: vec![(0, None); count.saturating_sub(FEW)],
        }
    }

    /// Sets a variable; a variable that is not set is an error where it is read (`no such attribute(s): x`). So is one that
    /// was set by a slot of another environment, where another variable is in that place.
    pub fn set(&mut self, slot: Slot, value: Value<'a>) {
        let at = slot.index as usize;
        match at.checked_sub(FEW) {
            None => {
                if let (Some(place), Some(tag)) = (self.few.get_mut(at), self.tags.get_mut(at)) {
                    (*place, *tag) = (Some(value), slot.tag);
                }
            }
            Some(at) => {
                if let Some(place) = self.more.get_mut(at) {
                    *place = (slot.tag, Some(value));
                }
            }
        }
    }

    /// The value of a variable, where it lies.
    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> Option<&Value<'a>> {
        let at = slot.index as usize;
        let (place, tag) = match at.checked_sub(FEW) {
            None => (self.few.get(at)?, *self.tags.get(at)?),
            Some(at) => {
                let (tag, place) = self.more.get(at)?;
                (place, *tag)
            }
        };
        if tag == slot.tag { place.as_ref() } else { None }
    }

    /// The value of a variable.
    pub fn get(&self, slot: Slot) -> Option<Value<'a>> {
        self.value(slot).copied()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Arena, Context, Environment, Type, Value, json};

    /// Variables of these names, in this order.
    fn environment(names: &[&str]) -> Environment {
        let declare = |environment: Environment, name: &&str| environment.with_variable(name, Type::Dyn);
        names.iter().fold(Environment::standard(), declare)
    }

    #[test]
    fn an_activation_of_another_environment_has_no_wrong_values() {
        let few = ["oldObject", "object"];
        let many = ["a", "b", "c", "d", "e", "f", "g", "h", "oldObject", "object"];
        for (ours, others) in [
            (["object", "oldObject"].as_slice(), few.as_slice()),
            (many.as_slice(), few.as_slice()),
        ] {
            let (ours, others) = (environment(ours), environment(others));
            let program = ours.compile("object.n <= 5").unwrap();
            let small = json::parse(br#"{"n": 1}"#).unwrap();
            let arena = Arena::new();
            let context = Context::new(&arena, 100);
            for (own, other) in [(&ours, &others), (&others, &ours)] {
                let mut activation = own.activation();
                activation.set(other.slot("oldObject").unwrap(), Value::from_json(&small));
                activation.set(own.slot("oldObject").unwrap(), Value::from_json(&small));
                let fault = program.evaluate(&context, &activation).map(drop).unwrap_err();
                assert_eq!(fault.to_string(), "no such attribute(s): object");
            }
            let mut activation = ours.activation();
            activation.set(ours.slot("object").unwrap(), Value::from_json(&small));
            assert!(matches!(
                program.evaluate(&context, &activation),
                Ok(Value::Bool(true))
            ));
        }
    }

    #[test]
    fn what_shares_the_places_of_its_variables_shares_activations() {
        let environment = environment(&["object", "params"]);
        let more = environment.clone().with_variable("variables", Type::Dyn);
        let program = environment.compile("object == 1").unwrap();
        let mut activation = more.activation();
        activation.set(more.slot("object").unwrap(), Value::Int(1));
        let arena = Arena::new();
        let value = program.evaluate(&Context::new(&arena, 100), &activation);
        assert!(matches!(value, Ok(Value::Bool(true))));
    }
}
