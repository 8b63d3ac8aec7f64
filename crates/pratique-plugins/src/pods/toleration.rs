//! Tolerations, and which of them tolerate more than others.

use pratique_json::{Object, Value};

use super::cover_index::CoverIndex;
use crate::object::text;

/// A toleration. Of an empty text none is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PodToleration<'v> {
    pub(crate) key: &'v str,
    pub(crate) operator: &'v str,
    pub(crate) value: &'v str,
    pub(crate) effect: &'v str,
    pub(crate) seconds: Option<i64>,
}

impl<'v> PodToleration<'v> {
    /// The toleration that a decoded value is.
    pub(crate) fn new(value: &'v Value<'_>) -> Self {
        PodToleration {
            key: text(value, &["key"]),
            operator: text(value, &["operator"]),
            value: text(value, &["value"]),
            effect: text(value, &["effect"]),
            seconds: value.get("tolerationSeconds").and_then(Value::as_int),
        }
    }

    /// The decoded form.
    pub(crate) fn to_value(self) -> Value<'static> {
        let mut members = Object::new();
        let texts = [
            ("effect", self.effect),
            ("key", self.key),
            ("operator", self.operator),
            ("value", self.value),
        ];
        for (name, text) in texts {
            if !text.is_empty() {
                members.insert(name, text.to_owned());
            }
        }
        if let Some(seconds) = self.seconds {
            members.insert("tolerationSeconds", seconds);
        }
        Value::Object(members)
    }

    /// Whether it tolerates all that another one does.
    // Upstream: pkg/util/tolerations/tolerations.go, isSuperset
    pub(crate) fn covers(&self, other: &PodToleration<'_>) -> bool {
        if self == other {
            return true;
        }
        let any_key = self.key.is_empty() && self.operator == "Exists";
        if self.key != other.key && !any_key {
            return false;
        }
        if !self.effect.is_empty() && self.effect != other.effect {
            return false;
        }
        if self.effect == "NoExecute"
            && let Some(seconds) = self.seconds
            && other.seconds.is_none_or(|other| other > seconds)
        {
            return false;
        }
        match self.operator {
            "Equal" | "" => other.operator == "Equal" && other.value == self.value,
            "Exists" => true,
            _ => false,
        }
    }
}

/// Which of these tolerations stay, so that none is covered by another; of equal ones the first. In increasing order.
// Upstream: pkg/util/tolerations/tolerations.go, MergeTolerations
fn merged(all: &[PodToleration<'_>]) -> Vec<usize> {
    let mut later = CoverIndex::default();
    let mut covered_later: Vec<bool> = Vec::with_capacity(all.len());
    for toleration in all.iter().rev() {
        covered_later.push(later.covers_another(toleration));
        later.insert(*toleration);
    }
    let mut kept = CoverIndex::default();
    let mut merged = Vec::new();
    for ((index, toleration), covered) in all.iter().enumerate().zip(covered_later.iter().rev()) {
        if !covered && !kept.covers(toleration) {
            kept.insert(*toleration);
            merged.push(index);
        }
    }
    merged
}

/// Adds tolerations to those of a pod, without those that others cover.
pub(crate) fn merge_into(tolerations: &mut Vec<Value<'_>>, added: &[PodToleration<'_>]) {
    let all: Vec<PodToleration<'_>> = tolerations
        .iter()
        .map(PodToleration::new)
        .chain(added.iter().copied())
        .collect();
    let kept = merged(&all);
    let present = all.len() - added.len();
    let new: Vec<Value<'static>> = kept
        .iter()
        .filter_map(|index| added.get(index.checked_sub(present)?))
        .map(|toleration| toleration.to_value())
        .collect();
    let mut index = 0;
    tolerations.retain(|_| {
        index += 1;
        kept.binary_search(&(index - 1)).is_ok()
    });
    tolerations.extend(new);
}

/// Whether each toleration is covered by one of a whitelist; all are by an empty one.
// Upstream: pkg/util/tolerations/tolerations.go, VerifyAgainstWhitelist
pub(crate) fn is_whitelisted(tolerations: &[Value<'_>], whitelist: &[PodToleration<'_>]) -> bool {
    if whitelist.is_empty() {
        return true;
    }
    let mut permitted = CoverIndex::default();
    whitelist
        .iter()
        .for_each(|toleration| permitted.insert(*toleration));
    tolerations
        .iter()
        .all(|toleration| permitted.covers(&PodToleration::new(toleration)))
}
