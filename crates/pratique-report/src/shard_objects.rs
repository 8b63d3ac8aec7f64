//! The objects of a shard by their names: one that several shards have is told once their reports are merged.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ReportNotice;

/// How many objects of shards are compared: those with the least identities, which every shard chooses alike.
const MAX_OBJECTS: usize = 100_000;
/// How many places of an object are kept.
const MAX_PLACES: usize = 10;
/// How many objects are told one by one.
const MAX_TOLD: usize = 100;

/// The objects of some shards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShardObjects {
    /// By their identities.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<u64, NamedPlaces>,
    /// How many are not compared, as there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedPlaces {
    name: String,
    /// Where each shard that has it has it first.
    places: BTreeSet<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ShardObjects {
    /// Adds an object of a shard, of which this is the first place.
    pub fn add(&mut self, identity: u64, name: &str, place: &str) {
        self.insert(
            identity,
            NamedPlaces {
                name: name.to_owned(),
                places: BTreeSet::from([place.to_owned()]),
            },
        );
    }

    /// Counts objects that are not remembered.
    pub fn leave_out(&mut self, count: u64) {
        self.left_out = self.left_out.saturating_add(count);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.left_out == 0
    }

    /// Adds the objects of other shards.
    pub(crate) fn merge(&mut self, other: ShardObjects) {
        self.leave_out(other.left_out);
        for (identity, object) in other.named {
            self.insert(identity, object);
        }
    }

    fn insert(&mut self, identity: u64, object: NamedPlaces) {
        let known = self.named.entry(identity).or_insert_with(|| NamedPlaces {
            name: object.name,
            places: BTreeSet::new(),
        });
        known.places.extend(object.places);
        while known.places.len() > MAX_PLACES {
            known.places.pop_last();
        }
        if self.named.len() > MAX_OBJECTS {
            self.named.pop_last();
            self.leave_out(1);
        }
    }

    /// What is told once all shards are there, under a rule.
    pub(crate) fn notices(&self, rule: &str) -> Vec<ReportNotice> {
        let notice = |place: &str, message: String| ReportNotice {
            rule: rule.to_owned(),
            place: place.to_owned(),
            message,
        };
        let mut repeated = BTreeSet::new();
        for object in self.named.values() {
            let mut places = object.places.iter();
            if let Some(first) = places.next() {
                repeated.extend(places.map(|place| (place, &object.name, first)));
            }
        }
        let one_by_one = repeated.iter().take(MAX_TOLD).map(|(place, name, first)| {
            notice(
                place,
                format!("{name} is in another shard of the inputs as well, at {first}: {WHAT_COUNTS}"),
            )
        });
        let more = repeated.len().saturating_sub(MAX_TOLD);
        let more = (more > 0).then(|| {
            let objects = if more == 1 { "object is" } else { "objects are" };
            notice(
                "",
                format!("{more} more {objects} in several shards of the inputs"),
            )
        });
        let left_out = (self.left_out > 0).then(|| {
            let objects = match self.left_out {
                1 => "object of a shard was",
                _ => "objects of shards were",
            };
            notice(
                "",
                format!(
                    "{} {objects} not compared with those of other shards, as there are more than {MAX_OBJECTS}: whether others have \
                     them, too, is not told",
                    self.left_out
                ),
            )
        });
        one_by_one.chain(more).chain(left_out).collect()
    }
}

/// What becomes of such objects.
const WHAT_COUNTS: &str = "each is scanned, and of those that are sent the last one counts";

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(objects: &ShardObjects) -> Vec<String> {
        let notices = objects.notices("duplicate-object").into_iter();
        notices
            .map(|notice| format!("{}: {}", notice.place, notice.message))
            .collect()
    }

    #[test]
    fn what_several_shards_have_is_told_in_any_order() {
        let shard = |places: &[(u64, &str)]| {
            let mut objects = ShardObjects::default();
            for (identity, place) in places {
                objects.add(*identity, &format!("ConfigMap {identity}"), place);
            }
            objects
        };
        let shards = [
            shard(&[(1, "a:1:1"), (2, "a:2:1")]),
            shard(&[(2, "b:1:1"), (3, "b:2:1")]),
            shard(&[(2, "c:1:1")]),
        ];
        let merged = |order: [usize; 3]| {
            let mut all = ShardObjects::default();
            order.iter().for_each(|index| all.merge(shards[*index].clone()));
            all
        };
        let expected = ["b:1:1", "c:1:1"].map(|place| {
            format!("{place}: ConfigMap 2 is in another shard of the inputs as well, at a:2:1: {WHAT_COUNTS}")
        });
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            assert_eq!(messages(&merged(order)), expected);
        }
    }

    #[test]
    fn more_than_are_compared_are_counted() {
        let mut objects = ShardObjects::default();
        let max = u64::try_from(MAX_OBJECTS).unwrap();
        for identity in 0..max + 2 {
            objects.add(identity, "ConfigMap a", "a:1:1");
        }
        objects.leave_out(3);
        assert_eq!(
            messages(&objects),
            [
                ": 5 objects of shards were not compared with those of other shards, as there are more than 100000: whether others \
                 have them, too, is not told"
            ]
        );
        // What is told one by one is bounded.
        let mut both = objects;
        let mut other = ShardObjects::default();
        (0..150).for_each(|identity| other.add(identity, "ConfigMap a", &format!("b:{identity}:1")));
        both.merge(other);
        let told = messages(&both);
        assert!(told.contains(&": 50 more objects are in several shards of the inputs".to_owned()));
        assert_eq!(told.len(), 100 + 2);
    }
}
