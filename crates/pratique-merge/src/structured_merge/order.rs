//! The order of a merged list.

/// An element of a merged list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderStep {
    /// The object's element at this position, which the patch does not have.
    Keep(usize),
    /// The patch's element at this position, merged with the object's where there is one.
    Patch(usize),
}

/// Interleaves the elements of an object's list with those of a patch.
///
/// `counterparts` gives for each element of the object the patch's element with the same identity. The patch's
/// elements keep their order. Between them stand the object's other elements, each before the shared element that
/// it stood before in the object; the shared elements' own places in the object count only where both orders agree.
pub(super) fn interleave(counterparts: &[Option<usize>], patch_length: usize) -> Vec<OrderStep> {
    let shared = shared_from(counterparts, patch_length);
    let mut is_taken = vec![false; patch_length];
    let mut steps = Vec::with_capacity(counterparts.len() + patch_length);
    let mut remaining = counterparts.iter().copied().enumerate().peekable();
    let mut next = 0;
    loop {
        let wanted = shared.get(next).copied().flatten();
        match remaining.peek().copied() {
            // An element that only the object has comes at once.
            Some((at, None)) => {
                steps.push(OrderStep::Keep(at));
                remaining.next();
                continue;
            }
            // A shared element that comes too early waits for its turn in the patch.
            Some((_, counterpart)) if next < patch_length && wanted.is_some() && counterpart != wanted => {
                remaining.next();
                continue;
            }
            // A duplicate, or the element whose turn it is.
            Some((_, Some(position))) if position == next || is_taken.get(position) == Some(&true) => {
                remaining.next();
            }
            Some(_) => {}
            None if next >= patch_length => return steps,
            None => {}
        }
        if let Some(flag) = is_taken.get_mut(next) {
            *flag = true;
            steps.push(OrderStep::Patch(next));
            next += 1;
        }
    }
}

/// For each element of the patch the first one from there on that the object has too.
fn shared_from(counterparts: &[Option<usize>], patch_length: usize) -> Vec<Option<usize>> {
    let mut shared = vec![None; patch_length];
    for position in counterparts.iter().flatten() {
        if let Some(place) = shared.get_mut(*position) {
            *place = Some(*position);
        }
    }
    let mut following = None;
    for place in shared.iter_mut().rev() {
        following = place.or(following);
        *place = following;
    }
    shared
}
