//! Requests for the objects that were given, as the arguments say.

use pratique_json::Value;
use pratique_suite::ask::{self, Recipe, Unmade, kind_of};
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use super::Question;
use crate::arguments::RequestArguments;
use crate::exit::Trouble;
use crate::input::{Given, Unread};
use crate::output::problems;

/// Makes requests of objects.
pub(super) struct Maker<'a> {
    recipe: Recipe,
    defined: Vec<ServedResource>,
    old: &'a [Given],
}

impl<'a> Maker<'a> {
    /// Makes requests as the arguments say; `given` may define resources.
    pub(super) fn new<'g>(
        arguments: &RequestArguments,
        given: impl Iterator<Item = &'g Given>,
        old: &'a [Given],
    ) -> Self {
        Maker {
            recipe: Recipe {
                operation: arguments.operation,
                namespace: arguments.namespace.clone(),
                name: arguments.name.clone(),
                resource: arguments.resource.clone(),
                subresource: arguments.subresource.clone(),
                user: ask::user(&arguments.user, &arguments.groups),
                dry_run: arguments.dry_run,
                options: None,
            },
            defined: ask::defined(given.map(|given| &given.object)),
            old,
        }
    }

    /// The request of an object, the `number`th of the run.
    pub(super) fn question(&self, given: &Given, number: usize) -> Result<Question, Unread> {
        let place = problems::place(&given.location);
        let old = |object: &Value<'static>, kind: &GroupVersionKind| self.old_of(object, kind);
        let request = self.recipe.request(&given.object, old, &self.defined, number);
        match request {
            Ok(request) => Ok(Question { request, place }),
            Err(Unmade::NoKind(why)) => Err(Unread::Faulty { place, why }),
            Err(unmade @ Unmade::OtherResource { .. }) => {
                let why = unmade.to_string();
                Err(Unread::Faulty { place, why })
            }
            Err(Unmade::UnknownKind(kind)) => Err(Unread::Trouble(Trouble::UnknownKind { place, kind })),
            Err(Unmade::NoOldObject) => Err(Unread::Trouble(Trouble::NoOldObject { place })),
        }
    }

    /// The stored form of an object: the one of the same kind, name and namespace.
    fn old_of(&self, object: &Value<'_>, kind: &GroupVersionKind) -> Option<Value<'static>> {
        let text = |object: &Value<'_>, field: &str| {
            let text = object.at(&["metadata", field]).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let namespace = |object: &Value<'_>| match text(object, "namespace") {
            own if own.is_empty() => self.recipe.namespace.clone(),
            own => own,
        };
        let same = |given: &&Given| {
            kind_of(&given.object).is_ok_and(|own| own.group_kind() == kind.group_kind())
                && text(&given.object, "name") == text(object, "name")
                && namespace(&given.object) == namespace(object)
        };
        self.old.iter().find(same).map(|found| found.object.clone())
    }
}
