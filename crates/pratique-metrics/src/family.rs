//! Tables of series, looked up by borrowed labels.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use hashbrown::{Equivalent, HashMap};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use crate::histogram::DurationHistogram;
use crate::snapshot::{MetricFamily, MetricKind, MetricSeries, SeriesValue};
use crate::summary::DurationSummary;

/// A gauge of floating point numbers.
pub(crate) type FloatGauge = Gauge<f64, std::sync::atomic::AtomicU64>;

/// The maximum number of series of a family. Past it, series with new names are counted together.
pub const SERIES_LIMIT: usize = 20_000;

/// The value of name labels past the limit.
const UNEXPECTED: &str = "unexpected";

/// The labels whose values are names of objects; all others have few values.
const NAMES: [&str; 3] = ["name", "policy", "policy_binding"];

/// A metric: one series of a family.
pub(crate) trait FamilyMetric {
    /// The kind of the family.
    const KIND: MetricKind;

    /// The current value.
    fn value(&self) -> SeriesValue;
}

/// The series of a family by their label values.
#[derive(Debug)]
pub(crate) struct SeriesTable<T, const N: usize> {
    name: &'static str,
    help: &'static str,
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

impl<T, const N: usize> SeriesTable<T, N> {
    pub(crate) fn new(
        name: &'static str,
        help: &'static str,
        labels: [&'static str; N],
        new: fn() -> T,
    ) -> Self {
        SeriesTable {
            name,
            help,
            labels,
            new,
            limit: SERIES_LIMIT,
            series: RwLock::default(),
        }
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

    fn without_names<'a>(&self, mut values: [&'a str; N]) -> [&'a str; N] {
        for (label, value) in self.labels.iter().zip(&mut values) {
            if NAMES.contains(label) {
                *value = UNEXPECTED;
            }
        }
        values
    }
}

impl<T: FamilyMetric, const N: usize> SeriesTable<T, N> {
    /// The family with the current values, sorted by label values.
    pub(crate) fn family(&self) -> MetricFamily {
        let table = self.series.read().unwrap_or_else(PoisonError::into_inner);
        let labels = |values: &LabelValues<N>| {
            let pairs = self.labels.iter().zip(&values.0);
            pairs.map(|(name, value)| (*name, value.to_string())).collect()
        };
        let series = table.iter().map(|(values, metric)| MetricSeries {
            labels: labels(values),
            value: metric.value(),
        });
        let mut series: Vec<MetricSeries> = series.collect();
        series.sort_by(|left, right| left.labels.cmp(&right.labels));
        MetricFamily {
            name: self.name,
            help: self.help,
            kind: T::KIND,
            labels: self.labels.to_vec(),
            series,
        }
    }
}

impl<const N: usize> SeriesTable<Counter, N> {
    pub(crate) fn inc(&self, values: [&str; N]) {
        self.with(values, Counter::inc);
    }

    pub(crate) fn add(&self, values: [&str; N], count: u64) {
        self.with(values, |counter| counter.inc_by(count));
    }
}

impl<const N: usize> SeriesTable<FloatGauge, N> {
    pub(crate) fn set(&self, values: [&str; N], value: f64) {
        self.with(values, |gauge| gauge.set(value));
    }
}

impl<const N: usize> SeriesTable<DurationHistogram, N> {
    pub(crate) fn observe(&self, values: [&str; N], elapsed: Duration) {
        self.with(values, |histogram| histogram.observe(elapsed));
    }
}

impl<const N: usize> SeriesTable<DurationSummary, N> {
    pub(crate) fn observe(&self, values: [&str; N], elapsed: Duration) {
        self.with(values, |summary| summary.observe(elapsed));
    }
}

impl FamilyMetric for Counter {
    const KIND: MetricKind = MetricKind::Counter;

    fn value(&self) -> SeriesValue {
        SeriesValue::Counter(self.get())
    }
}

impl FamilyMetric for FloatGauge {
    const KIND: MetricKind = MetricKind::Gauge;

    fn value(&self) -> SeriesValue {
        SeriesValue::Gauge(self.get())
    }
}

impl FamilyMetric for DurationHistogram {
    const KIND: MetricKind = MetricKind::Histogram;

    fn value(&self) -> SeriesValue {
        SeriesValue::Histogram(self.read())
    }
}

impl FamilyMetric for DurationSummary {
    const KIND: MetricKind = MetricKind::Summary;

    fn value(&self) -> SeriesValue {
        SeriesValue::Summary(self.read())
    }
}

impl<const N: usize> Equivalent<LabelValues<N>> for BorrowedLabelValues<'_, N> {
    fn equivalent(&self, key: &LabelValues<N>) -> bool {
        self.0.iter().zip(&key.0).all(|(left, right)| *left == &**right)
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;

    use super::SeriesTable;
    use crate::snapshot::SeriesValue;

    #[test]
    fn names_past_the_limit_are_counted_together() {
        let mut table = SeriesTable::new("requests", "", ["code", "name"], Counter::default);
        table.limit = 3;
        for name in ["a", "b", "c", "d", "e", "a"] {
            table.inc(["200", name]);
        }
        table.inc(["500", "f"]);
        let family = table.family();
        let found: Vec<(&str, &str, &SeriesValue)> = family
            .series
            .iter()
            .map(|series| (&*series.labels[0].1, &*series.labels[1].1, &series.value))
            .collect();
        let expected = [
            ("200", "a", &SeriesValue::Counter(2)),
            ("200", "b", &SeriesValue::Counter(1)),
            ("200", "c", &SeriesValue::Counter(1)),
            ("200", "unexpected", &SeriesValue::Counter(2)),
            ("500", "unexpected", &SeriesValue::Counter(1)),
        ];
        assert_eq!(found, expected);
    }
}
