//! Authorization checks: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
//!
//! The host answers them through [`Authorizer`], at once or not: an evaluation that needs an answer which is not there
//! yet ends early, for the host to begin again when it has one; one that needs an answer which cannot be known ends as
//! [`Unknown`].

mod values;

use std::sync::Arc;

pub use crate::authorization::{
    Answer, Authorizer, Check, Decision, NoAuthorizer, Question, QuestionSubject, ResourceCheck, Target, User,
};

use pratique_gotext::validation;

use super::arguments::{opaque, string};
use crate::arena::Arena;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::{Fault, Stop};
use crate::function::{CallFn, Function};
use crate::types::Type;
use crate::unknown::Unknown;
use crate::value::{Evaluation, Value};
use values::{AuthorizerValue, DecisionValue, GroupCheckValue, PathCheckValue, ResourceCheckValue, Subject};

/// The cost of a check: an expression can afford two.
const CHECK_COST: u64 = 350_000;
/// The cost of one requirement of a selector.
const REQUIREMENT_COST: u64 = 50;

/// The value of the variable `authorizer`: checks made with it are about `user`.
pub fn authorizer<'a>(arena: &'a Arena, user: Arc<User>, host: Arc<dyn Authorizer>) -> Value<'a> {
    arena.opaque(AuthorizerValue(Subject { user, host }))
}

/// The value of the variable `authorizer.requestResource`: a check of what the request is about.
pub fn request_resource<'a>(
    arena: &'a Arena,
    user: Arc<User>,
    host: Arc<dyn Authorizer>,
    resource: ResourceCheck,
) -> Value<'a> {
    arena.opaque(ResourceCheckValue {
        subject: Subject { user, host },
        resource,
    })
}

/// Functions that describe a check, make it and read the decision.
pub fn library() -> Library {
    let refine = |name: &str, id: &str, call: CallFn| {
        Function::new(name).member(id, &[resource_check(), Type::String], resource_check(), call)
    };
    let read = |name: &str, id: &str, result: Type, call: CallFn| {
        Function::new(name).member(id, &[Type::named(values::DECISION)], result, call)
    };
    let authorizer = || Type::named(values::AUTHORIZER);
    let (path_check, group_check) = (Type::named(values::PATH_CHECK), Type::named(values::GROUP_CHECK));
    let decision = || Type::named(values::DECISION);
    Library::of(vec![
        Function::new("path").member(
            "authorizer_path",
            &[authorizer(), Type::String],
            path_check.clone(),
            path,
        ),
        Function::new("group").member(
            "authorizer_group",
            &[authorizer(), Type::String],
            group_check.clone(),
            group,
        ),
        Function::new("serviceAccount").member(
            "authorizer_serviceaccount",
            &[authorizer(), Type::String, Type::String],
            authorizer(),
            service_account,
        ),
        Function::new("resource").member(
            "groupcheck_resource",
            &[group_check, Type::String],
            resource_check(),
            resource,
        ),
        refine("subresource", "resourcecheck_subresource", subresource),
        refine("namespace", "resourcecheck_namespace", namespace),
        refine("name", "resourcecheck_name", name),
        Function::new("check")
            .member(
                "pathcheck_check",
                &[path_check, Type::String],
                decision(),
                check_path,
            )
            .member(
                "resourcecheck_check",
                &[resource_check(), Type::String],
                decision(),
                check_resource,
            )
            .costing_always(|_, _| CHECK_COST),
        read("errored", "decision_errored", Type::Bool, errored),
        read("error", "decision_error", Type::String, error),
        read("allowed", "decision_allowed", Type::Bool, allowed),
        read("reason", "decision_reason", Type::String, reason),
    ])
}

/// Functions that restrict a check to what selectors match.
pub fn selectors() -> Library {
    let restrict = |name: &str, id: &str, call: CallFn| {
        Function::new(name)
            .member(id, &[resource_check(), Type::String], resource_check(), call)
            .costing_always(parsing_selector)
    };
    Library::of(vec![
        restrict("fieldSelector", "authorizer_fieldselector", field_selector),
        restrict("labelSelector", "authorizer_labelselector", label_selector),
    ])
}

fn resource_check() -> Type {
    Type::named(values::RESOURCE_CHECK)
}

