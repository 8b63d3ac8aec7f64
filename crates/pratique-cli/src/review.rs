//! `pratique review`: evaluates admission for objects.

mod diff;
mod evaluate;
mod exchange;
mod input_errors;
mod policies;
mod printer;
mod received;
mod report;
mod request;
mod result;
mod stored;
mod unbound;

use std::path::Path;
use std::sync::Arc;

use pratique::authorization::{Authorizer, Decider, NoAuthorizer};
use pratique_json::Value;
use pratique_manifest::path_text;
use pratique_policy::Origin;
use pratique_suite::request::cluster::{cluster, is_namespace};
use pratique_suite::request::review;
use pratique_suite::{Rules, read_rules};

use crate::arguments::ReviewArguments;
use crate::exit::{CliError, ExitStatus};
use crate::input::{self, InputError, InputObject};
use crate::output::excerpt::Texts;
use crate::output::text::text;
use crate::output::{self, problems};
use crate::style::{Style, Tone};
use evaluate::Evaluator;
use input_errors::InputErrors;
use policies::LoadFailure;
use printer::{Counts, Printer};
use received::InputRequest;
use request::RequestBuilder;
use stored::Stored;
use unbound::EvaluationScope;

/// Evaluates every input; succeeds if all of them are allowed. Inputs that cannot be read do not affect the others.
pub(crate) fn run(arguments: &ReviewArguments) -> Result<ExitStatus, CliError> {
    let loaded = policies::load(
        &arguments.policies,
        arguments.feature_gates,
        arguments.webhooks,
        arguments.bind,
    );
    let (admission, sets) = match loaded {
        Ok(loaded) => loaded,
        Err(LoadFailure::Cli(error)) => return Err(error),
        Err(LoadFailure::Invalid { errors, mut texts }) => {
            output::note(&problems::human(&errors, &mut texts, Style::of_stderr()));
            return Ok(ExitStatus::Failure);
        }
    };
    let scope = EvaluationScope::of(&sets, arguments.webhooks);
    scope.warn();
    let mut reader = Reader {
        mebibytes: arguments.max_input,
        errors: InputErrors::default(),
        empty: Vec::new(),
        empty_lists: 0,
    };
    let given = reader.all(&arguments.inputs)?;
    let old = reader.all(&arguments.request.old)?;
    let old = reader.existing(old)?;
    let state = reader.all(&arguments.namespace_object)?;
    let mut state = reader.namespaces(state)?;
    let objects = reader.all(&arguments.objects)?;
    state.extend(reader.existing(objects)?);
    let rules = reader.rules(arguments.authorizer.as_deref())?;
    let (stored, faults) = Stored::new(&old, &arguments.request.namespace);
    faults.into_iter().try_for_each(|fault| reader.refuse(fault))?;
    if given.is_empty() && reader.errors.count() == 0 {
        let inputs = arguments.inputs.iter().map(|path| path_text(path));
        let inputs = inputs.collect::<Vec<_>>().join(", ");
        if reader.empty_lists == 0 {
            return Err(CliError::NothingToReview { inputs });
        }
        output::note(&text!("{}: an empty List: there is nothing to review\n", inputs));
        return Ok(ExitStatus::Success);
    }
    for path in std::mem::take(&mut reader.empty) {
        warn(&path, &["there is no object in it".to_owned()]);
    }
    let builder = RequestBuilder::new(&arguments.request, state.iter().chain(&given), stored);
    let cluster = cluster_of(&state, &given);
    let evaluator = match arguments.webhooks {
        true => Evaluator::chain(&admission, &cluster, decider(rules))?,
        false => Evaluator::policies(&admission, &cluster, authorizer(rules), arguments.explain),
    };
    let mut printer = Printer::new(arguments.output);
    // Each object and its result are dropped once the result is printed.
    for (index, given) in given.into_iter().enumerate() {
        let Some(input) = reader.input(&builder, given, index + 1)? else {
            continue;
        };
        let mut result = evaluator.evaluate(&input)?;
        if let Some(explanation) = &mut result.explanation {
            sets.iter()
                .for_each(|set| explanation.locate(Origin::Static, set));
        }
        printer.print(result)?;
    }
    let counts = printer.end(&reader.errors, &scope)?;
    Ok(match exit_status(counts, &reader.errors) {
        ExitStatus::Success if !scope.can_deny() => ExitStatus::Undecided,
        status => status,
    })
}

/// The exit status: denials and errors take precedence over undecided requests.
fn exit_status(counts: Counts, errors: &InputErrors) -> ExitStatus {
    if counts.denied > 0 || errors.count() > 0 {
        ExitStatus::Failure
    } else if counts.undecided > 0 {
        ExitStatus::Undecided
    } else {
        ExitStatus::Success
    }
}

/// An authorizer with these rules, if there are any.
fn authorizer(rules: Option<Rules>) -> Arc<dyn Authorizer> {
    match rules {
        Some(rules) => Arc::new(rules),
        None => Arc::new(NoAuthorizer),
    }
}

fn decider(rules: Option<Rules>) -> Box<dyn Decider> {
    match rules {
        Some(rules) => Box::new(rules),
        None => Box::new(NoAuthorizer),
    }
}

