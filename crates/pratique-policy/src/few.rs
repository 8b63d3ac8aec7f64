//! Lists that mostly have one element.

/// A list whose first element is stored inline.
// Row `match-1` of `benches/`: with one policy, each such list of a request has one element, and takes no memory of its own.
#[derive(Debug)]
pub(crate) struct InlineList<T> {
    first: Option<T>,
    others: Vec<T>,
}

impl<T> Default for InlineList<T> {
    fn default() -> Self {
        InlineList {
            first: None,
            others: Vec::new(),
        }
    }
}

impl<T> InlineList<T> {
    pub(crate) fn push(&mut self, element: T) {
        match &self.first {
            None => self.first = Some(element),
            Some(_) => self.others.push(element),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(1) {
            None => self.first.as_ref(),
            Some(at) => self.others.get(at),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.others)
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T> FromIterator<T> for InlineList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut elements = elements.into_iter();
        InlineList {
            first: elements.next(),
            others: elements.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_in_their_order() {
        let mut few = InlineList::default();
        for count in 0..4 {
            assert_eq!((few.len(), few.is_empty()), (count, count == 0));
            assert!(few.iter().copied().eq(0..count));
            assert!((0..=count).all(|at| few.get(at).copied() == (at < count).then_some(at)));
            few.push(count);
        }
    }
}
