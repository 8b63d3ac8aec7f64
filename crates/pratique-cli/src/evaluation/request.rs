//! Builds requests for objects from the arguments.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_request::{BuildError, RequestTemplate, ResourceResolver, kind_of, subresource};
use pratique_review::{GivenObject, GivenObjectError, ReviewInput};
use pratique_types::{GroupVersionKind, Operation, UserInfo};

use crate::arguments::{RequestArguments, SenderArguments};
use crate::evaluation::input_request::InputRequest;
use crate::exit::CliError;
use crate::input::{InputError, InputObject};
use crate::output::problems;
use crate::stream::stored_objects::StoredObjects;

/// Builds requests for objects.
pub(crate) struct RequestBuilder<'a> {
    template: RequestTemplate,
    /// The templates of updates and deletions, where objects are compared with stored ones.
    compared: Option<ComparedTemplates>,
    stored: StoredObjects<'a>,
    /// Whether stored objects were supplied.
    has_old: bool,
}

struct ComparedTemplates {
    update: RequestTemplate,
    delete: RequestTemplate,
}

impl<'a> RequestBuilder<'a> {
    /// A builder for the arguments; `stored` are the stored objects.
    pub(crate) fn new(arguments: &RequestArguments, stored: StoredObjects<'a>) -> Self {
        let has_old = !arguments.old.is_empty() || arguments.since.is_some();
        let usual = subresource::usual_operation(&arguments.subresource);
        let template = RequestTemplate {
            operation: arguments.operation.unwrap_or(usual),
            namespace: arguments.sender.namespace.clone(),
            name: arguments.name.clone(),
            resource: arguments.resource.clone(),
            subresource: arguments.subresource.clone(),
            user: user_of(&arguments.sender),
            dry_run: arguments.dry_run,
            options: None,
        };
        let compares = has_old && arguments.operation.is_none() && arguments.subresource.is_empty();
        let of = |operation| RequestTemplate {
            operation,
            ..template.clone()
        };
        RequestBuilder {
            compared: compares.then(|| ComparedTemplates {
                update: of(Operation::Update),
                delete: of(Operation::Delete),
            }),
            template,
            stored,
            has_old,
        }
    }

    /// Whether objects are compared with stored ones, so that they are created, updated and deleted.
    pub(crate) fn compares(&self) -> bool {
        self.compared.is_some()
    }

    /// Builds the requests that delete the stored objects which no input has.
    pub(crate) fn deletions<'b>(
        &'b self,
        resolver: &'b ResourceResolver,
    ) -> impl Iterator<Item = Result<InputRequest<'static>, InputError>> + 'b {
        let templates = self.compared.iter();
        templates.flat_map(move |compared| {
            let unmatched = self.stored.unmatched().cloned().enumerate();
            unmatched.map(move |(index, input)| {
                let input = InputObject {
                    received: Ok(Vec::new()),
                    ..input
                };
                self.build(&compared.delete, input, resolver, index + 1)
            })
        })
    }

    /// Builds the request of an object, the `number`th of the run. `resolver` knows what the cluster serves.
    pub(crate) fn input<'t>(
        &self,
        input: InputObject<'t>,
        resolver: &ResourceResolver,
        number: usize,
    ) -> Result<InputRequest<'t>, InputError> {
        let is_stored = || {
            let kind = kind_of(&input.object).ok();
            let stored =
                kind.and_then(|kind| self.stored.find(&input.object, &kind, &self.template.namespace));
            stored.is_some()
        };
        let template = match &self.compared {
            Some(compared) if is_stored() => &compared.update,
            _ => &self.template,
        };
        match self.scale_template(&input.object, resolver) {
            Some(template) => self.build(&template, input, resolver, number),
            None => self.build(template, input, resolver, number),
        }
    }

    /// The template of the request for a scale whose resource nobody names, where one stored object alone has its name.
    fn scale_template(&self, object: &Value<'_>, resolver: &ResourceResolver) -> Option<RequestTemplate> {
        let template = &self.template;
        let is_open = template.resource.is_none() && matches!(template.subresource.as_str(), "" | "scale");
        if !is_open || !subresource::is_scale(object) {
            return None;
        }
        let named = self.stored.of_name(object, &template.namespace);
        let mut resources = named.filter_map(|stored| {
            let kind = kind_of(&stored.object).ok()?;
            resolver.scaled_resource(&kind)
        });
        let resource = resources.next()?;
        resources.next().is_none().then(|| RequestTemplate {
            operation: Operation::Update,
            resource: Some(resource.group_resource().to_string()),
            subresource: "scale".to_owned(),
            ..template.clone()
        })
    }

    fn build<'t>(
        &self,
        template: &RequestTemplate,
        input: InputObject<'t>,
        resolver: &ResourceResolver,
        number: usize,
    ) -> Result<InputRequest<'t>, InputError> {
        let InputObject {
            object,
            location,
            received,
            item,
            origin,
        } = input;
        let place = || problems::place(origin.as_ref().map_or(&location, |origin| origin.object()));
        let given = GivenObject {
            object,
            decoded: received,
        };
        let old = |object: &Value<'t>, kind: &GroupVersionKind| {
            let stored = self.stored.find(object, kind, &self.template.namespace)?;
            Some(GivenObject::stored(stored.object.clone()))
        };
        let error = match ReviewInput::from_object(given, template, resolver, old, number) {
            Ok((mut input, _)) => {
                if item > 0 {
                    input.request.uid = format!("00000000-0000-0000-{:04x}-{number:012}", item & 0xffff);
                }
                return Ok(InputRequest {
                    input,
                    location,
                    origin,
                });
            }
            Err(GivenObjectError::Build(BuildError::NoOldObject)) if !self.has_old => {
                return Err(InputError::Cli(CliError::NoOldObject { place: place() }));
            }
            Err(error) => error,
        };
        Err(InputError::Faulty {
            place: place(),
            why: format!("{error}{}", help(&error)),
        })
    }
}

/// How the command line gives what a request lacks.
fn help(error: &GivenObjectError) -> &'static str {
    match error {
        GivenObjectError::NoName => " with --name",
        GivenObjectError::Build(BuildError::SeveralResources(_)) => ": name the resource with --resource",
        GivenObjectError::Build(BuildError::OtherResource { .. }) => {
            ": --resource is for kinds that are not known"
        }
        GivenObjectError::Build(BuildError::NoOldObject) => ": it is not among those of --old",
        _ => "",
    }
}

/// The user who sends requests.
fn user_of(sender: &SenderArguments) -> UserInfo {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, value) in &sender.as_user_extra {
        extra.entry(key.clone()).or_default().push(value.clone());
    }
    UserInfo {
        uid: sender.as_uid.clone().unwrap_or_default(),
        extra,
        ..pratique_request::user(&sender.user, &sender.groups)
    }
}