/// The cluster: the given state, and the namespaces and CustomResourceDefinitions among the inputs. Other namespaces
/// and params may exist.
fn cluster_of(state: &[InputObject], given: &[InputObject]) -> pratique::Objects {
    let is_definition =
        |object: &Value<'_>| object.get("kind").and_then(Value::as_str) == Some("CustomResourceDefinition");
    let existing = given.iter().filter(|given| given.received.is_ok());
    let inputs = existing.map(|given| &given.object);
    let inputs = inputs.filter(|object| is_namespace(object) || is_definition(object));
    let objects = state.iter().map(|given| &given.object).chain(inputs);
    let mut cluster = cluster(objects, []);
    cluster.assume_namespaces();
    cluster.assume_params();
    cluster
}

/// Decodes the request of an AdmissionReview.
fn decode_review(given: &InputObject) -> Result<InputRequest, InputError> {
    let place = problems::place(&given.location);
    match review::decode(&given.object) {
        Ok(request) => {
            warn(&place, &received::decode_warnings(&request));
            Ok(InputRequest {
                request,
                place,
                received: Ok(Vec::new()),
            })
        }
        Err(why) => Err(InputError::Faulty { place, why }),
    }
}

/// Reads inputs, and collects errors.
struct Reader {
    mebibytes: u32,
    errors: InputErrors,
    /// Paths without objects.
    empty: Vec<String>,
    /// The number of empty lists, which are no error.
    empty_lists: usize,
}

impl Reader {
    fn all(&mut self, paths: &[impl AsRef<Path>]) -> Result<Vec<InputObject>, CliError> {
        let mut all = Vec::new();
        for path in paths {
            let before = (all.len(), self.errors.count(), self.empty_lists);
            let path = path.as_ref();
            self.add(path, &mut all)?;
            if before == (all.len(), self.errors.count(), self.empty_lists) {
                self.empty.push(path_text(path));
            }
        }
        Ok(all)
    }

    fn add(&mut self, path: &Path, all: &mut Vec<InputObject>) -> Result<(), CliError> {
        for path in input::files(path)? {
            match input::read(&path, self.mebibytes) {
                Ok(objects) => {
                    self.empty_lists += objects.empty_lists;
                    for duplicate in &objects.duplicate_keys {
                        let place = duplicate
                            .location
                            .as_ref()
                            .map(problems::place)
                            .unwrap_or_default();
                        warn(&place, std::slice::from_ref(&duplicate.message));
                    }
                    all.extend(objects.given);
                    objects
                        .faults
                        .into_iter()
                        .try_for_each(|fault| self.refuse(fault))?;
                }
                Err(error) => self.refuse(error)?,
            }
        }
        Ok(())
    }

    /// Keeps namespaces; other objects are errors.
    fn namespaces(&mut self, given: Vec<InputObject>) -> Result<Vec<InputObject>, CliError> {
        let (namespaces, others): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|given| is_namespace(&given.object));
        for other in others {
            let place = problems::place(&other.location);
            let why = "expected a Namespace of v1".to_owned();
            self.refuse(InputError::Faulty { place, why })?;
        }
        self.existing(namespaces)
    }

    /// Keeps objects that a server can decode; others are errors.
    fn existing(&mut self, given: Vec<InputObject>) -> Result<Vec<InputObject>, CliError> {
        let mut existing = Vec::with_capacity(given.len());
        for given in given {
            let place = problems::place(&given.location);
            match &given.received {
                Err(why) => self.refuse(InputError::Faulty {
                    place,
                    why: why.clone(),
                })?,
                Ok(warnings) => {
                    warn(&place, warnings);
                    existing.push(given);
                }
            }
        }
        Ok(existing)
    }

    /// Reads the authorizer rules of a file, if one is given.
    fn rules(&mut self, path: Option<&str>) -> Result<Option<Rules>, CliError> {
        let Some(path) = path else {
            return Ok(None);
        };
        let file = match input::read_file(Path::new(path), self.mebibytes) {
            Ok(file) => file,
            Err(error) => {
                self.refuse(error)?;
                return Ok(None);
            }
        };
        match read_rules(&file) {
            Ok(rules) => Ok(Some(rules)),
            Err(found) => {
                let mut texts = Texts::default();
                texts.insert(&file.path, &file.content);
                let style = Style::of_stderr();
                found
                    .iter()
                    .for_each(|problem| output::note(&problems::one(problem, &mut texts, style)));
                self.refuse(InputError::Faulty {
                    place: file.path.clone(),
                    why: "its rules cannot be read".to_owned(),
                })?;
                Ok(None)
            }
        }
    }

    /// Builds the request of an input, the `number`th of the run; `None` if it has an error.
    fn input(
        &mut self,
        builder: &RequestBuilder<'_>,
        given: InputObject,
        number: usize,
    ) -> Result<Option<InputRequest>, CliError> {
        let input = match review::is_review(&given.object) {
            true => decode_review(&given),
            false => builder.input(&given, number),
        };
        match input {
            Ok(input) => Ok(Some(input)),
            Err(error) => self.refuse(error).map(|()| None),
        }
    }

    /// Reports an error of an input; errors of the command are returned.
    fn refuse(&mut self, error: InputError) -> Result<(), CliError> {
        self.errors.add(error)
    }
}

/// Prints warnings about an input on standard error.
fn warn(place: &str, messages: &[String]) {
    let style = Style::of_stderr();
    for message in messages {
        let warning = style.paint(Tone::Warning, "warning:");
        output::note(&text!("{} {}: {}\n", warning, place, message));
    }
}
