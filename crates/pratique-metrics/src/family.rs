//! Tables of series, looked up by borrowed labels.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use hashbrown::{Equivalent, HashMap};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use crate::histogram::Histogram;
use crate::summary::Summary;

/// A gauge of floating point numbers.
pub(crate) type FloatGauge = Gauge<f64, std::sync::atomic::AtomicU64>;

/// The maximum number of series of a family. Past it, series with new names are counted together.
pub const SERIES_LIMIT: usize = 20_000;

/// The value of name labels past the limit.
const UNEXPECTED: &str = "unexpected";

/// The labels whose values are names of objects; all others have few values.
const NAMES: [&str; 3] = ["name", "policy", "policy_binding"];

/// The series of a family by their label values.
#[derive(Debug)]
pub(crate) struct Table<T, const N: usize> {
    /// The names of the labels, sorted.
    labels: [&'static str; N],
    new: fn() -> T,
    limit: usize,
    series: RwLock<HashMap<LabelValues<N>, T>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct LabelValues<const N: usize>([Box<str>; N]);

#[derive(Hash)]
struct BorrowedLabelValues<'a, const N: usize>([&'a str; N]);

impl<T, const N: usize> Table<T, N> {
    pub(crate) fn new(labels: [&'static str; N], new: fn() -> T) -> Self {
        Table {
            labels,
            new,
            limit: SERIES_LIMIT,
            series: RwLock::default(),
        }
    }

    /// The names of the labels, sorted.
    pub(crate) fn labels(&self) -> Vec<&'static str> {
        self.labels.to_vec()
    }

    /// Updates the series with these label values, which are in the order of the label names.
    pub(crate) fn with<R>(&self, values: [&str; N], update: impl FnOnce(&T) -> R) -> R {
        let series = self.series.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = series.get(&BorrowedLabelValues(values)) {
            return update(series);
        }
        drop(series);
        let mut series = self.series.write().unwrap_or_else(PoisonError::into_inner);
        let values = if series.len() < self.limit {
            values
        } else {
            self.without_names(values)
        };
        let values = LabelValues(values.map(Box::from));
        update(series.entry(values).or_insert_with(self.new))
    }

    /// The labels and the current value of each series, sorted by label values.
    pub(crate) fn read<V>(&self, read: impl Fn(&T) -> V) -> Vec<(Vec<(&'static str, String)>, V)> {
        let series = self.series.read().unwrap_or_else(PoisonError::into_inner);
        let labels = |values: &LabelValues<N>| {
            let pairs = self.labels.iter().zip(&values.0);
            pairs.map(|(name, value)| (*name, value.to_string())).collect()
        };
        let mut all: Vec<(Vec<_>, V)> = series
            .iter()
            .map(|(values, series)| (labels(values), read(series)))
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

impl<const N: usize> Table<Counter, N> {
    pub(crate) fn inc(&self, values: [&str; N]) {
        self.with(values, Counter::inc);
    }

    pub(crate) fn add(&self, values: [&str; N], count: u64) {
        self.with(values, |counter| counter.inc_by(count));
    }
}

impl<const N: usize> Table<FloatGauge, N> {
    pub(crate) fn set(&self, values: [&str; N], value: f64) {
        self.with(values, |gauge| gauge.set(value));
    }
}

impl<const N: usize> Table<Histogram, N> {
    pub(crate) fn observe(&self, values: [&str; N], elapsed: Duration) {
        self.with(values, |histogram| histogram.observe(elapsed));
    }
}

impl<const N: usize> Table<Summary, N> {
    pub(crate) fn observe(&self, values: [&str; N], elapsed: Duration) {
        self.with(values, |summary| summary.observe(elapsed));
    }
}

impl<const N: usize> Equivalent<LabelValues<N>> for BorrowedLabelValues<'_, N> {
    fn equivalent(&self, key: &LabelValues<N>) -> bool {
        self.0.iter().zip(&key.0).all(|(left, right)| *left == &**right)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Table;

    #[test]
    fn names_past_the_limit_are_counted_together() {
        let mut table = Table::new(["code", "name"], AtomicU64::default);
        table.limit = 3;
        for name in ["a", "b", "c", "d", "e", "a"] {
            table.with(["200", name], |count| count.fetch_add(1, Ordering::Relaxed));
        }
        table.with(["500", "f"], |count| count.fetch_add(1, Ordering::Relaxed));
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
