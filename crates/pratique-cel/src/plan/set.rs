//! Membership in a list of constants.

use std::sync::Arc;

use crate::constant::Constant;
use crate::error::Fault;
use crate::ops;
use crate::value::Value;

/// The constants of a list, indexed for search.
#[derive(Clone, Debug)]
pub(super) struct ConstantSet {
    /// Sorted.
    strings: Box<[Arc<str>]>,
    others: Box<[Constant]>,
}

impl ConstantSet {
    /// The set of constants; `None` if one is neither boolean, number nor string.
    pub(super) fn new(elements: &[Constant]) -> Option<Self> {
        let mut strings = Vec::new();
        let mut others = Vec::new();
        for element in elements {
            match element {
                Constant::String(text) => strings.push(text.clone()),
                Constant::Bool(_) | Constant::Int(_) | Constant::Uint(_) | Constant::Double(_) => {
                    others.push(element.clone());
                }
                _ => return None,
            }
        }
        strings.sort_unstable();
        strings.dedup();
        Some(ConstantSet {
            strings: strings.into(),
            others: others.into(),
        })
    }

    /// Whether a value is in the set; an error for values that the reference cannot hash, such as bytes.
    pub(super) fn contains(&self, value: &Value<'_>) -> Result<bool, Fault> {
        match value {
            Value::String(text) => Ok(self
                .strings
                .binary_search_by(|element| (**element).cmp(text))
                .is_ok()),
            value if ops::unhashable(value).is_some() => ops::check_hash(value).map(|()| false),
            value => Ok(self
                .others
                .iter()
                .any(|element| ops::equal(&element.value(), value) == Ok(true))),
        }
    }
}
