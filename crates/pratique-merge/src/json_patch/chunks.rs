//! A sequence that inserts and removes elements anywhere at a cost that hardly depends on its length.
//!
//! A patch may insert hundreds of thousands of elements at the front of an array. A vector moves all that follow each
//! time; here the elements lie in chunks, and only those of one chunk move. Most sequences are one chunk: a vector.

use std::mem::size_of;

/// How many bytes the elements of a chunk take at most: so many are moved in well under a microsecond.
const CHUNK_BYTES: usize = 16 * 1024;

/// A sequence in chunks, none of which is empty but the first one.
#[derive(Clone, Debug)]
pub(super) struct ChunkedSequence<T> {
    first: Vec<T>,
    more: Vec<Vec<T>>,
    len: usize,
}

/// Where an element is: its chunk, and its place in that.
type ElementPlace = (usize, usize);

impl<T> ChunkedSequence<T> {
    const MAX: usize = CHUNK_BYTES / size_of::<T>();

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        let (chunk, at) = self.place(index)?;
        self.chunk(chunk)?.get(at)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let (chunk, at) = self.place(index)?;
        self.chunk_mut(chunk)?.get_mut(at)
    }

    /// Puts an element before the one at an index, or at the end.
    pub(super) fn insert(&mut self, index: usize, element: T) {
        // An insertion between two chunks goes to the end of the former.
        let (chunk, at) = match index.checked_sub(1) {
            None => (0, 0),
            Some(_) if index >= self.len => self.end(),
            Some(previous_index) => self
                .place(previous_index)
                .map_or((0, 0), |(chunk, at)| (chunk, at + 1)),
        };
        let Some(elements) = self.chunk_mut(chunk) else {
            return;
        };
        elements.insert(at.min(elements.len()), element);
        let split = (elements.len() > Self::MAX).then(|| elements.split_off(Self::MAX / 2));
        self.len += 1;
        if let Some(rest) = split {
            self.more.insert(chunk, rest);
        }
    }

    /// Takes an element out.
    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        let (chunk, at) = self.place(index)?;
        let elements = self.chunk_mut(chunk).filter(|elements| at < elements.len())?;
        let removed = elements.remove(at);
        let is_empty = elements.is_empty();
        self.len -= 1;
        if is_empty && chunk > 0 {
            self.more.remove(chunk - 1);
        }
        Some(removed)
    }

    /// In sorted elements: the index of the one that compares equal, or the one to insert it at.
    pub(super) fn search(&self, compare: impl Fn(&T) -> std::cmp::Ordering) -> Result<usize, usize> {
        let starts_before = |chunk: &Vec<T>| chunk.first().is_some_and(|first| compare(first).is_le());
        let chunk = self.more.partition_point(starts_before);
        let skipped: usize = self.lengths().take(chunk).sum();
        let position = self
            .chunk(chunk)
            .map(|elements| elements.binary_search_by(&compare));
        match position.unwrap_or(Err(0)) {
            Ok(at) => Ok(skipped + at),
            Err(at) => Err(skipped + at),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(self.more.iter().flatten())
    }

    /// The elements as one vector.
    pub(super) fn into_vec(self) -> Vec<T> {
        let mut elements = self.first;
        if !self.more.is_empty() {
            elements.reserve(self.len.saturating_sub(elements.len()));
            elements.extend(self.more.into_iter().flatten());
        }
        elements
    }

    fn lengths(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first.len()).chain(self.more.iter().map(Vec::len))
    }

    fn place(&self, index: usize) -> Option<ElementPlace> {
        let mut at = index;
        for (chunk, length) in self.lengths().enumerate() {
            match at.checked_sub(length) {
                Some(rest) => at = rest,
                None => return Some((chunk, at)),
            }
        }
        None
    }

    fn end(&self) -> ElementPlace {
        let last = self.more.last().unwrap_or(&self.first);
        (self.more.len(), last.len())
    }

    fn chunk(&self, chunk: usize) -> Option<&Vec<T>> {
        match chunk.checked_sub(1) {
            None => Some(&self.first),
            Some(at) => self.more.get(at),
        }
    }

    fn chunk_mut(&mut self, chunk: usize) -> Option<&mut Vec<T>> {
        match chunk.checked_sub(1) {
            None => Some(&mut self.first),
            Some(at) => self.more.get_mut(at),
        }
    }
}

impl<T> From<Vec<T>> for ChunkedSequence<T> {
    fn from(elements: Vec<T>) -> Self {
        let len = elements.len();
        if len <= Self::MAX {
            return ChunkedSequence {
                first: elements,
                more: Vec::new(),
                len,
            };
        }
        let mut elements = elements.into_iter();
        let mut chunk = || elements.by_ref().take(Self::MAX / 2).collect::<Vec<T>>();
        ChunkedSequence {
            first: chunk(),
            more: std::iter::from_fn(|| Some(chunk()).filter(|chunk| !chunk.is_empty())).collect(),
            len,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the same changes to chunks and to a vector.
    fn check(mut vector: Vec<u64>, changes: impl Iterator<Item = (bool, usize)>) {
        let mut chunks = ChunkedSequence::from(vector.clone());
        for (number, (inserts, at)) in changes.enumerate() {
            if inserts || vector.is_empty() {
                let at = at % (vector.len() + 1);
                vector.insert(at, number as u64);
                chunks.insert(at, number as u64);
            } else {
                let at = at % vector.len();
                assert_eq!(chunks.remove(at), Some(vector.remove(at)));
            }
            assert_eq!(chunks.len(), vector.len());
            assert_eq!(chunks.get(at), vector.get(at));
        }
        assert!(chunks.iter().eq(&vector));
        assert!(chunks.more.iter().all(|chunk| !chunk.is_empty()));
        assert_eq!(chunks.remove(vector.len()), None);
        assert_eq!(chunks.into_vec(), vector);
    }

    #[test]
    fn chunks_are_as_a_vector() {
        let many = 3 * ChunkedSequence::<u64>::MAX;
        check(Vec::new(), (0..many).map(|_| (true, 0)));
        check(Vec::new(), (0..many).map(|at| (true, at)));
        let scattered = |at: usize| at.wrapping_mul(0x9e37_79b9) >> 3;
        check(
            (0..many as u64).collect(),
            (0..many).map(|at| (at % 3 == 0, scattered(at))),
        );
        check((0..many as u64).collect(), (0..many).map(|_| (false, 0)));
        check(
            (0..many as u64).collect(),
            (0..many).map(|at| (false, usize::MAX - at)),
        );
    }

    #[test]
    fn sorted_elements_are_found() {
        let many = 5 * ChunkedSequence::<u64>::MAX as u64;
        let mut chunks = ChunkedSequence::from(Vec::new());
        for number in (0..many).rev() {
            let at = chunks
                .search(|element: &u64| element.cmp(&(2 * number)))
                .unwrap_err();
            chunks.insert(at, 2 * number);
        }
        assert!(chunks.iter().copied().eq((0..many).map(|number| 2 * number)));
        for number in 0..2 * many {
            let found = chunks.search(|element| element.cmp(&number));
            let at = number as usize;
            assert_eq!(
                found,
                if at.is_multiple_of(2) {
                    Ok(at / 2)
                } else {
                    Err(at / 2 + 1)
                }
            );
        }
    }
}
