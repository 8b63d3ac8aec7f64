//! Lists that are kept for long.

/// A list in just the room that it needs. To shrink it in place would not do: allocators leave a block where it is, as
/// large as it is, while half of it or more is in use.
pub fn exact<T>(items: Vec<T>) -> Box<[T]> {
    if items.len() == items.capacity() {
        return items.into();
    }
    let mut own = Vec::with_capacity(items.len());
    own.extend(items);
    own.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_room_to_spare_moves() {
        let mut roomy = Vec::with_capacity(8);
        roomy.extend([1, 2, 3, 4, 5]);
        let before = roomy.as_ptr();
        let own = exact(roomy);
        assert_eq!(*own, [1, 2, 3, 4, 5]);
        assert_ne!(own.as_ptr(), before);
        let tight = exact(own.into_vec());
        assert_eq!(*exact(tight.clone().into_vec()), *tight);
        assert!(exact(Vec::<String>::with_capacity(3)).is_empty());
    }
}
