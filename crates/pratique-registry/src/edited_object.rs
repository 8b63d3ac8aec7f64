//! An object while it is prepared.

use std::ops::Deref;

use pratique_json::Value;
use pratique_types::ObjectForm;

/// An object that is prepared. It knows which of its parts were edited: the others have the form of their kind still, if the object
/// had it.
// Row `validate-all` of `benches/`: mostly the metadata and the status are edited, and to look at the rest takes a tenth of it.
#[derive(Debug)]
pub(crate) struct EditedObject<'v> {
    object: Value<'v>,
    /// By [`ObjectPart`].
    edited: [bool; PARTS],
}

/// The parts of objects: most strategies edit a few of them.
#[derive(Clone, Copy)]
enum ObjectPart {
    Metadata,
    Spec,
    Status,
    /// All other members.
    Others,
}

const PARTS: usize = 4;

impl From<&str> for ObjectPart {
    fn from(member: &str) -> Self {
        match member {
            "metadata" => ObjectPart::Metadata,
            "spec" => ObjectPart::Spec,
            "status" => ObjectPart::Status,
            _ => ObjectPart::Others,
        }
    }
}

/// What is edited by paths: a value, or an object that knows which of its parts were.
pub(crate) trait EditTarget<'v> {
    /// It as it is.
    fn view(&self) -> &Value<'v>;

    /// The whole of it, of which a member is edited; without a name, anything.
    fn edit(&mut self, member: Option<&str>) -> &mut Value<'v>;
}

impl<'v> EditTarget<'v> for Value<'v> {
    fn view(&self) -> &Value<'v> {
        self
    }

    fn edit(&mut self, _: Option<&str>) -> &mut Value<'v> {
        self
    }
}

impl<'v> EditTarget<'v> for EditedObject<'v> {
    fn view(&self) -> &Value<'v> {
        &self.object
    }

    fn edit(&mut self, member: Option<&str>) -> &mut Value<'v> {
        match member {
            Some(member) => {
                let part = self.edited.get_mut(ObjectPart::from(member) as usize);
                part.into_iter().for_each(|is_edited| *is_edited = true);
            }
            None => self.edited = [true; PARTS],
        }
        &mut self.object
    }
}

impl<'v> EditedObject<'v> {
    /// An object of which nothing was edited yet, if it is known to have its form.
    pub(crate) fn new(object: Value<'v>, form: ObjectForm) -> Self {
        EditedObject {
            object,
            edited: [form != ObjectForm::Settled; PARTS],
        }
    }

    /// A member, to be edited.
    pub(crate) fn get_mut(&mut self, member: &str) -> Option<&mut Value<'v>> {
        self.edit(Some(member)).get_mut(member)
    }

    /// The object, and whether a member of it may have been edited.
    pub(crate) fn into_parts(self) -> (Value<'v>, impl Fn(&str) -> bool) {
        let edited = self.edited;
        let is_edited = move |member: &str| edited.get(ObjectPart::from(member) as usize) != Some(&false);
        (self.object, is_edited)
    }
}

impl<'v> Deref for EditedObject<'v> {
    type Target = Value<'v>;

    fn deref(&self) -> &Value<'v> {
        &self.object
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[track_caller]
    fn check(edit: impl Fn(&mut EditedObject<'_>), expected: &[&str]) {
        let text = br#"{"kind":"A","metadata":{"name":"a"},"spec":{"b":[1]},"status":{}}"#;
        let object = pratique_json::parse(text).unwrap();
        let mut edited = EditedObject::new(object, ObjectForm::Settled);
        edit(&mut edited);
        let (_, is_edited) = edited.into_parts();
        let members = ["kind", "metadata", "spec", "status"];
        let members: Vec<&str> = members.into_iter().filter(|member| is_edited(member)).collect();
        assert_eq!(members, expected);
    }

    #[test]
    fn what_is_edited_is_known() {
        check(|_| {}, &[]);
        check(
            |object| object::set(object, &["metadata", "uid"], "u"),
            &["metadata"],
        );
        check(|object| drop(object::remove(object, &["status"])), &["status"]);
        check(|object| drop(object::remove(object, &["spec", "b"])), &["spec"]);
        check(|object| assert!(object.get_mut("spec").is_some()), &["spec"]);
        check(|object| object::set(object, &["kind"], "B"), &["kind"]);
        check(
            |object| assert!(object.edit(None).get("spec").is_some()),
            &["kind", "metadata", "spec", "status"],
        );
        // Nothing is there to be edited.
        check(|object| drop(object::remove(object, &["spec", "c"])), &[]);
        check(
            |object| assert!(object::list_mut(object, &["spec", "c"]).is_empty()),
            &[],
        );
    }

    #[test]
    fn what_is_not_known_to_have_its_form_is_looked_at() {
        let (_, is_edited) = EditedObject::new(Value::Null, ObjectForm::Written).into_parts();
        assert!(is_edited("spec") && is_edited("kind"));
    }
}
