//! A value with its path, so that errors can name it.

use serde_json::Value as Json;

use crate::tree::Step;

/// A value of an object, or the absence of one, and its path.
pub(super) struct View<'a> {
    value: Option<&'a Json>,
    step: Option<ViewStep>,
    parent: Option<&'a View<'a>>,
}

#[derive(Clone, Copy)]
enum ViewStep {
    Field(&'static str),
    Index(usize),
}

impl<'a> View<'a> {
    pub(super) fn root(value: &'a Json) -> Self {
        Self {
            value: Some(value),
            step: None,
            parent: None,
        }
    }

    pub(super) fn field<'b>(&'b self, name: &'static str) -> View<'b> {
        let value = self.value.and_then(|value| value.get(name));
        View {
            value,
            step: Some(ViewStep::Field(name)),
            parent: Some(self),
        }
    }

    pub(super) fn index(&self, index: usize) -> View<'_> {
        let value = self.value.and_then(|value| value.get(index));
        View {
            value,
            step: Some(ViewStep::Index(index)),
            parent: Some(self),
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> impl Iterator<Item = View<'_>> {
        (0..self.len()).map(|index| self.index(index))
    }

    pub(super) fn len(&self) -> usize {
        self.value.and_then(Json::as_array).map_or(0, Vec::len)
    }

    pub(super) fn is_absent(&self) -> bool {
        self.value.is_none_or(Json::is_null)
    }

    pub(super) fn json(&self) -> Json {
        self.value.cloned().unwrap_or_default()
    }

    /// A string; empty if it is absent.
    pub(super) fn text(&self) -> &'a str {
        self.value.and_then(Json::as_str).unwrap_or_default()
    }

    pub(super) fn integer(&self) -> Option<i64> {
        self.value.and_then(Json::as_i64)
    }

    pub(super) fn is_true(&self) -> bool {
        self.value.and_then(Json::as_bool).unwrap_or_default()
    }

    /// The strings of a list.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.value
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .map(|item| item.as_str().unwrap_or_default())
    }

    /// The entries of a map of strings, by key.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let entries = self.value.and_then(Json::as_object).into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
    }

    /// The path of the value.
    pub(super) fn path(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(view) = at {
            steps.extend(view.step.map(|step| match step {
                ViewStep::Field(name) => Step::Field(name.to_owned()),
                ViewStep::Index(index) => Step::Index(index),
            }));
            at = view.parent;
        }
        steps.reverse();
        steps
    }
}
