//! Membership in a list of constants.

use std::sync::Arc;

use crate::constant::Constant;
use crate::error::Fault;
use crate::ops;
use crate::value::Value;

/// The constants of a list, ready to be searched.
#[derive(Clone, Debug)]
pub(super) struct ConstantSet {
    /// Sorted.
    strings: Box<[Arc<str>]>,
    others: Box<[Constant]>,
}

impl ConstantSet {
    /// The set of constants that are booleans, numbers and strings; `None` where there are other ones.
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

    /// Whether a value is among them. Bytes are none that the reference could look for.
    pub(super) fn contains(&self, value: &Value<'_>) -> Result<bool, Fault> {
        match value {
            Value::String(text) => Ok(self.strings.binary_search_by(|own| (**own).cmp(text)).is_ok()),
            value if ops::unhashable(value).is_some() => ops::check_hash(value).map(|()| false),
            value => Ok(self
                .others
                .iter()
                .any(|own| ops::equal(&own.value(), value) == Ok(true))),
        }
    }
}
