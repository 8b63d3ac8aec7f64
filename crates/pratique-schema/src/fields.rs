//! The fields of a type, found by name in constant time.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::Field;
use crate::read::{self, TypeNames};
use crate::slots::{NameSlots, Named, Walk};

/// The fields of a type.
#[derive(Debug, Default)]
pub struct Fields {
    /// By name.
    fields: Vec<Field>,
    /// Positions of those that are always written.
    always: Vec<u16>,
    slots: NameSlots,
}

/// Fields that are parsed from the table on first use: of more than a thousand types, a program uses few.
#[derive(Debug, Default)]
pub struct LazyFields {
    table: &'static str,
    /// The types of the schema, to which they refer. Without them there are no fields.
    names: Option<Arc<TypeNames>>,
    fields: OnceLock<Fields>,
}

impl LazyFields {
    /// No fields.
    pub(crate) const fn empty() -> Self {
        LazyFields {
            table: "",
            names: None,
            fields: OnceLock::new(),
        }
    }

    /// Takes the lines of the table.
    pub(crate) fn new(table: &'static str, names: Arc<TypeNames>) -> Self {
        LazyFields {
            table,
            names: Some(names),
            fields: OnceLock::new(),
        }
    }

    #[cold]
    fn read(&self) -> &Fields {
        self.fields.get_or_init(|| {
            let names = self.names.as_deref();
            names.map_or_else(Fields::default, |names| {
                Fields::new(read::fields(self.table, names))
            })
        })
    }
}

impl Deref for LazyFields {
    type Target = Fields;

    #[inline]
    fn deref(&self) -> &Fields {
        match self.fields.get() {
            Some(fields) => fields,
            None => self.read(),
        }
    }
}

impl Fields {
    /// Takes fields that are sorted by name.
    pub(crate) fn new(fields: Vec<Field>) -> Self {
        let positions = (0u16..).zip(&fields);
        let always = positions
            .filter(|(_, field)| field.is_always())
            .map(|(at, _)| at)
            .collect();
        Fields {
            always,
            slots: NameSlots::new(fields.iter().map(|field| field.name)),
            fields,
        }
    }

    /// A field by its name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.fields.get(self.position(name)?)
    }

    #[inline]
    fn position(&self, name: &str) -> Option<usize> {
        let named = |at: usize| self.fields.get(at).map(|field| field.name);
        self.slots.find(name, named)
    }

    /// Looks fields up for the members of an object, in the order of their names.
    #[inline]
    pub fn walk(&self) -> Walk<'_, Field> {
        Walk::new(&self.fields, &self.slots)
    }

    /// The fields by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.fields.iter()
    }

    /// The fields that are always written, sorted by name.
    pub fn always(&self) -> impl Iterator<Item = &Field> {
        self.always
            .iter()
            .filter_map(|at| self.fields.get(usize::from(*at)))
    }

    /// The number of fields that are always written.
    pub fn always_count(&self) -> usize {
        self.always.len()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

impl Named for Field {
    #[inline]
    fn name(&self) -> &str {
        self.name
    }
}

#[cfg(test)]
mod tests {
    use crate::Release;

    #[test]
    fn fields_are_found_in_any_order() {
        for of in Release::latest().schema().types() {
            let names: Vec<&str> = of.fields.iter().map(|field| field.name).collect();
            let orders = [names.clone(), names.iter().rev().copied().collect()];
            let every_third: Vec<&str> = names.iter().step_by(3).copied().collect();
            for order in orders.into_iter().chain([every_third]) {
                let mut walk = of.fields.walk();
                for name in order {
                    assert!(walk.field("no such field").is_none());
                    assert_eq!(walk.field(name).map(|field| field.name), Some(name));
                }
            }
        }
    }
}
