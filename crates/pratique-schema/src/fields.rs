//! The fields of a type, found by name in constant time.

use crate::{Field, Presence};

/// The fields of a type.
#[derive(Debug, Default)]
pub struct Fields {
    /// By name.
    fields: Vec<Field>,
    /// Positions of those that are always there.
    always: Vec<u16>,
    /// Positions by hash, plus one; 0 for none. The length is a power of two.
    slots: Vec<u16>,
}

impl Fields {
    /// No fields.
    pub(crate) const NONE: Fields = Fields {
        fields: Vec::new(),
        always: Vec::new(),
        slots: Vec::new(),
    };

    /// Takes fields that are sorted by name.
    pub(crate) fn new(fields: Vec<Field>) -> Self {
        let is_always = |field: &Field| matches!(field.presence, Presence::Always | Presence::Nullable);
        let positions = (0u16..).zip(&fields);
        let always = positions
            .filter(|(_, field)| is_always(field))
            .map(|(at, _)| at)
            .collect();
        let mut made = Fields {
            slots: vec![0; (2 * fields.len()).next_power_of_two()],
            fields,
            always,
        };
        for at in 0..made.fields.len() {
            made.enter(at);
        }
        made
    }

    /// A field by its name.
    pub fn get(&self, name: &str) -> Option<&Field> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(name) & mask;
        // More than half of the slots are free, so one is met soon.
        loop {
            let position = self.slots.get(at)?.checked_sub(1)?;
            let field = self.fields.get(usize::from(position))?;
            if field.name == name {
                return Some(field);
            }
            at = (at + 1) & mask;
        }
    }

    /// The fields by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.fields.iter()
    }

    /// The fields that are always there, by name.
    pub fn always(&self) -> impl Iterator<Item = &Field> {
        self.always
            .iter()
            .filter_map(|at| self.fields.get(usize::from(*at)))
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    fn enter(&mut self, position: usize) {
        let mask = self.slots.len().wrapping_sub(1);
        let Some(name) = self.fields.get(position).map(|field| field.name.as_str()) else {
            return;
        };
        let start = hash(name);
        let free = (0..self.slots.len()).map(|step| (start + step) & mask);
        let free = free.into_iter().find(|at| self.slots.get(*at) == Some(&0));
        if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
            *slot = position as u16 + 1;
        }
    }
}

/// Mixes the length with the first and the last eight bytes: enough to tell most names of a type apart.
fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let number = |chunk: Option<&[u8; 8]>| match chunk {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => bytes
            .iter()
            .fold(0, |number, byte| (number << 8) | u64::from(*byte)),
    };
    let (head, tail) = (number(bytes.first_chunk()), number(bytes.last_chunk()));
    let mixed = (head ^ tail.rotate_left(23) ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 48) as usize
}
