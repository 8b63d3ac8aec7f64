//! Estimates the memory of a review from its text, before it is parsed.
//!
//! The sizes were measured as the maximum growth of the process, for objects that consist of one thing: containers of Pods
//! without members and with all of them, arguments, variables, finalizers, data of ConfigMaps, lists and objects in custom
//! resources, long texts; validated, mutated, and answered with a patch.

use pratique_json::Counts;
use pratique_typed::AddedMembers;
use pratique_types::AdmissionRequest;

use pratique::Release;
use pratique::observer::AdmissionPhases;

/// The memory of an object of a built-in kind besides the parsed value, in bytes: in the form of its kind, as expressions see
/// it, and in the response.
#[derive(Clone, Copy, Debug)]
struct ValueSizes {
    /// For each element or member of the text.
    value: usize,
    /// For each object with members.
    object: usize,
    /// For each member that the form of the kind adds.
    added: usize,
}

const VALIDATED: ValueSizes = ValueSizes {
    value: 48,
    object: 32,
    added: 110,
};
/// Includes the result of a mutation.
const MUTATED: ValueSizes = ValueSizes {
    value: 100,
    object: 360,
    added: 130,
};
/// The number of members that the form adds to an object of unknown kind.
const ADDED: usize = 2;
/// The maximum number of copies of a byte of text: parsed with escapes, in a changed object, in a patch, in base64, in a
/// response.
const TEXT: usize = 6;
/// The minimum memory of an evaluation.
const EVALUATION: usize = 128 << 10;
/// The maximum size of the text of a small request.
const SMALL_TEXT: usize = 64 << 10;
/// The maximum memory of a small request.
const SMALL: usize = 4 << 20;
/// Up to this estimate, an upper bound is reserved without counting exactly.
const UNSEEN: usize = 1 << 20;

/// The counts of values in the text of a review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReviewWeight {
    counts: Counts,
    /// Whether the counts are upper bounds.
    is_bound: bool,
}

impl ReviewWeight {
    /// Of a text. If it is no JSON, it takes less.
    pub(crate) fn new(text: &[u8]) -> Self {
        // An upper bound, which is quick to have: most reviews are small.
        let bound = (text.len() <= UNSEEN / TEXT).then(|| ReviewWeight::bound(text));
        let bound = bound.filter(|bound| bound.presumed(AdmissionPhases::Both) <= UNSEEN);
        bound.unwrap_or_else(|| ReviewWeight {
            counts: Counts::count(text),
            is_bound: false,
        })
    }

    fn bound(text: &[u8]) -> Self {
        ReviewWeight {
            counts: Counts::bound(text),
            is_bound: true,
        }
    }

    /// Of a text, if its review needs little time and memory. The check is fast.
    pub(crate) fn small(text: &[u8]) -> Option<Self> {
        let bound = (text.len() <= SMALL_TEXT).then(|| ReviewWeight::bound(text))?;
        (bound.presumed(AdmissionPhases::Both) <= SMALL).then_some(bound)
    }

    /// Of a text whose weight as a small one is known. That is counted once: it takes a twentieth of a small review.
    pub(crate) fn with_small(text: &[u8], small: Option<Self>) -> Self {
        let is_precise = |bound: &ReviewWeight| bound.presumed(AdmissionPhases::Both) <= UNSEEN;
        small
            .filter(is_precise)
            .unwrap_or_else(|| ReviewWeight::new(text))
    }

    /// The memory for parsing, in bytes.
    pub(crate) fn parsed(self) -> usize {
        self.counts.parsed_bytes()
    }

    /// The memory for parsing, evaluation and the response. `added` is what the form of the kind adds, if it is built in.
    /// Values that expressions create are accounted for separately.
    fn evaluated(self, added: Option<AddedMembers>, phases: AdmissionPhases) -> usize {
        let counts = self.counts;
        let mut bytes = counts.bytes.saturating_mul(TEXT - 1).saturating_add(EVALUATION);
        bytes = bytes.saturating_add(counts.parsed_bytes());
        let sizes = match phases {
            AdmissionPhases::Validating => VALIDATED,
            AdmissionPhases::Mutating | AdmissionPhases::Both => MUTATED,
        };
        let mut add = |count: usize, each: usize| bytes = bytes.saturating_add(count.saturating_mul(each));
        if let Some(added) = added {
            add(counts.values(), sizes.value);
            add(counts.objects.saturating_add(added.objects), sizes.object);
            add(added.members, sizes.added);
        }
        bytes
    }

