//! Tolerations by what they may cover: pods may have very many, and comparing each with each takes too long.

use std::collections::{HashMap, HashSet};

use super::toleration::PodToleration;

/// An index of tolerations by which one that covers another is found.
#[derive(Debug, Default)]
pub(super) struct CoverIndex<'t> {
    all: HashSet<PodToleration<'t>>,
    groups: HashMap<TolerationGroup<'t>, LongestTolerations<'t>>,
}

/// The key of tolerations that cover the same, but for their seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TolerationGroup<'t> {
    /// `None` for all keys.
    key: Option<&'t str>,
    /// Empty for all effects.
    effect: &'t str,
    /// `None` for all values.
    value: Option<&'t str>,
}

/// The two different tolerations of a group that tolerate for longest.
#[derive(Debug)]
struct LongestTolerations<'t> {
    first: PodToleration<'t>,
    second: Option<PodToleration<'t>>,
}

impl<'t> CoverIndex<'t> {
    pub(super) fn insert(&mut self, toleration: PodToleration<'t>) {
        if !self.all.insert(toleration) {
            return;
        }
        let value = match toleration.operator {
            "Exists" => None,
            "Equal" | "" => Some(toleration.value),
            // It covers nothing but itself.
            _ => return,
        };
        let is_any = toleration.key.is_empty() && value.is_none();
        let group = TolerationGroup {
            key: Some(toleration.key).filter(|_| !is_any),
            effect: toleration.effect,
            value,
        };
        match self.groups.get_mut(&group) {
            Some(best) => best.insert(toleration),
            None => {
                let best = LongestTolerations {
                    first: toleration,
                    second: None,
                };
                self.groups.insert(group, best);
            }
        }
    }

    /// Whether one of them covers a toleration.
    pub(super) fn covers(&self, toleration: &PodToleration<'_>) -> bool {
        self.all.contains(toleration) || self.covers_another(toleration)
    }

    /// Whether one of them that is not equal covers a toleration.
    pub(super) fn covers_another(&self, toleration: &PodToleration<'_>) -> bool {
        let keys = [Some(toleration.key), None];
        let effects = ["", toleration.effect];
        let values = [None, Some(toleration.value)];
        keys.iter().any(|key| {
            effects.iter().any(|effect| {
                values.iter().any(|value| {
                    let group = TolerationGroup {
                        key: *key,
                        effect,
                        value: *value,
                    };
                    let best = self.groups.get(&group);
                    best.is_some_and(|best| best.cover(toleration))
                })
            })
        })
    }
}

impl<'t> LongestTolerations<'t> {
    fn insert(&mut self, toleration: PodToleration<'t>) {
        let seconds = |toleration: &PodToleration<'_>| toleration.seconds.unwrap_or(i64::MAX);
        if seconds(&toleration) > seconds(&self.first) {
            self.second = Some(std::mem::replace(&mut self.first, toleration));
        } else if self
            .second
            .is_none_or(|second| seconds(&toleration) > seconds(&second))
        {
            self.second = Some(toleration);
        }
    }

    fn cover(&self, toleration: &PodToleration<'_>) -> bool {
        let covers = |best: &PodToleration<'_>| best != toleration && best.covers(toleration);
        covers(&self.first) || self.second.as_ref().is_some_and(covers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All combinations of few keys, operators, values, effects and seconds.
    fn some() -> Vec<PodToleration<'static>> {
        let mut all = Vec::new();
        for key in ["", "a", "b"] {
            for operator in ["", "Equal", "Exists", "Lt"] {
                for value in ["", "v"] {
                    for effect in ["", "NoExecute", "NoSchedule"] {
                        for seconds in [None, Some(1), Some(2), Some(i64::MAX)] {
                            all.push(PodToleration {
                                key,
                                operator,
                                value,
                                effect,
                                seconds,
                            });
                        }
                    }
                }
            }
        }
        all
    }

    #[test]
    fn it_finds_what_comparing_each_finds() {
        let all = some();
        // Each part of the list, in an order that mixes it.
        let mixed: Vec<_> = (0..all.len()).map(|index| all[index * 91 % all.len()]).collect();
        for part in mixed.chunks(7) {
            let mut index = CoverIndex::default();
            part.iter().for_each(|toleration| index.insert(*toleration));
            for toleration in &all {
                let covers = part.iter().any(|other| other.covers(toleration));
                assert_eq!(index.covers(toleration), covers, "{toleration:?} by {part:?}");
                let another = part
                    .iter()
                    .any(|other| other != toleration && other.covers(toleration));
                assert_eq!(
                    index.covers_another(toleration),
                    another,
                    "{toleration:?} by {part:?}"
                );
            }
        }
    }
}
