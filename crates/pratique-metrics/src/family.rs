//! A family that is counted in: its series, found by labels that are only borrowed.

use std::sync::{PoisonError, RwLock};

use hashbrown::{Equivalent, HashMap};

/// How many series a family may have before further names count as one.
pub const SERIES_LIMIT: usize = 20_000;

/// What names count as when there are too many of them.
const UNEXPECTED: &str = "unexpected";

/// The labels that have names of objects as values; all others have few values.
const NAMES: [&str; 3] = ["name", "policy", "policy_binding"];

/// Series of one kind by the values of their labels.
#[derive(Debug)]
pub(crate) struct Table<T, const N: usize> {
    /// By name.
    labels: [&'static str; N],
    empty: fn() -> T,
    limit: usize,
    series: RwLock<HashMap<Owned<N>, T>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Owned<const N: usize>([Box<str>; N]);

#[derive(Hash)]
struct Borrowed<'a, const N: usize>([&'a str; N]);

impl<T, const N: usize> Table<T, N> {
    pub(crate) fn new(labels: [&'static str; N], empty: fn() -> T) -> Self {
        Table {
            labels,
            empty,
            limit: SERIES_LIMIT,
            series: RwLock::default(),
        }
    }

    /// Does something with the series of these labels, which are in the order of their names.
    pub(crate) fn at<R>(&self, values: [&str; N], act: impl FnOnce(&T) -> R) -> R {
        let series = self.series.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = series.get(&Borrowed(values)) {
            return act(known);
        }
        drop(series);
        let mut series = self.series.write().unwrap_or_else(PoisonError::into_inner);
        let values = if series.len() < self.limit {
            values
        } else {
            self.without_names(values)
        };
        let owned = Owned(values.map(Box::from));
        act(series.entry(owned).or_insert_with(self.empty))
    }

    /// What `read` makes of each series, with its labels, in the order of their values.
    pub(crate) fn read<V>(&self, read: impl Fn(&T) -> V) -> Vec<(Vec<(&'static str, String)>, V)> {
        let series = self.series.read().unwrap_or_else(PoisonError::into_inner);
        let labels = |values: &Owned<N>| {
            let pairs = self.labels.iter().zip(&values.0);
            pairs.map(|(name, value)| (*name, value.to_string())).collect()
        };
        let mut all: Vec<(Vec<_>, V)> = series
            .iter()
            .map(|(values, own)| (labels(values), read(own)))
            .collect();
        all.sort_by(|left, right| left.0.cmp(&right.0));
        all
    }

    fn without_names<'a>(&self, mut values: [&'a str; N]) -> [&'a str; N] {
        for (label, value) in self.labels.iter().zip(&mut values) {
            if NAMES.contains(label) {
                *value = UNEXPECTED;
            }
        }
        values
    }
}

impl<const N: usize> Equivalent<Owned<N>> for Borrowed<'_, N> {
    fn equivalent(&self, key: &Owned<N>) -> bool {
        self.0.iter().zip(&key.0).all(|(left, right)| *left == &**right)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Table;

    #[test]
    fn too_many_names_count_as_one() {
        let mut table = Table::new(["code", "name"], AtomicU64::default);
        table.limit = 3;
        for name in ["a", "b", "c", "d", "e", "a"] {
            table.at(["200", name], |count| count.fetch_add(1, Ordering::Relaxed));
        }
        table.at(["500", "f"], |count| count.fetch_add(1, Ordering::Relaxed));
        let read = table.read(|count| count.load(Ordering::Relaxed));
        let found: Vec<(&str, &str, u64)> = read
            .iter()
            .map(|(labels, count)| (&*labels[0].1, &*labels[1].1, *count))
            .collect();
        let expected = [
            ("200", "a", 2),
            ("200", "b", 1),
            ("200", "c", 1),
            ("200", "unexpected", 2),
            ("500", "unexpected", 1),
        ];
        assert_eq!(found, expected);
    }
}
