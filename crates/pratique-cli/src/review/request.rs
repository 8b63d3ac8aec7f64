//! Builds requests for objects from the arguments.

use pratique_json::Value;
use pratique_suite::request::{self, BuildError, RequestTemplate};
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, Operation};

use super::received::InputRequest;
use super::stored::Stored;
use crate::arguments::RequestArguments;
use crate::exit::CliError;
use crate::input::{InputError, InputObject};
use crate::output::problems;

/// Builds requests for objects.
pub(super) struct RequestBuilder<'a> {
    template: RequestTemplate,
    defined: Vec<ServedResource>,
    stored: Stored<'a>,
    /// Whether stored objects were given.
    has_old: bool,
}

impl<'a> RequestBuilder<'a> {
    /// A builder for the arguments; `given` may define resources, and `stored` are the stored objects.
    pub(super) fn new<'g>(
        arguments: &RequestArguments,
        given: impl Iterator<Item = &'g InputObject>,
        stored: Stored<'a>,
    ) -> Self {
        RequestBuilder {
            template: RequestTemplate {
                operation: arguments.operation,
                namespace: arguments.namespace.clone(),
                name: arguments.name.clone(),
                resource: arguments.resource.clone(),
                subresource: arguments.subresource.clone(),
                user: request::user(&arguments.user, &arguments.groups),
                dry_run: arguments.dry_run,
                options: None,
            },
            defined: request::defined(given.map(|given| &given.object)),
            stored,
            has_old: !arguments.old.is_empty(),
        }
    }

    /// Builds the request of an object, the `number`th of the run.
    pub(super) fn input(&self, given: &InputObject, number: usize) -> Result<InputRequest, InputError> {
        let place = problems::place(&given.location);
        let faulty = |why: String| {
            let place = place.clone();
            InputError::Faulty { place, why }
        };
        // A deleted object was stored before, so it must be valid.
        let received = match (self.template.operation, &given.received) {
            (Operation::Delete, Err(why)) => return Err(faulty(why.clone())),
            (Operation::Delete, Ok(_)) => Ok(Vec::new()),
            (_, received) => received.clone(),
        };
        let old = |object: &Value<'static>, kind: &GroupVersionKind| {
            let stored = self.stored.find(object, kind, &self.template.namespace);
            stored.map(|stored| stored.object.clone())
        };
        let request = self.template.request(&given.object, old, &self.defined, number);
        let why = match request {
            Ok(request) => {
                return Ok(InputRequest {
                    request,
                    place,
                    received,
                });
            }
            Err(BuildError::NoOldObject) if !self.has_old => {
                return Err(InputError::Cli(CliError::NoOldObject { place }));
            }
            Err(error) => error,
        };
        let help = match why {
            BuildError::NoKind(_) => "",
            BuildError::UnknownKind(_) => {
                ": name its resource with --resource, or give its CustomResourceDefinition"
            }
            BuildError::OtherResource { .. } => ": --resource is for kinds that are not known",
            BuildError::NoOldObject => ": it is not among those of --old",
        };
        Err(faulty(format!("{why}{help}")))
    }
}
