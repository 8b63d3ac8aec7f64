//! Tables of releases: that of the latest is whole, those of the others are changes of their neighbour's.

use std::borrow::Cow;
use std::sync::OnceLock;

use pratique_schema::{Release, apply_changes};

/// The changes of a table in the directories of `data`, by the minor version of the release.
macro_rules! changes_of {
    ($name:literal) => {
        &[
            (
                38,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/1.38/", $name, ".diff")),
            ),
            (
                36,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/1.36/", $name, ".diff")),
            ),
            (
                35,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/1.35/", $name, ".diff")),
            ),
            (
                34,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/1.34/", $name, ".diff")),
            ),
        ]
    };
}
pub(crate) use changes_of;

/// A table that each release has, read when it is asked for.
pub(crate) struct ReleaseTable<T> {
    whole: &'static str,
    changes: &'static [(u32, &'static str)],
    read: fn(&'static str) -> T,
    latest: OnceLock<T>,
    others: OnceLock<Vec<OnceLock<T>>>,
}

impl<T> ReleaseTable<T> {
    /// The text of the latest release's table, the changes that others make of it, and what reads one.
    pub(crate) const fn new(
        whole: &'static str,
        changes: &'static [(u32, &'static str)],
        read: fn(&'static str) -> T,
    ) -> Self {
        ReleaseTable {
            whole,
            changes,
            read,
            latest: OnceLock::new(),
            others: OnceLock::new(),
        }
    }

    /// That of a release.
    pub(crate) fn of_release(&self, release: &Release) -> &T {
        let list = Release::list();
        let others = || list.iter().map(|_| OnceLock::new()).collect();
        let others = self.others.get_or_init(others);
        let mut places = list.iter().zip(others);
        let place = places.find(|(known, _)| **known == release && release != Release::latest());
        let place = place.map_or(&self.latest, |(_, place)| place);
        place.get_or_init(|| (self.read)(self.read_text(release)))
    }

    /// The text of a release's table. There are as many as there are releases, so they live as long as the process.
    fn read_text(&self, release: &Release) -> &'static str {
        let latest = Release::latest().version();
        let wanted = release.version();
        let mut between: Vec<u32> = Release::list()
            .iter()
            .map(|known| known.version())
            .filter(|known| (latest < *known && *known <= wanted) || (wanted <= *known && *known < latest))
            .map(|(_, minor)| minor)
            .collect();
        // From the latest outwards.
        between.sort_unstable_by_key(|minor| minor.abs_diff(latest.1));
        let mut text = Cow::Borrowed(self.whole);
        for minor in between {
            let changes = self.changes.iter().find(|(known, _)| *known == minor);
            text = apply_changes(&text, changes.map_or("", |(_, changes)| changes)).into();
        }
        match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => text.leak(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_release_has_its_changes() {
        let others = || {
            Release::list()
                .iter()
                .filter(|release| **release != Release::latest())
        };
        for (name, changes) in [
            ("declarative", changes_of!("declarative")),
            ("internal", changes_of!("internal")),
        ] {
            for release in others() {
                let (_, minor) = release.version();
                // Without its own, it would silently have those of its neighbour.
                assert!(
                    changes.iter().any(|(known, _)| *known == minor),
                    "{name} {release}"
                );
            }
        }
    }

    #[test]
    fn changes_are_those_of_the_neighbour() {
        let table = ReleaseTable::new(
            "a\n",
            &[(38, "@0 0\n+x\n"), (36, "@0 1\n+b\n"), (35, "@1 0\n+c\n")],
            str::to_owned,
        );
        for (version, expected) in [
            ("1.38", "x\na\n"),
            ("1.37", "a\n"),
            ("1.36", "b\n"),
            ("1.35", "b\nc\n"),
            ("1.34", "b\nc\n"),
        ] {
            assert_eq!(table.of_release(Release::by_version(version).unwrap()), expected);
        }
    }
}
