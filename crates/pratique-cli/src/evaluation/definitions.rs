//! Definitions that define nothing: each is told once, with its place, and so that nobody is told to give what is there.

use std::collections::{BTreeMap, BTreeSet};

use pratique_json::Value;
use pratique_request::AssumedResource;
use pratique_types::GroupVersionKind;

use crate::input::FileSelection;
use crate::output::notice::{InputNotice, UNUSABLE_DEFINITION};

/// What follows from a definition that a server refuses.
const DEFINES_NOTHING: &str = "the definition defines nothing";

/// The definitions that define nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnusableDefinitions {
    /// Their names and places, by the group and kind that they would define.
    kinds: BTreeMap<(String, String), String>,
    reported: BTreeSet<String>,
    /// Where they are told.
    files: FileSelection,
}

/// A kind whose resource had to be assumed for an object at a place.
#[derive(Clone, Debug)]
pub(crate) struct AssumedKind {
    pub(crate) resource: AssumedResource,
    pub(crate) place: String,
    /// The definition of the kind, if there is one that cannot be used.
    pub(crate) definition: Option<String>,
}

impl UnusableDefinitions {
    /// None yet; they are told among the warnings about files.
    pub(crate) fn told_to(files: &FileSelection) -> Self {
        UnusableDefinitions {
            files: files.clone(),
            ..UnusableDefinitions::default()
        }
    }

    /// Reports why a definition at a place defines nothing, unless it was reported before; the place may not be known.
    pub(crate) fn report(&mut self, definition: &Value<'_>, place: Option<&str>, error: &str) {
        let text_at = |path: &[&str]| {
            let value = definition.at(path).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let name = text_at(&["metadata", "name"]);
        let named = place.map_or_else(|| name.clone(), |place| format!("{name} ({place})"));
        let defined = (text_at(&["spec", "group"]), text_at(&["spec", "names", "kind"]));
        self.kinds.entry(defined).or_insert(named);
        if !self.reported.insert(error.to_owned()) {
            return;
        }
        let message = format!("{DEFINES_NOTHING}: {error}");
        self.files.tell(InputNotice::new(
            UNUSABLE_DEFINITION,
            place.unwrap_or_default(),
            message,
        ));
    }

    /// The definition of a kind, if there is one that cannot be used.
    pub(crate) fn of_kind(&self, kind: &GroupVersionKind) -> Option<&str> {
        let defined = (kind.group.clone(), kind.kind.clone());
        self.kinds.get(&defined).map(String::as_str)
    }

    /// The kind of an object at a place, whose resource was assumed.
    pub(crate) fn assumed(
        &self,
        resource: AssumedResource,
        kind: &GroupVersionKind,
        place: String,
    ) -> AssumedKind {
        AssumedKind {
            resource,
            place,
            definition: self.of_kind(kind).map(str::to_owned),
        }
    }
}
