//! The fields of a type, found by name in constant time.

use crate::Field;
use crate::slots::Slots;

/// The fields of a type.
#[derive(Debug, Default)]
pub struct Fields {
    /// By name.
    fields: Vec<Field>,
    /// Positions of those that are always there.
    always: Vec<u16>,
    slots: Slots,
}

impl Fields {
    /// No fields.
    pub(crate) const NONE: Fields = Fields {
        fields: Vec::new(),
        always: Vec::new(),
        slots: Slots::NONE,
    };

    /// Takes fields that are sorted by name.
    pub(crate) fn new(fields: Vec<Field>) -> Self {
        let positions = (0u16..).zip(&fields);
        let always = positions
            .filter(|(_, field)| field.is_always())
            .map(|(at, _)| at)
            .collect();
        Fields {
            always,
            slots: Slots::new(fields.iter().map(|field| field.name.as_str())),
            fields,
        }
    }

    /// A field by its name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Field> {
        let at = self
            .slots
            .find(name, |at| self.fields.get(at).map(|field| field.name.as_str()))?;
        self.fields.get(at)
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

    /// How many fields are always there.
    pub fn always_count(&self) -> usize {
        self.always.len()
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}
