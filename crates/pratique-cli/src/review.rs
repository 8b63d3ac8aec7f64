//! `pratique review`: would an API server let this in?

mod diff;
mod policies;
mod received;
mod refused;
mod report;
mod request;
mod stored;
mod unbound;
mod webhooks;

use std::sync::Arc;

use pratique::{Admission, AdmissionDecision, Authorizer, Decider, NoAuthorizer, Surroundings};
use pratique_explain::Recorder;
use pratique_json::Value;
use pratique_policy::Origin;
use pratique_suite::ask::cluster::{cluster, is_namespace};
use pratique_suite::ask::envelope;
use pratique_suite::{Rules, read_rules};
use pratique_types::AdmissionRequest;

use crate::arguments::{ReviewArguments, ReviewFormat};
use crate::exit::{Answer, Trouble};
use crate::input::{self, Given, Unread};
use crate::output::excerpt::Texts;
use crate::output::{self, problems};
use crate::style::{Style, Tone};
use policies::Unusable;
use refused::Refused;
use report::Judged;
use request::Maker;
use stored::Stored;
use unbound::Evaluated;

/// A request and the place of what it was made of.
pub(crate) struct Question {
    request: AdmissionRequest<'static>,
    place: String,
    /// What a server warns of when it decodes the object; or why it cannot.
    received: Result<Vec<String>, String>,
}

/// Evaluates every input, and answers whether all of them are allowed. One that cannot be read costs no other its answer.
pub(crate) fn run(arguments: &ReviewArguments) -> Result<Answer, Trouble> {
    let loaded = policies::load(
        &arguments.policies,
        arguments.feature_gates,
        arguments.webhooks,
        arguments.bind,
    );
    let (admission, sets) = match loaded {
        Ok(loaded) => loaded,
        Err(Unusable::Trouble(trouble)) => return Err(trouble),
        Err(Unusable::Invalid { errors, mut texts }) => {
            output::note(&problems::human(&errors, &mut texts, Style::of_stderr()));
            return Ok(Answer::No);
        }
    };
    let evaluated = Evaluated::of(&sets, arguments.webhooks);
    evaluated.warn();
    let mut reader = Reader {
        mebibytes: arguments.max_input,
        refused: Refused::default(),
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
    let questions = reader.questions(&given, &old, &state, arguments)?;
    let Reader {
        refused,
        empty,
        empty_lists,
        ..
    } = reader;
    if questions.is_empty() && refused.count() == 0 && empty_lists > 0 {
        let inputs = arguments.inputs.join(", ");
        output::note(&format!("{inputs}: an empty List: there is nothing to review\n"));
        return Ok(Answer::Yes);
    }
    if questions.is_empty() && refused.count() == 0 {
        return Err(Trouble::NothingToReview {
            inputs: arguments.inputs.join(", "),
        });
    }
    for path in empty {
        warn(&path, &["there is no object in it".to_owned()]);
    }
    let cluster = cluster_of(&state, &given, &questions);
    let mut judged = match arguments.webhooks {
        true => webhooks::judge(&admission, &cluster, &*decider(rules), &questions)?,
        false => judge(
            &admission,
            &cluster,
            &authorizer(rules),
            &questions,
            arguments.explain,
        )?,
    };
    for explanation in judged.iter_mut().filter_map(|judged| judged.explanation.as_mut()) {
        sets.iter()
            .for_each(|set| explanation.locate(Origin::Static, set));
    }
    let answer = answer(&judged, &refused);
    match arguments.output {
        ReviewFormat::Human => {
            let text = report::human(&judged, &refused, Style::of_stdout());
            output::answer(&(text + &evaluated.counted()))?;
        }
        ReviewFormat::Json => output::answer(&(report::json(judged)? + &refused.json()?))?,
        ReviewFormat::Diff => {
            output::note(&report::denials(&judged, Style::of_stderr()));
            output::answer(&diff::diffs(&judged, Style::of_stdout()))?;
        }
    }
    Ok(match answer {
        Answer::Yes if !evaluated.anything() => Answer::Undecided,
        answer => answer,
    })
}

/// A denial, or an input that could not be read, counts for more than what is undecided.
fn answer(judged: &[Judged<'_>], refused: &Refused) -> Answer {
    let any = |decision| judged.iter().any(|own| own.outcome.decision() == decision);
    if any(AdmissionDecision::Denied) || refused.count() > 0 {
        Answer::No
    } else if any(AdmissionDecision::Undecided) {
        Answer::Undecided
    } else {
        Answer::Yes
    }
}

/// Answers by rules, if there are any.
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

fn judge<'q>(
    admission: &Admission,
    cluster: &pratique::Objects,
    authorizer: &Arc<dyn Authorizer>,
    questions: &'q [Question],
    explain: bool,
) -> Result<Vec<Judged<'q>>, Trouble> {
    let judge = |question: &'q Question| {
        let recorder = Recorder::new();
        let mut surroundings = Surroundings::new(cluster, authorizer.clone());
        if explain {
            surroundings = surroundings.with_trace(&recorder);
        }
        let outcome = match question.refused() {
            Some(outcome) => Ok(outcome),
            None => admission.judge(&question.request, surroundings, &mut ()),
        };
        let outcome = outcome.map_err(|why| Trouble::NoVerdict {
            place: question.place.clone(),
            why: why.to_string(),
        })?;
        Ok(Judged {
            question,
            outcome: question.with_warnings(outcome),
            explanation: explain.then(|| recorder.explanation()),
            webhooks: Vec::new(),
        })
    };
    questions.iter().map(judge).collect()
}

