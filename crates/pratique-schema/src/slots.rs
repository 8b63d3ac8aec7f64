//! A hash index of names: the position of each name in a list, found in constant time.

use pratique_json::same;

/// The positions of names, by hash.
// Rows `review-*` of `benches/`: every field of an object is looked up in it while the object is decoded, and a `HashMap` would own
// the names again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NameSlots {
    /// Positions plus one; 0 for none. The length is a power of two, and more than half are free.
    slots: Vec<u32>,
}

impl NameSlots {
    /// No names.
    pub(crate) const NONE: NameSlots = NameSlots { slots: Vec::new() };

    /// Takes names that differ.
    pub(crate) fn new<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Self {
        let mut index = NameSlots {
            slots: vec![0; (2 * names.len()).next_power_of_two()],
        };
        for (position, name) in (1u32..).zip(names) {
            let mask = index.slots.len().wrapping_sub(1);
            let start = hash(name);
            let free = (0..index.slots.len()).map(|step| start.wrapping_add(step) & mask);
            let free = free.into_iter().find(|at| index.slots.get(*at) == Some(&0));
            if let Some(slot) = free.and_then(|at| index.slots.get_mut(at)) {
                *slot = position;
            }
        }
        index
    }

    /// The position of a name; `named` gives the name at a position.
    #[inline]
    pub(crate) fn find<'n>(&self, name: &str, named: impl Fn(usize) -> Option<&'n str>) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash(name) & mask;
        // More than half of the slots are free, so the search ends soon.
        loop {
            let position = self.slots.get(at)?.checked_sub(1)? as usize;
            if same(named(position)?, name) {
                return Some(position);
            }
            at = (at + 1) & mask;
        }
    }
}

/// Something with a name.
pub trait Named {
    /// Its name.
    fn name(&self) -> &str;
}

/// Walks the fields of a type along the members of an object, which are sorted, too: the field of a member is
/// mostly one of the next.
#[derive(Clone, Debug)]
pub struct Walk<'f, F> {
    fields: &'f [F],
    slots: &'f NameSlots,
    /// The fields after the last one that was found.
    rest: &'f [F],
}

/// How many fields are looked at before a name is looked up.
const NEAR: usize = 8;

impl<'f, F: Named> Walk<'f, F> {
    /// Takes fields that are sorted by name, with their slots.
    #[inline]
    pub(crate) fn new(fields: &'f [F], slots: &'f NameSlots) -> Self {
        Walk {
            fields,
            slots,
            rest: fields,
        }
    }

    /// A field by its name.
    #[inline]
    pub fn field(&mut self, name: &str) -> Option<&'f F> {
        let mut rest = self.rest;
        for _ in 0..NEAR {
            let Some((field, others)) = rest.split_first() else {
                break;
            };
            if same(field.name(), name) {
                self.rest = others;
                return Some(field);
            }
            rest = others;
        }
        self.find(name)
    }

    #[inline(never)]
    fn find(&mut self, name: &str) -> Option<&'f F> {
        let named = |at: usize| self.fields.get(at).map(F::name);
        let at = self.slots.find(name, named)?;
        let (field, rest) = self.fields.get(at..)?.split_first()?;
        self.rest = rest;
        Some(field)
    }
}

/// Hashes the length with the first and the last bytes, which differ for most names of a type.
fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let (head, tail) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => short(bytes),
    };
    let mixed = (head ^ tail.rotate_left(23) ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) as usize
}

/// The same of names that have no eight bytes.
fn short(bytes: &[u8]) -> (u64, u64) {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(head), Some(tail)) => (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into()),
        _ => {
            let number = bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u64::from(*byte));
            (number, number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        let names = [
            "a",
            "ab",
            "terminationMessagePath",
            "terminationMessagePolicy",
            "",
        ];
        let slots = NameSlots::new(names.iter().copied());
        let named = |at: usize| names.get(at).copied();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(slots.find(name, named), Some(at));
        }
        assert_eq!(slots.find("b", named), None);
        assert_eq!(NameSlots::NONE.find("a", named), None);
    }
}
