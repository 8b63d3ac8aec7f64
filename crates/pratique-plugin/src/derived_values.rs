//! Values derived from the objects of namespaces, kept until these change.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use pratique_json::Value;

use crate::object_list::ObjectList;

/// Values that a plugin derives from the objects of a kind in a namespace: an item of each object, and an index over
/// them.
pub trait DerivedValues: Sized {
    /// The value read from one object.
    type Item;

    /// Reads an object.
    fn read(object: &Arc<Value<'static>>) -> Self::Item;

    /// The index over the items, in the order of the objects.
    fn index(items: &[Arc<Self::Item>]) -> Self;
}

/// Values [derived](DerivedValues) from the objects of namespaces, kept until these change.
///
/// A view of the cluster gives [copies of the same list](ObjectList::is_copy_of) until an object is replaced.
pub struct DerivedCache<D: DerivedValues> {
    max_namespaces: usize,
    namespaces: Mutex<HashMap<String, Arc<Derivation<D>>, RandomState>>,
}

/// The values derived from the objects of one namespace.
pub struct Derivation<D: DerivedValues> {
    objects: ObjectList,
    items: Vec<Arc<D::Item>>,
    index: D,
}

impl<D: DerivedValues> DerivedCache<D> {
    /// An empty cache. When it has so many namespaces, another one empties it.
    pub fn new(max_namespaces: usize) -> Self {
        DerivedCache {
            max_namespaces,
            namespaces: Mutex::default(),
        }
    }

    /// The values derived from the objects of a namespace: kept ones if it is the same list.
    pub fn get(&self, namespace: &str, objects: &ObjectList) -> Arc<Derivation<D>> {
        let mut namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = namespaces.get(namespace);
        if let Some(previous) = previous
            && previous.objects.is_copy_of(objects)
        {
            return Arc::clone(previous);
        }
        let derivation = Arc::new(Derivation::new(objects, previous.map(|previous| &**previous)));
        if previous.is_none() && namespaces.len() >= self.max_namespaces {
            namespaces.clear();
        }
        namespaces.insert(namespace.to_owned(), Arc::clone(&derivation));
        derivation
    }
}

impl<D: DerivedValues> Derivation<D> {
    /// Reads the objects of a list. Those that are at their place since before are not read again.
    fn new(objects: &ObjectList, previous: Option<&Self>) -> Self {
        let reused = |at: usize, object: &Arc<Value<'static>>| {
            let previous = previous?;
            let is_same = Arc::ptr_eq(previous.objects.get(at)?, object);
            previous.items.get(at).filter(|_| is_same).map(Arc::clone)
        };
        let items = objects.iter().enumerate();
        let items = items.map(|(at, object)| reused(at, object).unwrap_or_else(|| Arc::new(D::read(object))));
        let items: Vec<_> = items.collect();
        Derivation {
            objects: objects.clone(),
            index: D::index(&items),
            items,
        }
    }

    /// The index over all objects.
    pub fn index(&self) -> &D {
        &self.index
    }

    /// The items of all objects, in their order.
    pub fn items(&self) -> impl ExactSizeIterator<Item = &D::Item> {
        self.items.iter().map(|item| &**item)
    }

    /// The items of the objects at some places.
    pub fn at(&self, places: &[usize]) -> impl Iterator<Item = &D::Item> {
        places
            .iter()
            .filter_map(|place| self.items.get(*place))
            .map(|item| &**item)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    static READ: AtomicUsize = AtomicUsize::new(0);

    /// The places of the numbers that are even.
    struct Even(Vec<usize>);

    impl DerivedValues for Even {
        type Item = i64;

        fn read(object: &Arc<Value<'static>>) -> i64 {
            READ.fetch_add(1, Ordering::Relaxed);
            object.as_int().unwrap()
        }

        fn index(items: &[Arc<i64>]) -> Self {
            let even = (0..items.len()).filter(|place| *items[*place] % 2 == 0);
            Even(even.collect())
        }
    }

    fn even(derivation: &Derivation<Even>) -> Vec<i64> {
        derivation.at(&derivation.index().0).copied().collect()
    }

    #[test]
    fn objects_are_read_once_and_followed() {
        let cache: DerivedCache<Even> = DerivedCache::new(2);
        let read = || READ.swap(0, Ordering::Relaxed);
        let mut objects: ObjectList = (0..4).map(|number| Arc::new(Value::Int(number))).collect();
        let first = cache.get("team", &objects);
        assert_eq!((even(&first), read()), (vec![0, 2], 4));
        assert!(Arc::ptr_eq(&first, &cache.get("team", &objects.clone())));
        // The objects of another list are not read again where they are the same.
        let others: ObjectList = objects.iter().cloned().collect();
        let second = cache.get("team", &others);
        assert!(!Arc::ptr_eq(&first, &second));
        assert_eq!((even(&second), read()), (vec![0, 2], 0));
        objects.to_mut()[1] = Arc::new(Value::Int(8));
        assert_eq!((even(&cache.get("team", &objects)), read()), (vec![0, 8, 2], 1));
        objects.to_mut().truncate(2);
        assert_eq!((even(&cache.get("team", &objects)), read()), (vec![0, 8], 0));
        assert_eq!(cache.get("team", ObjectList::EMPTY).items().len(), 0);
        // Namespaces do not share what they keep, and of too many all are forgotten.
        assert_eq!((even(&cache.get("other", &objects)), read()), (vec![0, 8], 2));
        cache.get("third", ObjectList::EMPTY);
        assert_eq!(cache.namespaces.lock().unwrap().len(), 1);
    }
}