/// What is known of the cluster: its state as it was given, and the namespaces and CustomResourceDefinitions among the
/// inputs. There may be other namespaces, and params of other kinds.
fn cluster_of(state: &[Given], given: &[Given], questions: &[Question]) -> pratique::Objects {
    let is_definition =
        |object: &Value<'_>| object.get("kind").and_then(Value::as_str) == Some("CustomResourceDefinition");
    let existing = given.iter().filter(|given| given.received.is_ok());
    let inputs = existing.map(|given| &given.object);
    let inputs = inputs.filter(|object| is_namespace(object) || is_definition(object));
    let objects = state.iter().map(|given| &given.object).chain(inputs);
    let asked = questions
        .iter()
        .map(|question| question.request.namespace.as_str());
    let mut cluster = cluster(objects, asked);
    cluster.assume_params();
    cluster
}

/// The request of a review.
fn open(given: &Given) -> Result<Question, Unread> {
    let place = problems::place(&given.location);
    match envelope::open(&given.object) {
        Ok(request) => {
            warn(&place, &received::doubts(&request));
            Ok(Question {
                request,
                place,
                received: Ok(Vec::new()),
            })
        }
        Err(why) => Err(Unread::Faulty { place, why }),
    }
}

/// Reads inputs, and remembers which of them could not be.
struct Reader {
    mebibytes: u32,
    refused: Refused,
    /// Paths that have nothing in them.
    empty: Vec<String>,
    /// Lists without items: what they ask for is answered by saying nothing.
    empty_lists: usize,
}

impl Reader {
    fn all(&mut self, paths: &[String]) -> Result<Vec<Given>, Trouble> {
        let mut all = Vec::new();
        for path in paths {
            let before = (all.len(), self.refused.count(), self.empty_lists);
            self.add(path, &mut all)?;
            if before == (all.len(), self.refused.count(), self.empty_lists) {
                self.empty.push(path.clone());
            }
        }
        Ok(all)
    }

    fn add(&mut self, path: &str, all: &mut Vec<Given>) -> Result<(), Trouble> {
        for path in input::files(path)? {
            match input::read(&path, self.mebibytes) {
                Ok(objects) => {
                    self.empty_lists += objects.empty_lists;
                    for doubt in &objects.doubts {
                        let place = doubt.location.as_ref().map(problems::place).unwrap_or_default();
                        warn(&place, std::slice::from_ref(&doubt.message));
                    }
                    all.extend(objects.given);
                    objects
                        .faults
                        .into_iter()
                        .try_for_each(|fault| self.refuse(fault))?;
                }
                Err(unread) => self.refuse(unread)?,
            }
        }
        Ok(())
    }

    /// The namespaces among some objects; anything else is refused.
    fn namespaces(&mut self, given: Vec<Given>) -> Result<Vec<Given>, Trouble> {
        let (namespaces, others): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|given| is_namespace(&given.object));
        for other in others {
            let place = problems::place(&other.location);
            let why = "expected a Namespace of v1".to_owned();
            self.refuse(Unread::Faulty { place, why })?;
        }
        self.existing(namespaces)
    }

    /// The objects that a server could have; others are refused.
    fn existing(&mut self, given: Vec<Given>) -> Result<Vec<Given>, Trouble> {
        let mut existing = Vec::with_capacity(given.len());
        for given in given {
            let place = problems::place(&given.location);
            match &given.received {
                Err(why) => self.refuse(Unread::Faulty {
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

    /// The rules of a file, if there is one.
    fn rules(&mut self, path: Option<&str>) -> Result<Option<Rules>, Trouble> {
        let Some(path) = path else {
            return Ok(None);
        };
        let file = match input::read_file(path, self.mebibytes) {
            Ok(file) => file,
            Err(unread) => {
                self.refuse(unread)?;
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
                    .for_each(|own| output::note(&problems::one(own, &mut texts, style)));
                self.refuse(Unread::Faulty {
                    place: file.path.clone(),
                    why: "its rules cannot be read".to_owned(),
                })?;
                Ok(None)
            }
        }
    }

    fn questions(
        &mut self,
        given: &[Given],
        old: &[Given],
        state: &[Given],
        arguments: &ReviewArguments,
    ) -> Result<Vec<Question>, Trouble> {
        let (stored, faults) = Stored::new(old, &arguments.request.namespace);
        faults.into_iter().try_for_each(|fault| self.refuse(fault))?;
        let maker = Maker::new(&arguments.request, state.iter().chain(given), stored);
        let mut questions = Vec::new();
        for (index, given) in given.iter().enumerate() {
            let question = if envelope::is_review(&given.object) {
                open(given)
            } else {
                maker.question(given, index + 1)
            };
            match question {
                Ok(question) => questions.push(question),
                Err(unread) => self.refuse(unread)?,
            }
        }
        Ok(questions)
    }

    /// Tells why an input is refused, unless it is trouble.
    fn refuse(&mut self, unread: Unread) -> Result<(), Trouble> {
        self.refused.add(unread)
    }
}

/// Tells what is doubtful about an input on standard error.
fn warn(place: &str, doubts: &[String]) {
    let style = Style::of_stderr();
    for doubt in doubts {
        output::note(&format!(
            "{} {place}: {doubt}\n",
            style.paint(Tone::Warning, "warning:")
        ));
    }
}
