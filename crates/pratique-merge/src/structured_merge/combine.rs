//! Merges values that were validated.

use std::borrow::Cow;

use pratique_json::{Object, Progress, Value};
use pratique_schema::merge::{ListMerging, ListType, MapType, MergeSchema, MergeTypeId};

use super::Patch;
use super::identity::{ElementIdentity, IdentityIndex, identify};
use super::order::{OrderStep, interleave};

/// Merges patches into values. Once `progress` is interrupted, the result is unspecified.
pub(super) struct PatchCombiner<'s> {
    pub(super) schema: &'s MergeSchema,
    pub(super) progress: &'s Progress<'s>,
}

/// Up to this many members are set one by one.
const FEW: usize = 16;

impl PatchCombiner<'_> {
    /// Changes a value by a patch of the same type. Parts that the patch does not name are not looked at.
    pub(super) fn combine<'a>(&self, of: MergeTypeId, value: &mut Value<'a>, patch: Patch<'a>) {
        if !self.progress.nodes(1) {
            return;
        }
        let of = self.schema.get(of);
        match (value, patch, &of.map, &of.list) {
            (Value::Object(object), Patch::Map(members), Some(map), _)
                if !(map.atomic || object.is_empty() && members.is_empty()) =>
            {
                self.combine_maps(map, object, members);
            }
            (Value::Array(elements), Patch::List(patch), _, Some(list))
                if !(list.merging == ListMerging::Atomic || elements.is_empty() && patch.is_empty()) =>
            {
                self.combine_lists(list, elements, patch);
            }
            (Value::Array(elements), Patch::EmptyList | Patch::NilList, _, Some(list))
                if list.merging != ListMerging::Atomic && !elements.is_empty() => {}
            (Value::Object(object), Patch::Null, Some(map), _) if !map.atomic && !object.is_empty() => {}
            (Value::Array(elements), Patch::Null, None, Some(list))
                if list.merging != ListMerging::Atomic && !elements.is_empty() => {}
            (value, patch, ..) => *value = patch.into_value(self.progress),
        }
    }

    fn combine_maps<'a>(&self, of: &MapType, object: &mut Object<'a>, patch: Vec<(Cow<'a, str>, Patch<'a>)>) {
        if patch.len() > FEW {
            return self.combine_many(of, object, patch);
        }
        for (key, member) in patch {
            match object.get_mut(&key) {
                Some(value) => self.combine_members(of, &key, value, member),
                None => drop(object.insert(key, member.into_value(self.progress))),
            }
        }
    }

    /// Merges many members in one pass over both, which are sorted.
    // No row of `benches/` needs it, but whoever writes a patch: to insert each into a sorted list takes the square of their number.
    fn combine_many<'a>(&self, of: &MapType, object: &mut Object<'a>, patch: Vec<(Cow<'a, str>, Patch<'a>)>) {
        let mut merged = Vec::with_capacity(object.len() + patch.len());
        let mut existing = std::mem::take(object).into_iter().peekable();
        for (key, member) in patch {
            while let Some(earlier_member) = existing.next_if(|(name, _)| *name < key) {
                merged.push(earlier_member);
            }
            let value = match existing.next_if(|(name, _)| *name == key) {
                Some((_, mut value)) => {
                    self.combine_members(of, &key, &mut value, member);
                    value
                }
                None => member.into_value(self.progress),
            };
            merged.push((key, value));
        }
        merged.extend(existing);
        *object = merged.into_iter().collect();
    }

    fn combine_members<'a>(&self, of: &MapType, key: &str, value: &mut Value<'a>, patch: Patch<'a>) {
        match of.member(key) {
            Some(id) => self.combine(id, value, patch),
            None => *value = patch.into_value(self.progress),
        }
    }

    fn combine_lists<'a>(&self, of: &ListType, elements: &mut Vec<Value<'a>>, patch: Vec<Patch<'a>>) {
        let counterparts = self.counterparts(&of.merging, elements, &patch);
        // Elements of the object with the same identity are not merged with the patch's element but replaced by it.
        let mut partners = vec![ElementPartner::None; patch.len()];
        for (at, counterpart) in counterparts.iter().enumerate() {
            if let Some(partner) = counterpart.and_then(|position| partners.get_mut(position)) {
                *partner = match partner {
                    ElementPartner::None => ElementPartner::One(at),
                    ElementPartner::One(_) | ElementPartner::Several => ElementPartner::Several,
                };
            }
        }
        let mut old: Vec<Option<Value<'a>>> = std::mem::take(elements).into_iter().map(Some).collect();
        let mut new: Vec<Option<Patch<'a>>> = patch.into_iter().map(Some).collect();
        for step in interleave(&counterparts, new.len()) {
            match step {
                OrderStep::Keep(at) => elements.extend(old.get_mut(at).and_then(Option::take)),
                OrderStep::Patch(at) => {
                    let Some(patch) = new.get_mut(at).and_then(Option::take) else {
                        continue;
                    };
                    let partner = match partners.get(at) {
                        Some(ElementPartner::One(at)) => old.get_mut(*at).and_then(Option::take),
                        _ => None,
                    };
                    elements.push(match partner {
                        Some(mut value) => {
                            self.combine(of.element, &mut value, patch);
                            value
                        }
                        None => patch.into_value(self.progress),
                    });
                }
            }
        }
    }

    /// For each element of the object the patch's element with the same identity.
    fn counterparts(
        &self,
        merging: &ListMerging,
        elements: &[Value<'_>],
        patch: &[Patch<'_>],
    ) -> Vec<Option<usize>> {
        // All elements have an identity: both lists were validated.
        let identities: Vec<ElementIdentity<'_>> = patch
            .iter()
            .take_while(|_| self.progress.nodes(1))
            .filter_map(|element| identify(merging, element).ok().flatten())
            .collect();
        let index = IdentityIndex::new(&identities, self.progress);
        elements
            .iter()
            .take_while(|_| self.progress.nodes(1))
            .map(|element| index.find(&identify(merging, element).ok().flatten()?))
            .collect()
    }
}

#[derive(Clone, Copy)]
enum ElementPartner {
    None,
    One(usize),
    Several,
}
