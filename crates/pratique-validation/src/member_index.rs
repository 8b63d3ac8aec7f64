//! Where the members of an object are, for rules that ask for many of them.

use std::num::NonZeroU8;

use pratique_json::{Object, Value, same};

/// How many places there are. A power of two, of about three times the members of the largest objects.
const PLACES: usize = 64;

/// Where the members of an object are.
///
/// Rules ask for all fields of a type, and most are absent: without an index, each is compared with every member. It is made in one
/// walk, on the stack, and pays from the third question on.
// Rows `validate-*` of `benches/`: half of the instructions of a Pod's rules were searches for members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberIndex {
    /// By the places of names.
    positions: [Option<MemberPosition>; PLACES],
}

/// The position of a member, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberPosition(NonZeroU8);

/// Several members have the place, or it is one of the last of many: it is searched for.
const SOMEWHERE: MemberPosition = MemberPosition(NonZeroU8::MAX);

/// The place of a name. That of a literal is known to the compiler.
#[derive(Clone, Copy)]
pub(crate) struct NamePlace(u8);

impl NamePlace {
    /// What few names of a type share: the factors are those by which the fewest fields of Pods do.
    #[inline]
    pub(crate) fn new(name: &str) -> Self {
        let bytes = name.as_bytes();
        let length = u8::try_from(bytes.len() % PLACES).unwrap_or_default();
        let (first, last) = match (bytes.first(), bytes.last()) {
            (Some(first), Some(last)) => (*first, *last),
            _ => (0, 0),
        };
        let mixed = length
            .wrapping_mul(43)
            .wrapping_add(first)
            .wrapping_add(last.wrapping_mul(24));
        NamePlace(mixed)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0) % PLACES
    }
}

impl MemberIndex {
    /// The index of a value's members; one that is no object has none.
    pub(crate) fn new(value: &Value<'_>) -> Self {
        let mut positions = [None; PLACES];
        let members = value.as_object().map_or(&[] as &[_], Object::members);
        let mut position = NonZeroU8::MIN;
        for (name, _) in members {
            if let Some(place) = positions.get_mut(NamePlace::new(name).index()) {
                *place = Some(if place.is_none() {
                    MemberPosition(position)
                } else {
                    SOMEWHERE
                });
            }
            position = position.saturating_add(1);
        }
        MemberIndex { positions }
    }

    /// Where a member of that name may be; `None` where there is none.
    #[inline]
    pub(crate) fn position(&self, place: NamePlace) -> Option<MemberPosition> {
        self.positions
            .get(place.index())
            .copied()
            .unwrap_or(Some(SOMEWHERE))
    }
}

impl MemberPosition {
    /// The member of that name at this position of an object.
    #[inline]
    pub(crate) fn find<'v>(self, object: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
        let object = object.as_object()?;
        if self == SOMEWHERE {
            return object.get(name);
        }
        let (key, value) = object.members().get(usize::from(self.0.get()) - 1)?;
        same(key, name).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_object(names: &[String]) {
        let members: Vec<String> = names
            .iter()
            .map(|name| format!("\"{name}\": \"{name}\""))
            .collect();
        let text = format!("{{{}}}", members.join(","));
        let value = pratique_json::parse(text.as_bytes()).unwrap();
        let index = MemberIndex::new(&value);
        let member = |name: &str| index.position(NamePlace::new(name))?.find(&value, name);
        for name in names {
            assert_eq!(member(name).and_then(Value::as_str), Some(name.as_str()));
            assert_eq!(member(&format!("{name}.")), None, "{name}");
        }
        // One of the same place as another.
        assert_eq!(member("absent"), None);
        assert_eq!(member(""), None);
    }

    #[test]
    fn members_are_found_whether_they_are_few_or_many() {
        check_object(&[]);
        let named = ["name", "mane", "spec", "containers", "é"];
        check_object(&named.map(str::to_owned));
        for count in [3, 64, 254, 255, 256, 600] {
            let numbered: Vec<String> = (0..count).map(|number| format!("{number:03}")).collect();
            check_object(&numbered);
        }
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        assert_eq!(MemberIndex::new(&Value::Null).position(NamePlace::new("a")), None);
    }
}
