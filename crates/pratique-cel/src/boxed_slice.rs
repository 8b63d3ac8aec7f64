//! Slices that are kept for long.

/// A boxed slice whose allocation is exactly as large as its items.
///
/// `Vec::into_boxed_slice` shrinks the allocation in place, and allocators leave a block as large as it is while half of
/// it or more is in use.
pub fn into_boxed_exact<T>(items: Vec<T>) -> Box<[T]> {
    if items.len() == items.capacity() {
        return items.into();
    }
    let mut exact = Vec::with_capacity(items.len());
    exact.extend(items);
    exact.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_room_to_spare_moves() {
        let mut roomy = Vec::with_capacity(8);
        roomy.extend([1, 2, 3, 4, 5]);
        let before = roomy.as_ptr();
        let moved = into_boxed_exact(roomy);
        assert_eq!(*moved, [1, 2, 3, 4, 5]);
        assert_ne!(moved.as_ptr(), before);
        let tight = into_boxed_exact(moved.into_vec());
        assert_eq!(*into_boxed_exact(tight.clone().into_vec()), *tight);
        assert!(into_boxed_exact(Vec::<String>::with_capacity(3)).is_empty());
    }
}
