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
    pub(crate) fn of(input: &str) -> Self {
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
}

/// The places of some inputs.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputPlaces(BTreeSet<InputPlace>);

impl InputPlaces {
    /// The places of inputs.
    pub(crate) fn of<'i>(inputs: impl Iterator<Item = &'i String>) -> Self {
        InputPlaces(inputs.map(|input| InputPlace::of(input)).collect())
    }

    /// Adds the places of inputs.
    pub(crate) fn extend(&mut self, other: InputPlaces) {
        self.0.extend(other.0);
    }

    /// Whether an input is at one of the places, in one, or one is in it.
    pub(crate) fn overlap(&self, input: &str) -> bool {
        let place = InputPlace::of(input);
        let has_part = || {
            // Those that begin with a place follow it.
            let mut following = self.0.range(&place..);
            following.next().is_some_and(|next| {
                next.0.starts_with(&place.0)
                    && next.is_below_working_directory() == place.is_below_working_directory()
            })
        };
        place.with_parents().any(|parent| self.0.contains(&parent)) || has_part()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        let overlap = |one: &str, other: &str| InputPlaces::of([one.to_owned()].iter()).overlap(other);
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
        for other in ["b", "ab", "../a", "/a", "b/a", "/"] {
            check("a", other, false);
        }
        check("../a", "./../a", true);
        check("../a", ".", false);
        check("/a/b", "/a//b/", true);
        check("https://one.example:6443", "https://one.example:6443/", true);
        check("https://one.example:6443", "https://two.example:6443", false);
    }
}
