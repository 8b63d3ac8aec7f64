//! The types that the grammar's productions have and ask for.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// A type, or a class of texts such as `~regex`; one capital letter stands for any type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct GrammarType {
    /// The name without what is in parentheses.
    pub(super) name: String,
    /// The types in parentheses.
    pub(super) of: Vec<GrammarType>,
}

/// The bindings of type parameters, which are capital letters.
pub(super) type TypeBindings = BTreeMap<String, GrammarType>;

impl GrammarType {
    /// A type without parameters.
    pub(super) fn named(name: &str) -> Self {
        GrammarType {
            name: name.to_owned(),
            of: Vec::new(),
        }
    }

    /// Reads a type: `map(string, list(A))`. A text that is none is a type of that name.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        let Some((name, rest)) = text.split_once('(') else {
            return GrammarType::named(text);
        };
        let inner = rest.strip_suffix(')').unwrap_or(rest);
        GrammarType {
            name: name.to_owned(),
            of: top_level_parts(inner).map(GrammarType::parse).collect(),
        }
    }

    /// How many names it has in it.
    pub(super) fn size(&self) -> usize {
        1 + self.of.iter().map(GrammarType::size).sum::<usize>()
    }

    /// Whether it stands for any type.
    pub(super) fn is_parameter(&self) -> bool {
        self.of.is_empty() && self.name.len() == 1 && self.name.chars().all(char::is_uppercase)
    }

    /// Whether a value of this type is one of another; notes what letters of this type stand for then.
    pub(super) fn matches(&self, wanted: &GrammarType, bindings: &mut TypeBindings) -> bool {
        if self.is_parameter() {
            return bindings
                .entry(self.name.clone())
                .or_insert_with(|| wanted.clone())
                == wanted;
        }
        self.name == wanted.name
            && self.of.len() == wanted.of.len()
            && self
                .of
                .iter()
                .zip(&wanted.of)
                .all(|(actual, wanted)| actual.matches(wanted, bindings))
    }

    /// This type with its letters replaced; unknown letters get a type from `choose`.
    pub(super) fn resolve(
        &self,
        bindings: &mut TypeBindings,
        choose: &mut impl FnMut() -> GrammarType,
    ) -> GrammarType {
        if self.is_parameter() {
            return bindings.entry(self.name.clone()).or_insert_with(choose).clone();
        }
        GrammarType {
            name: self.name.clone(),
            of: self
                .of
                .iter()
                .map(|parameter| parameter.resolve(bindings, choose))
                .collect(),
        }
    }
}

/// The parts between commas that are in no parentheses.
fn top_level_parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    })
}

impl Display for GrammarType {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        if self.of.is_empty() {
            return Ok(());
        }
        let of: Vec<String> = self.of.iter().map(ToString::to_string).collect();
        write!(formatter, "({})", of.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_types() {
        let check = |actual: &str, wanted: &str, expected: Option<&str>| {
            let mut bindings = TypeBindings::new();
            let matches = GrammarType::parse(actual).matches(&GrammarType::parse(wanted), &mut bindings);
            let bound = matches.then(|| bindings.get("A").map_or(String::new(), ToString::to_string));
            assert_eq!(bound.as_deref(), expected, "{actual} {wanted}");
        };
        check("A", "int", Some("int"));
        check("map(A, list(A))", "map(int, list(int))", Some("int"));
        check("map(A, list(A))", "map(int, list(string))", None);
        check("list(A)", "map(int, int)", None);
        check("int", "int", Some(""));
        assert_eq!(
            GrammarType::parse("map(string, list(dyn))").to_string(),
            "map(string, list(dyn))"
        );
    }
}
