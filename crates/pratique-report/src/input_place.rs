//! Where inputs are, whichever way their paths are written.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path};

/// The place of an input: `./a`, `a/` and `b/../a` are the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InputPlace(Vec<OsString>);

impl InputPlace {
    /// The place that a path, or the address of a cluster or an object of a store, says. Links are not resolved: reports are
    /// merged on other machines than those on which they were made.
    pub(crate) fn new(input: &str) -> Self {
        let mut parts: Vec<OsString> = Vec::new();
        for component in Path::new(input).components() {
            let ends_with_name = parts.last().is_some_and(|last| last != ".." && last != "/");
            match component {
                Component::CurDir => {}
                Component::ParentDir if ends_with_name => {
                    parts.pop();
                }
                other => parts.push(other.as_os_str().to_owned()),
            }
        }
        InputPlace(parts)
    }

    /// The directories that it is in, and itself.
    fn with_parents(&self) -> impl Iterator<Item = InputPlace> {
        // Only what is below the working directory is in `.`.
        let shortest = usize::from(!self.is_below_working_directory());
        (shortest..=self.0.len()).map(|length| InputPlace(self.0.iter().take(length).cloned().collect()))
    }

    fn is_below_working_directory(&self) -> bool {
        let first = self.0.first();
        first.is_none_or(|first| first != "/" && first != "..")
    }

    fn is_absolute(&self) -> bool {
        self.0.first().is_some_and(|first| first == "/")
    }

    /// What of it may follow a working directory: all ends of an absolute path, and what a relative one names.
    fn tails(&self) -> impl Iterator<Item = InputPlace> {
        let first = self.0.iter().position(|part| part != "/" && part != "..");
        let first = first.unwrap_or(self.0.len());
        let last = if self.is_absolute() {
            self.0.len()
        } else {
            first + 1
        };
        let tail = |start: usize| InputPlace(self.0.iter().skip(start).cloned().collect());
        (first..last).map(tail).filter(|tail| !tail.0.is_empty())
    }
}

/// The places of some inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputPlaces {
    places: BTreeSet<InputPlace>,
    /// The tails of those that are absolute, and of the others.
    absolute_tails: BTreeSet<InputPlace>,
    relative_tails: BTreeSet<InputPlace>,
}

impl InputPlaces {
    /// The places of inputs.
    pub(crate) fn new<'i>(inputs: impl Iterator<Item = &'i String>) -> Self {
        let mut places = InputPlaces::default();
        for place in inputs.map(|input| InputPlace::new(input)) {
            let tails = if place.is_absolute() {
                &mut places.absolute_tails
            } else {
                &mut places.relative_tails
            };
            tails.extend(place.tails());
            places.places.insert(place);
        }
        places
    }

    /// Adds the places of inputs.
    pub(crate) fn extend(&mut self, other: InputPlaces) {
        self.places.extend(other.places);
        self.absolute_tails.extend(other.absolute_tails);
        self.relative_tails.extend(other.relative_tails);
    }

    /// Whether an input is at one of the places, in one, or one is in it; or may be: the working directory of a relative path is not
    /// known, and one that an absolute path has in it may be the same.
    pub(crate) fn overlap(&self, input: &str) -> bool {
        let place = InputPlace::new(input);
        let others = if place.is_absolute() {
            &self.relative_tails
        } else {
            &self.absolute_tails
        };
        let mut tails = place.tails();
        has_overlap(&self.places, &place) || tails.any(|tail| has_overlap(others, &tail))
    }
}

/// Whether a place is among others, in one of them, or one is in it.
fn has_overlap(places: &BTreeSet<InputPlace>, place: &InputPlace) -> bool {
    let has_part = || {
        // Those that begin with a place follow it.
        let mut following = places.range(place..);
        following.next().is_some_and(|next| {
            next.0.starts_with(&place.0)
                && next.is_below_working_directory() == place.is_below_working_directory()
        })
    };
    place.with_parents().any(|parent| places.contains(&parent)) || has_part()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        let overlap = |one: &str, other: &str| InputPlaces::new([one.to_owned()].iter()).overlap(other);
        assert_eq!(overlap(one, other), expected, "{one:?} {other:?}");
        assert_eq!(overlap(other, one), expected, "{other:?} {one:?}");
    }

    #[test]
    fn the_same_place_is_written_in_several_ways() {
        for other in [
            "a", "./a", "a/", ".//a", "b/../a", "a/.", "a/b.yaml", ".", "./a/b/c",
        ] {
            check("a", other, true);
        }
        for other in ["b", "ab", "../a", "/b", "/ab", "b/a", "/"] {
            check("a", other, false);
        }
        check("../a", "./../a", true);
        check("../a", ".", false);
        check("/a/b", "/a//b/", true);
        check("https://one.example:6443", "https://one.example:6443/", true);
        check("https://one.example:6443", "https://two.example:6443", false);
    }

    #[test]
    fn a_relative_path_may_be_an_absolute_one() {
        for other in ["/a/b", "/srv/a/b", "/srv/a/b/c.yaml", "/srv/a", "/srv/a/../a/b"] {
            check("a/b", other, true);
            check("./a/b", other, true);
            check("../a/b", other, true);
        }
        // A working directory may be `/srv/b`, in which `a` has `b`.
        check("a/b", "/srv/b/a", true);
        for other in ["/b", "/a/c", "/srv/ab", "/"] {
            check("a/b", other, false);
        }
    }
}
