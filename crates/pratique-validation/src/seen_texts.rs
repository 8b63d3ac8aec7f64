//! Texts that occurred before.

use std::collections::HashSet;

/// How many texts are compared one by one before they are hashed.
const FEW: usize = 16;

/// The texts that occurred before; a few cost no allocation.
#[derive(Debug, Default)]
pub(crate) struct SeenTexts<'a> {
    few: [&'a str; FEW],
    count: usize,
    many: HashSet<&'a str>,
}

impl<'a> SeenTexts<'a> {
    /// Whether a text occurred before.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.few.iter().take(self.count).any(|seen| *seen == text) || self.many.contains(text)
    }

    /// Adds a text; says whether it is new.
    pub(crate) fn insert(&mut self, text: &'a str) -> bool {
        if self.contains(text) {
            return false;
        }
        match self.few.get_mut(self.count) {
            Some(place) => {
                *place = text;
                self.count += 1;
            }
            None => {
                self.many.insert(text);
            }
        }
        true
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.count + self.many.len()
    }

    /// The texts in their order.
    pub(crate) fn sorted(&self) -> Vec<&'a str> {
        let few = self.few.iter().take(self.count).copied();
        let mut all: Vec<&str> = few.chain(self.many.iter().copied()).collect();
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_texts_are_remembered() {
        let texts: Vec<String> = (0..40).map(|number| number.to_string()).collect();
        let mut seen = SeenTexts::default();
        assert!(texts.iter().all(|text| seen.insert(text)));
        assert!(texts.iter().all(|text| !seen.insert(text)));
        assert_eq!((seen.len(), seen.contains("x")), (40, false));
        assert_eq!(seen.sorted().first(), Some(&"0"));
    }
}
