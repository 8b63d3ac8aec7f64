//! Which elements of lists are the same ones: by their value, or by the members that are their key.

use std::collections::{HashMap, HashSet};

use pratique_json::Value;

use crate::node::is_same;

/// How many elements are compared one by one before their keys are hashed.
const FEW: usize = 32;

/// How two elements of a list are found to be the same.
pub(super) enum ElementMatch {
    Never,
    Value,
    Members(Vec<&'static str>),
}

impl ElementMatch {
    /// `-`, `=` or `NAME+NAME`.
    pub(super) fn parse(text: &'static str) -> Self {
        match text {
            "-" => ElementMatch::Never,
            "=" => ElementMatch::Value,
            names => ElementMatch::Members(names.split('+').collect()),
        }
    }

    pub(super) fn matches(&self, one: &Value<'_>, other: &Value<'_>) -> bool {
        let member = |of: &Value<'_>, name| is_same(of, other.get(name).unwrap_or(&Value::Null));
        match self {
            ElementMatch::Never => false,
            ElementMatch::Value => is_same(one, other),
            ElementMatch::Members(names) => names
                .iter()
                .all(|name| member(one.get(name).unwrap_or(&Value::Null), name)),
        }
    }

    /// The text of what [`ElementMatch::matches`] compares.
    fn key(&self, element: &Value<'_>) -> String {
        match self {
            ElementMatch::Never => String::new(),
            ElementMatch::Value => element.to_string(),
            ElementMatch::Members(names) => names
                .iter()
                .map(|name| format!("{:?}\n", element.get(name)))
                .collect(),
        }
    }

    /// The indexes of elements that are the same as one before.
    pub(super) fn repeated(&self, elements: &[Value<'_>]) -> Vec<usize> {
        if elements.len() > FEW {
            let mut seen = HashSet::new();
            let keys = elements.iter().enumerate();
            return keys
                .filter_map(|(index, element)| (!seen.insert(self.key(element))).then_some(index))
                .collect();
        }
        let mut repeated = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            if elements
                .iter()
                .take(index)
                .any(|earlier| self.matches(earlier, element))
            {
                repeated.push(index);
            }
        }
        repeated
    }
}

/// The elements of an old list.
pub(super) struct OldElements<'m, 'v, 'd> {
    by: &'m ElementMatch,
    elements: &'v [Value<'d>],
    by_key: HashMap<String, &'v Value<'d>>,
}

impl<'m, 'v, 'd> OldElements<'m, 'v, 'd> {
    pub(super) fn new(by: &'m ElementMatch, list: Option<&'v Value<'d>>) -> Self {
        let elements = match by {
            ElementMatch::Never => None,
            _ => list.and_then(Value::as_array),
        };
        let elements = elements.unwrap_or_default();
        let mut by_key = HashMap::new();
        if elements.len() > FEW {
            for element in elements {
                by_key.entry(by.key(element)).or_insert(element);
            }
        }
        OldElements { by, elements, by_key }
    }

    /// The first element that is the same as another.
    pub(super) fn find(&self, element: &Value<'_>) -> Option<&'v Value<'d>> {
        if self.by_key.is_empty() {
            return self.elements.iter().find(|old| self.by.matches(old, element));
        }
        self.by_key.get(&self.by.key(element)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(count: usize) -> Value<'static> {
        let text: Vec<String> = (0..count)
            .map(|number| format!(r#"{{"a": {}, "b": "x"}}"#, number % 40))
            .collect();
        pratique_json::parse(format!("[{}]", text.join(",")).as_bytes())
            .unwrap()
            .into_owned()
    }

    #[test]
    fn elements_are_found_whether_they_are_few_or_many() {
        for count in [3, 39] {
            let (by, list) = (ElementMatch::parse("a+b"), list(count));
            let old = OldElements::new(&by, Some(&list));
            let element = pratique_json::parse(br#"{"a": 2, "b": "x", "c": 1}"#).unwrap();
            assert_eq!(old.find(&element), list.as_array().unwrap().get(2));
            let other = pratique_json::parse(br#"{"a": 2, "b": "y"}"#).unwrap();
            assert_eq!(old.find(&other), None);
        }
    }

    #[test]
    fn repeated_elements_are_told_once() {
        assert_eq!(
            ElementMatch::parse("a").repeated(list(42).as_array().unwrap()),
            [40, 41]
        );
        let few = pratique_json::parse(br#"["a", "b", "a", "a"]"#).unwrap();
        assert_eq!(ElementMatch::parse("=").repeated(few.as_array().unwrap()), [2, 3]);
    }
}