    /// The approximate maximum memory for any kind of object.
    pub(crate) fn presumed(self, phases: AdmissionPhases) -> usize {
        let empty_objects = self.counts.empty_objects;
        let added = AddedMembers {
            members: empty_objects.saturating_mul(ADDED),
            objects: empty_objects,
        };
        self.evaluated(Some(added), phases)
    }

    /// The memory for evaluating the parsed request.
    pub(crate) fn needed(self, request: &AdmissionRequest<'_>, phases: AdmissionPhases) -> usize {
        if self.is_bound {
            self.presumed(phases)
        } else {
            self.evaluated(added(request), phases)
        }
    }
}

/// The members and objects that the built-in type adds to the objects of a request; `None` if the kind is not built in.
fn added(request: &AdmissionRequest<'_>) -> Option<AddedMembers> {
    // It is an estimate: a field more or less of another release does not count.
    let schema = Release::latest().schema();
    let objects = [&request.object, &request.old_object];
    let objects = objects.into_iter().filter(|object| !object.is_null());
    objects
        .map(|object| AddedMembers::to(schema, &request.kind, object))
        .try_fold(AddedMembers::default(), |sum, added| {
            let added = added?;
            Some(AddedMembers {
                members: sum.members.saturating_add(added.members),
                objects: sum.objects.saturating_add(added.objects),
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Option<AddedMembers> = Some(AddedMembers {
        members: 0,
        objects: 0,
    });

    #[test]
    fn text_is_not_counted_as_values() {
        let list = format!("[{}{{}}]", "{},".repeat(100_000));
        let weight = ReviewWeight::new(list.as_bytes());
        assert!(weight.presumed(AdmissionPhases::Mutating) >= 100_000 * 808);
        assert!(weight.presumed(AdmissionPhases::Validating) >= 100_000 * 357);
        assert!(
            weight.evaluated(None, AdmissionPhases::Both)
                < weight.evaluated(NOTHING, AdmissionPhases::Validating)
        );
        assert!(weight.evaluated(NOTHING, AdmissionPhases::Both) < weight.presumed(AdmissionPhases::Both));
        let text = format!("[\"{}\"]", "{},".repeat(100_000));
        let weight = ReviewWeight::new(text.as_bytes());
        assert!(weight.presumed(AdmissionPhases::Both) <= text.len() * TEXT + 1000 + EVALUATION);
        let is_small = |text: &[u8]| ReviewWeight::small(text).is_some();
        assert!(!is_small(list.as_bytes()) && !is_small(&[b' '; SMALL_TEXT + 1]));
    }

    /// An update of the densest object that can be stored: API servers store objects of built-in kinds as Protobuf, in which
    /// an empty text or object of a list has two bytes, and custom resources as JSON, each up to 1.5 MiB. In a container of
    /// 1 GiB, a request may use 384 MiB.
    #[test]
    fn stored_objects_fit_into_a_gibibyte() {
        let most = crate::limits::Limits::default().request_memory();
        let stored = 3 << 19;
        let check = |element: &str, count: usize, added| {
            let list = vec![element; count].join(",");
            let text = format!(r#"{{"object":[{list}],"oldObject":[{list}]}}"#);
            let needed =
                ReviewWeight::new(text.as_bytes()).evaluated(added, AdmissionPhases::Both) + text.len();
            assert!(needed <= most, "{element}: {needed}");
        };
        // Arguments of containers, and rules of a NetworkPolicy.
        check("\"\"", stored / 2, NOTHING);
        check("{}", stored / 2, NOTHING);
        for element in ["[]", "{}", "1", "[1]", "{\"a\":1}"] {
            check(element, stored / (element.len() + 1), None);
        }
    }
}
