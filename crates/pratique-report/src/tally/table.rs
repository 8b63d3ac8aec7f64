//! Counts by names, in bounded memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bounded;
use crate::Counts;

/// Counts by names, such as policy and binding. The rows that come first in the order of their names are kept, and all others
/// are counted together: whatever is kept of a whole is then kept of each of its parts, with all that was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TallyTable<const N: usize> {
    pub(super) rows: BTreeMap<[String; N], Counts>,
    pub(super) other: Counts,
}

/// A row in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonRow {
    pub(super) key: Vec<String>,
    pub(super) counts: Counts,
}

/// A table in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonTable {
    pub(super) rows: Vec<JsonRow>,
    #[serde(default, skip_serializing_if = "Counts::is_empty")]
    pub(super) other: Counts,
}

impl<const N: usize> Default for TallyTable<N> {
    fn default() -> Self {
        TallyTable {
            rows: BTreeMap::new(),
            other: Counts::default(),
        }
    }
}

impl<const N: usize> TallyTable<N> {
    /// The rows in the order of their names.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = ([&str; N], Counts)> {
        self.rows
            .iter()
            .map(|(key, counts)| (key.each_ref().map(String::as_str), *counts))
    }

    /// The counts of a row.
    pub fn row(&self, key: [&str; N]) -> Option<Counts> {
        self.rows.get(&key.map(bounded)).copied()
    }

    /// The counts of all rows that were not kept.
    pub fn other(&self) -> Counts {
        self.other
    }

    /// All counts together.
    pub fn sum(&self) -> Counts {
        let mut sum = self.other;
        self.rows.values().for_each(|row| sum.add(*row));
        sum
    }

    pub(super) fn add(&mut self, key: [&str; N], counts: Counts, limit: usize) {
        self.add_row(key.map(bounded), counts, limit);
    }

    fn add_row(&mut self, key: [String; N], counts: Counts, limit: usize) {
        if let Some(row) = self.rows.get_mut(&key) {
            return row.add(counts);
        }
        let is_first =
            self.rows.len() < limit || self.rows.last_key_value().is_some_and(|(last, _)| key < *last);
        if is_first && limit > 0 {
            self.rows.insert(key, counts);
        } else {
            self.other.add(counts);
        }
        self.shrink(limit);
    }

    pub(super) fn merge(&mut self, other: Self, limit: usize) {
        self.shrink(limit);
        self.other.add(other.other);
        for (key, counts) in other.rows {
            self.add_row(key, counts, limit);
        }
    }

    fn shrink(&mut self, limit: usize) {
        while self.rows.len() > limit
            && let Some((_, last)) = self.rows.pop_last()
        {
            self.other.add(last);
        }
    }
}

impl<const N: usize> From<TallyTable<N>> for JsonTable {
    fn from(table: TallyTable<N>) -> Self {
        let rows = table.rows.into_iter().map(|(key, counts)| JsonRow {
            key: key.into(),
            counts,
        });
        JsonTable {
            rows: rows.collect(),
            other: table.other,
        }
    }
}
