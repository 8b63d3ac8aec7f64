//! Lists of objects that are recognised when they are seen again.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::sync::Arc;

use pratique_json::Value;

/// The objects of a kind in a namespace, by name. Copies share them, and whether two lists are copies of one is known
/// without looking at the objects.
#[derive(Clone, Default)]
pub struct ObjectList {
    /// `None` for no objects.
    objects: Option<Arc<Vec<Arc<Value<'static>>>>>,
}

impl ObjectList {
    /// No objects.
    pub const EMPTY: &'static Self = &ObjectList { objects: None };

    /// Whether both are copies of the same list. Others with the same objects are not.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        match (&self.objects, &other.objects) {
            (Some(objects), Some(others)) => Arc::ptr_eq(objects, others),
            (None, None) => true,
            _ => false,
        }
    }

    /// The objects, to be changed: those of copies stay as they are.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<Arc<Value<'static>>> {
        Arc::make_mut(self.objects.get_or_insert_default())
    }
}

impl Deref for ObjectList {
    type Target = [Arc<Value<'static>>];

    fn deref(&self) -> &Self::Target {
        self.objects.as_ref().map_or(&[], |objects| objects.as_slice())
    }
}

impl From<Vec<Arc<Value<'static>>>> for ObjectList {
    fn from(objects: Vec<Arc<Value<'static>>>) -> Self {
        ObjectList {
            objects: Some(Arc::new(objects)),
        }
    }
}

impl FromIterator<Arc<Value<'static>>> for ObjectList {
    fn from_iter<I: IntoIterator<Item = Arc<Value<'static>>>>(objects: I) -> Self {
        objects.into_iter().collect::<Vec<_>>().into()
    }
}

impl Debug for ObjectList {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_recognised_and_stay_as_they_are() {
        let list: ObjectList = [Arc::new(Value::Int(1))].into_iter().collect();
        let mut copy = list.clone();
        assert!(copy.is_copy_of(&list));
        copy.to_mut().push(Arc::new(Value::Int(2)));
        assert!(!copy.is_copy_of(&list));
        assert_eq!((list.len(), copy.len()), (1, 2));
        assert!(!list.is_copy_of(&list.iter().cloned().collect()));
        assert!(ObjectList::EMPTY.is_empty() && ObjectList::EMPTY.is_copy_of(&ObjectList::default()));
        assert!(!ObjectList::EMPTY.is_copy_of(&list));
    }
}
