//! What a review takes in memory, by the look of its text.
//!
//! The sizes were measured as the most that the process grew by, for objects that consist of one thing: containers of
//! Pods without members and with all of them, arguments, variables, finalizers, data of ConfigMaps, lists and objects in
//! custom resources, long texts; validated, mutated, and answered with a patch.

use pratique_json::Counts;
use pratique_typed::Added;
use pratique_types::AdmissionRequest;

use crate::handler::Phases;

/// What a built-in kind takes besides what was parsed: in its form, as expressions see it and as it is answered, in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// An element or a member of the text.
    value: usize,
    /// An object that has members.
    object: usize,
    /// A member that the form has and the text does not.
    added: usize,
}

const VALIDATED: Sizes = Sizes {
    value: 48,
    object: 32,
    added: 110,
};
/// With what a mutation leaves.
const MUTATED: Sizes = Sizes {
    value: 100,
    object: 360,
    added: 130,
};
/// How many members the form adds to an object, as long as its kind is not known.
const ADDED: usize = 2;
/// How often a byte of text is there at most: parsed where it has escapes, in a changed object, in a patch, in base64, in
/// an answer.
const TEXT: usize = 6;
/// What an evaluation takes in any case.
const EVALUATION: usize = 128 << 10;
/// Texts above this are large without a look.
const SMALL_TEXT: usize = 64 << 10;
/// What small requests take at most.
const SMALL: usize = 4 << 20;
/// What is not looked at closely: what this is at most is reserved as it is.
const UNSEEN: usize = 1 << 20;

/// What there is in the text of a review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    counts: Counts,
    /// Whether it is small enough for an upper bound.
    is_bound: bool,
}

impl Weight {
    /// Of a text. If it is no JSON, it takes less.
    pub(crate) fn of(text: &[u8]) -> Self {
        // An upper bound, which is quick to have: most reviews are small.
        let bound = (text.len() <= UNSEEN / TEXT).then(|| Weight::bound(text));
        let bound = bound.filter(|bound| bound.presumed(Phases::Both) <= UNSEEN);
        bound.unwrap_or_else(|| Weight {
            counts: Counts::of(text),
            is_bound: false,
        })
    }

    fn bound(text: &[u8]) -> Self {
        Weight {
            counts: Counts::bound(text),
            is_bound: true,
        }
    }

    /// Whether a review with this text is soon evaluated, and takes little for that. This is soon told.
    pub(crate) fn is_small(text: &[u8]) -> bool {
        text.len() <= SMALL_TEXT && Weight::bound(text).presumed(Phases::Both) <= SMALL
    }

    /// What it takes to parse it, in bytes.
    pub(crate) fn parsed(self) -> usize {
        self.counts.parsed_bytes()
    }

    /// What it takes to evaluate it as well, and to answer; `added` is what the form of its kind has besides, if it has one.
    /// Expressions account for what they make themselves.
    fn evaluated(self, added: Option<Added>, phases: Phases) -> usize {
        let counts = self.counts;
        let mut bytes = counts.bytes.saturating_mul(TEXT - 1).saturating_add(EVALUATION);
        bytes = bytes.saturating_add(counts.parsed_bytes());
        let sizes = match phases {
            Phases::Validating => VALIDATED,
            Phases::Mutating | Phases::Both => MUTATED,
        };
        let mut add = |count: usize, each: usize| bytes = bytes.saturating_add(count.saturating_mul(each));
        if let Some(added) = added {
            add(counts.values(), sizes.value);
            add(counts.objects.saturating_add(added.objects), sizes.object);
            add(added.members, sizes.added);
        }
        bytes
    }

    /// About the most that it takes to evaluate, whatever it is.
    pub(crate) fn presumed(self, phases: Phases) -> usize {
        let empty_objects = self.counts.empty_objects;
        let added = Added {
            members: empty_objects.saturating_mul(ADDED),
            objects: empty_objects,
        };
        self.evaluated(Some(added), phases)
    }

    /// What it takes to evaluate the request, which was parsed.
    pub(crate) fn needed(self, request: &AdmissionRequest<'_>, phases: Phases) -> usize {
        match self.is_bound {
            true => self.presumed(phases),
            false => self.evaluated(added(request), phases),
        }
    }
}

/// What the form of its kind adds to the objects of a request, if it has one.
fn added(request: &AdmissionRequest<'_>) -> Option<Added> {
    let objects = [&request.object, &request.old_object];
    let objects = objects.into_iter().filter(|object| !object.is_null());
    objects
        .map(|object| Added::to(&request.kind, object))
        .try_fold(Added::default(), |sum, added| {
            let added = added?;
            Some(Added {
                members: sum.members.saturating_add(added.members),
                objects: sum.objects.saturating_add(added.objects),
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Option<Added> = Some(Added {
        members: 0,
        objects: 0,
    });

    #[test]
    fn long_texts_are_not_taken_for_values() {
        let list = format!("[{}{{}}]", "{},".repeat(100_000));
        let weight = Weight::of(list.as_bytes());
        assert!(weight.presumed(Phases::Mutating) >= 100_000 * 808);
        assert!(weight.presumed(Phases::Validating) >= 100_000 * 357);
        assert!(weight.evaluated(None, Phases::Both) < weight.evaluated(NOTHING, Phases::Validating));
        assert!(weight.evaluated(NOTHING, Phases::Both) < weight.presumed(Phases::Both));
        let text = format!("[\"{}\"]", "{},".repeat(100_000));
        let weight = Weight::of(text.as_bytes());
        assert!(weight.presumed(Phases::Both) <= text.len() * TEXT + 1000 + EVALUATION);
        assert!(!Weight::is_small(list.as_bytes()) && !Weight::is_small(&[b' '; SMALL_TEXT + 1]));
    }

    /// An update of what is as dense as can be stored: API servers store objects of built-in kinds as Protobuf, in which an
    /// empty text or object of a list has two bytes, and custom resources as JSON, each up to 1.5 MiB. A container of 1 GiB
    /// lets a request have 384 MiB.
    #[test]
    fn what_can_be_stored_is_let_through_in_a_gibibyte() {
        let most = crate::limits::Limits::default().request_memory();
        let stored = 3 << 19;
        let check = |element: &str, count: usize, added| {
            let list = vec![element; count].join(",");
            let text = format!(r#"{{"object":[{list}],"oldObject":[{list}]}}"#);
            let needed = Weight::of(text.as_bytes()).evaluated(added, Phases::Both) + text.len();
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
