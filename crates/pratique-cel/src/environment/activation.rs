//! The values of variables.

use crate::value::Value;

/// The place of a variable in the [`Activation`]s of its environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// The place of a variable that was not declared: never set.
    pub(crate) const NOWHERE: Slot = Slot(u32::MAX);
}

/// The values of an environment's variables for one or more evaluations.
#[derive(Clone, Debug, Default)]
pub struct Activation<'a> {
    /// The first ones, in place: an activation is made for each evaluation.
    few: [Option<Value<'a>>; FEW],
    more: Vec<Option<Value<'a>>>,
}

/// How many variables find room in an activation itself.
const FEW: usize = 8;

impl<'a> Activation<'a> {
    pub(super) fn new(count: usize) -> Self {
        Activation {
            few: [None; FEW],
            more: vec![None; count.saturating_sub(FEW)],
        }
    }

    /// Sets a variable; a variable that is not set is an error where it is read (`no such attribute(s): x`).
    pub fn set(&mut self, slot: Slot, value: Value<'a>) {
        let at = slot.0 as usize;
        let place = match at.checked_sub(FEW) {
            None => self.few.get_mut(at),
            Some(at) => self.more.get_mut(at),
        };
        if let Some(place) = place {
            *place = Some(value);
        }
    }

    /// The value of a variable, where it lies.
    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> Option<&Value<'a>> {
        let at = slot.0 as usize;
        let place = match at.checked_sub(FEW) {
            None => self.few.get(at),
            Some(at) => self.more.get(at),
        };
        place?.as_ref()
    }

    /// The value of a variable.
    pub fn get(&self, slot: Slot) -> Option<Value<'a>> {
        self.value(slot).copied()
    }
}
