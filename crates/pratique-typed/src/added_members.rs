//! How much larger the form of its kind is than an object that leaves out much.

use pratique_json::{Object, Value};
use pratique_schema::{Schema, Shape, TypeId};
use pratique_types::GroupVersionKind;

/// The members that the form of its kind adds to an object: fields that are always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddedMembers {
    /// Members, those of added objects included.
    pub members: usize,
    /// Objects that have members in it, where the object has none: `{}`, null or nothing.
    pub objects: usize,
}

impl AddedMembers {
    /// The members that are added to an object; `None` where the kind is not built in. This takes no memory.
    pub fn to(schema: &Schema, kind: &GroupVersionKind, object: &Value<'_>) -> Option<Self> {
        let mut added = AddedMembers::default();
        added.structure(schema, schema.kind(kind)?, object);
        Some(added)
    }

    fn value(&mut self, schema: &Schema, shape: &Shape, value: &Value<'_>) {
        match (shape, value) {
            (Shape::Struct(id), value) => self.structure(schema, *id, value),
            (Shape::List(inner), Value::Array(elements)) => {
                elements
                    .iter()
                    .for_each(|element| self.value(schema, inner, element));
            }
            (Shape::Map(inner), Value::Object(object)) => {
                object
                    .iter()
                    .for_each(|(_, value)| self.value(schema, inner, value));
            }
            _ => {}
        }
    }

    fn structure(&mut self, schema: &Schema, id: TypeId, value: &Value<'_>) {
        static NONE: Object<'static> = Object::new();
        let object = match value {
            Value::Object(object) => object,
            Value::Null => &NONE,
            // Nothing that its kind can have.
            _ => return,
        };
        let fields = &schema.get(id).fields;
        for (name, value) in object.iter() {
            if let Some(field) = fields.get(name) {
                self.value(schema, &field.shape, value);
            }
        }
        let missing = fields.always().filter(|field| !object.contains_key(field.name));
        let previous_members = self.members;
        for field in missing {
            self.members += 1;
            if let Shape::Struct(id) = field.shape {
                self.structure(schema, id, &Value::Null);
            }
        }
        if object.is_empty() && self.members > previous_members {
            self.objects += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::{Progress, parse};
    use pratique_schema::Release;

    use super::*;
    use crate::typed;

    /// Members and objects with members.
    fn count(value: &Value<'_>) -> [usize; 2] {
        let sum = |one: [usize; 2], other: [usize; 2]| [one[0] + other[0], one[1] + other[1]];
        match value {
            Value::Object(object) => {
                let counts = [object.len(), usize::from(!object.is_empty())];
                object.iter().map(|(_, value)| count(value)).fold(counts, sum)
            }
            Value::Array(elements) => elements.iter().map(count).fold([0; 2], sum),
            _ => [0; 2],
        }
    }

    #[track_caller]
    fn check(kind: &GroupVersionKind, text: &str, expected: [usize; 2]) {
        let object = parse(text.as_bytes()).unwrap();
        let AddedMembers { members, objects } =
            AddedMembers::to(Release::latest().schema(), kind, &object).unwrap();
        assert_eq!([members, objects], expected, "{text}");
        let formed = typed(Release::latest(), kind, &object, &Progress::unwatched()).unwrap();
        let [had_members, had_objects] = count(&object);
        let formed = formed.as_ref().map_or([had_members, had_objects], count);
        assert_eq!(formed, [had_members + members, had_objects + objects], "{text}");
    }

    #[test]
    fn what_is_added_is_what_the_form_has_besides() {
        let pod = GroupVersionKind::new("", "v1", "Pod");
        let whole = |spec: &str, status: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p"}},"spec":{spec},"status":{status}}}"#
            )
        };
        check(
            &pod,
            &whole(r#"{"containers":[{"name":"a","resources":{}}]}"#, "{}"),
            [0, 0],
        );
        check(
            &pod,
            &whole(r#"{"containers":[{},{},{"name":"b"}]}"#, "{}"),
            [5, 2],
        );
        let statuses = r#"{"containerStatuses":[{}]}"#;
        let object = whole(r#"{"containers":[]}"#, statuses);
        let added = AddedMembers::to(
            Release::latest().schema(),
            &pod,
            &parse(object.as_bytes()).unwrap(),
        )
        .unwrap();
        assert!(added.members > 5 && added.objects == 1, "{added:?}");
        check(&pod, &object, [added.members, added.objects]);
        let policy = GroupVersionKind::new("networking.k8s.io", "v1", "NetworkPolicy");
        let text = r#"{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"p"},
            "spec":{"podSelector":{},"ingress":[{},{}]}}"#;
        check(&policy, text, [0, 0]);
        assert_eq!(
            AddedMembers::to(
                Release::latest().schema(),
                &GroupVersionKind::new("example.com", "v1", "Foo"),
                &Value::Null
            ),
            None
        );
    }
}
