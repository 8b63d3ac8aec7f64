//! Where a member was found before.

use std::sync::atomic::{AtomicU32, Ordering};

use pratique_json as json;

/// The place of a member among those of its object: objects of one kind often have it there again.
///
/// The two places where it was found last are looked at first. They are shared between threads and no more than a
/// hint: what is found there is compared. They are learnt a few times and then kept, lest threads that see different
/// objects wait for each other's memory.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// How often it was learnt, and two places of a byte.
    hint: AtomicU32,
}

const LESSONS: u32 = 100;

impl Place {
    /// The member of a name.
    #[inline]
    pub(super) fn find<'a>(&self, object: &'a json::Object<'a>, name: &str) -> Option<&'a json::Value<'a>> {
        let hint = self.hint.load(Ordering::Relaxed);
        let [first, second, ..] = hint.to_le_bytes();
        object
            .get_at(usize::from(first), name)
            .or_else(|| object.get_at(usize::from(second), name))
            .or_else(|| self.search(object, name, hint))
    }

    fn search<'a>(&self, object: &'a json::Object<'a>, name: &str, hint: u32) -> Option<&'a json::Value<'a>> {
        let (place, value) = object.find(name)?;
        let [last, _, lessons @ ..] = hint.to_le_bytes();
        let lessons = u32::from(u16::from_le_bytes(lessons));
        if let Ok(place) = u8::try_from(place)
            && lessons < LESSONS
        {
            let learnt = (lessons + 1) << 16 | u32::from(last) << 8 | u32::from(place);
            self.hint.store(learnt, Ordering::Relaxed);
        }
        Some(value)
    }
}

/// A copy learns for itself.
impl Clone for Place {
    fn clone(&self) -> Self {
        Place::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_wherever_they_are() {
        let texts = [
            r#"{"a": 1, "b": 2}"#,
            r#"{"b": 3}"#,
            r#"{"a": 4}"#,
            r#"{"": 0, "a": 1, "b": 5}"#,
        ];
        let objects = texts.map(|text| json::parse(text.as_bytes()).unwrap());
        let place = Place::default();
        for _ in 0..LESSONS {
            let found = objects.each_ref().map(|object| {
                let found = place.find(object.as_object().unwrap(), "b");
                found.and_then(json::Value::as_int)
            });
            assert_eq!(found, [Some(2), Some(3), None, Some(5)]);
        }
    }
}