/// Reading the selector and making a list of the requirements it might have, two characters each.
fn parsing_selector(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    let size = cost::size_at(arguments, 1);
    size.div_ceil(2)
        .saturating_mul(REQUIREMENT_COST)
        .saturating_add(cost::traversal(size) + 10)
}

fn path<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let AuthorizerValue(subject) = opaque(arguments, 0)?;
    let path = non_blank(string(arguments, 1)?, "path")?;
    Ok(context.arena.opaque(PathCheckValue {
        subject: subject.clone(),
        path,
    }))
}

fn group<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let AuthorizerValue(subject) = opaque(arguments, 0)?;
    let group = string(arguments, 1)?.to_owned();
    Ok(context.arena.opaque(GroupCheckValue {
        subject: subject.clone(),
        group,
    }))
}

fn service_account<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let AuthorizerValue(subject) = opaque(arguments, 0)?;
    let (namespace, name) = (string(arguments, 1)?, string(arguments, 2)?);
    if !validation::dns1123_subdomain(name).is_empty() {
        return Err(Fault::error("Invalid service account name"));
    }
    if !validation::is_dns1123_label(namespace) {
        return Err(Fault::error("Invalid service account namespace"));
    }
    let user = Arc::new(User::service_account(namespace, name));
    Ok(context.arena.opaque(AuthorizerValue(Subject {
        user,
        host: subject.host.clone(),
    })))
}

fn resource<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let group: &GroupCheckValue = opaque(arguments, 0)?;
    let resource = ResourceCheck {
        group: group.group.clone(),
        resource: non_blank(string(arguments, 1)?, "resource")?,
        ..ResourceCheck::default()
    };
    Ok(context.arena.opaque(ResourceCheckValue {
        subject: group.subject.clone(),
        resource,
    }))
}

fn non_blank(text: &str, what: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        Err(Fault::error(format!("{what} must not be empty")))
    } else {
        Ok(text.to_owned())
    }
}

fn subresource<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    refined(context, arguments, |check| &mut check.subresource)
}

fn namespace<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    refined(context, arguments, |check| &mut check.namespace)
}

fn name<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    refined(context, arguments, |check| &mut check.name)
}

fn field_selector<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    refined(context, arguments, |check| &mut check.field_selector)
}

fn label_selector<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    refined(context, arguments, |check| &mut check.label_selector)
}

/// The check with one field changed to the second argument.
fn refined<'a>(
    context: &Context<'a>,
    arguments: &[Value<'a>],
    field: fn(&mut ResourceCheck) -> &mut String,
) -> Evaluation<'a> {
    let check: &ResourceCheckValue = opaque(arguments, 0)?;
    let mut check = check.clone();
    *field(&mut check.resource) = string(arguments, 1)?.to_owned();
    Ok(context.arena.opaque(check))
}

fn check_path<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let check: &PathCheckValue = opaque(arguments, 0)?;
    decide(
        context,
        &check.subject,
        string(arguments, 1)?,
        Target::Path(&check.path),
    )
}

fn check_resource<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let check: &ResourceCheckValue = opaque(arguments, 0)?;
    decide(
        context,
        &check.subject,
        string(arguments, 1)?,
        Target::Resource(&check.resource),
    )
}

fn decide<'a>(context: &Context<'a>, subject: &Subject, verb: &str, target: Target<'_>) -> Evaluation<'a> {
    let check = Check {
        user: &subject.user,
        verb,
        target,
    };
    match subject.host.authorize(&check) {
        Answer::Decided(decision) => Ok(context.arena.opaque(DecisionValue(decision))),
        Answer::Pending => Err(Fault::stop(Stop::Pending)),
        Answer::Unknown => {
            let question = Box::new(Question::from(&check));
            Err(Fault::unknown(Unknown::Check(question)))
        }
    }
}

fn decision_at<'a>(arguments: &[Value<'a>]) -> Result<&'a Decision, Fault> {
    opaque::<DecisionValue>(arguments, 0).map(|DecisionValue(decision)| decision)
}

fn errored<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(decision_at(arguments)?.error.is_some()))
}

fn error<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(
        decision_at(arguments)?.error.as_deref().unwrap_or_default(),
    ))
}

fn allowed<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(decision_at(arguments)?.allowed))
}

fn reason<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::String(&decision_at(arguments)?.reason))
}

#[cfg(test)]
mod tests;
