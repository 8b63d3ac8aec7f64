//! Answer authorization checks, also when an answer takes time: the evaluation ends as pending and is begun again.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use pratique_cel::library::authz::{
    self, Answer, Authorizer, AuthorizerDecision, Check, ResourceCheck, Target, User,
};
use pratique_cel::{Activation, Arena, Context, Environment, FaultKind, Program, Stop, Type, Value};

/// A question as it outlives the evaluation that asked it: user, verb, resource.
type OwnedQuestion = (String, String, ResourceCheck);

/// Knows some answers, and keeps the questions for which it has none.
#[derive(Debug, Default)]
struct KnownAnswers {
    answers: HashMap<OwnedQuestion, bool>,
    open: Mutex<Vec<OwnedQuestion>>,
}

impl Authorizer for KnownAnswers {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let Target::Resource(resource) = check.target else {
            return Answer::Decided(AuthorizerDecision {
                error: Some("paths are not served".to_owned()),
                ..AuthorizerDecision::default()
            });
        };
        let question = (check.user.name.clone(), check.verb.to_owned(), resource.clone());
        match self.answers.get(&question) {
            Some(allowed) => Answer::Decided(AuthorizerDecision {
                allowed: *allowed,
                reason: "looked up".to_owned(),
                error: None,
            }),
            None => {
                self.open
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(question);
                Answer::Pending
            }
        }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let environment = Environment::kubernetes()
        .with_variable("authorizer", Type::named("kubernetes.authorization.Authorizer"));
    let text = "['pods', 'secrets'].all(r, authorizer.group('').resource(r).namespace('ns').check('list').allowed())";
    let program = environment.compile(text)?;
    let slot = environment.slot("authorizer").ok_or("not declared")?;

    let mut answers = HashMap::new();
    for round in 1.. {
        let known = Arc::new(KnownAnswers {
            answers: answers.clone(),
            ..KnownAnswers::default()
        });
        let arena = Arena::new();
        let user = Arc::new(User {
            name: "ada".to_owned(),
            ..User::default()
        });
        let mut activation = environment.activation();
        activation.set(slot, authz::authorizer(&arena, user, known.clone()));
        if let Some(result) = attempt(&program, &arena, &activation)? {
            println!("round {round}: {result}");
            assert!(!result);
            assert_eq!(round, 3, "one question is asked in each of the first rounds");
            break;
        }
        // Here a host would ask elsewhere, in whatever way it waits. No thread has been blocked meanwhile.
        let mut open = known.open.lock().unwrap_or_else(PoisonError::into_inner);
        for question in open.drain(..) {
            println!(
                "round {round}: may {} {} {}?",
                question.0, question.1, question.2.resource
            );
            let allowed = question.2.resource == "pods";
            answers.insert(question, allowed);
        }
    }
    Ok(())
}

/// The result, or nothing while an answer is missing.
fn attempt<'a>(
    program: &'a Program,
    arena: &'a Arena,
    activation: &Activation<'a>,
) -> Result<Option<bool>, Box<dyn Error>> {
    match program.evaluate(&Context::new(arena, 1_000_000), activation) {
        Ok(Value::Bool(result)) => Ok(Some(result)),
        Ok(other) => Err(format!("a condition gave {other:?}").into()),
        Err(fault) => match fault.kind() {
            FaultKind::Stopped(Stop::Pending) => Ok(None),
            _ => Err(fault.into()),
        },
    }
}
