//! Authorization checks: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
//!
//! The host answers them through [`Authorizer`], at once or not: an evaluation that needs an answer which is not there
//! yet ends early, for the host to begin again when it has one; one that needs an answer which cannot be known ends as
//! [`UnknownValue`].
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/authz.go

mod values;

use std::sync::Arc;

pub use crate::authorization::{
    Answer, Authorizer, AuthorizerDecision, Check, FixedAuthorizer, NoAuthorizer, Question, QuestionSubject,
    ResourceCheck, Target, User,
};

use pratique_gotext::validation;

use super::arguments::{opaque, string};
use super::methods::method;
use crate::arena::Arena;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::{Fault, Stop};
use crate::function::{CallFn, Function, Overload};
use crate::types::Type;
use crate::unknown_value::UnknownValue;
use crate::value::{Evaluation, Value};
use values::{
    AuthorizerValue, CheckSubject, DecisionValue, GroupCheckValue, PathCheckValue, ResourceCheckValue,
};

/// The cost of a check: an expression can afford two.
const CHECK_COST: u64 = 350_000;
/// The cost of one requirement of a selector.
const REQUIREMENT_COST: u64 = 50;

/// The value of the variable `authorizer`: checks made with it are about `user`.
pub fn authorizer<'a>(arena: &'a Arena, user: Arc<User>, host: Arc<dyn Authorizer>) -> Value<'a> {
    arena.opaque(AuthorizerValue(CheckSubject { user, host }))
}

/// The value of the variable `authorizer.requestResource`: a check of the resource of the request.
pub fn request_resource<'a>(
    arena: &'a Arena,
    user: Arc<User>,
    host: Arc<dyn Authorizer>,
    resource: ResourceCheck,
) -> Value<'a> {
    arena.opaque(ResourceCheckValue {
        subject: CheckSubject { user, host },
        resource,
    })
}

/// Functions that describe a check, make it and read the decision.
pub fn library() -> Library {
    let authorizer = || Type::named(values::AUTHORIZER);
    let (path_check, group_check) = (Type::named(values::PATH_CHECK), Type::named(values::GROUP_CHECK));
    let decision = || Type::named(values::DECISION);
    let read_flag = |name: &str, read: fn(&DecisionValue) -> bool| {
        Function::new(name).with(method(&format!("decision_{name}"), decision(), Type::Bool, read))
    };
    let read_text = |name: &str, read: fn(&DecisionValue) -> String| {
        Function::new(name).with(method(
            &format!("decision_{name}"),
            decision(),
            Type::String,
            read,
        ))
    };
    let described = |name: &str, id: &str, of: Type, (result, call): (Type, CallFn)| {
        Function::new(name).member(id, &[of, Type::String], result, call)
    };
    Library::from_functions(vec![
        described(
            "path",
            "authorizer_path",
            authorizer(),
            (path_check.clone(), path),
        ),
        described(
            "group",
            "authorizer_group",
            authorizer(),
            (group_check.clone(), group),
        ),
        Function::new("serviceAccount").member(
            "authorizer_serviceaccount",
            &[authorizer(), Type::String, Type::String],
            authorizer(),
            service_account,
        ),
        described(
            "resource",
            "groupcheck_resource",
            group_check,
            (resource_check(), resource),
        ),
        refining("subresource", "resourcecheck_subresource", |check| {
            &mut check.subresource
        }),
        refining("namespace", "resourcecheck_namespace", |check| {
            &mut check.namespace
        }),
        refining("name", "resourcecheck_name", |check| &mut check.name),
        Function::new("check")
            .member(
                "pathcheck_check",
                &[path_check, Type::String],
                decision(),
                |context, arguments| {
                    let check: &PathCheckValue = opaque(arguments, 0)?;
                    decide(
                        context,
                        &check.subject,
                        string(arguments, 1)?,
                        Target::Path(&check.path),
                    )
                },
            )
            .member(
                "resourcecheck_check",
                &[resource_check(), Type::String],
                decision(),
                |context, arguments| {
                    let check: &ResourceCheckValue = opaque(arguments, 0)?;
                    decide(
                        context,
                        &check.subject,
                        string(arguments, 1)?,
                        Target::Resource(&check.resource),
                    )
                },
            )
            .costing_always(|_, _| CHECK_COST),
        read_flag("errored", |decision| decision.0.error.is_some()),
        read_text("error", |decision| decision.0.error.clone().unwrap_or_default()),
        read_flag("allowed", |decision| decision.0.allowed),
        read_text("reason", |decision| decision.0.reason.clone()),
    ])
}

/// Functions that restrict a check by selectors.
pub fn selectors() -> Library {
    let fields = refining("fieldSelector", "authorizer_fieldselector", |check| {
        &mut check.field_selector
    });
    let labels = refining("labelSelector", "authorizer_labelselector", |check| {
        &mut check.label_selector
    });
    Library::from_functions(vec![
        fields.costing_always(parsing_selector),
        labels.costing_always(parsing_selector),
    ])
}

/// A function that gives the check with one field changed to its argument.
fn refining(name: &str, id: &str, field: fn(&mut ResourceCheck) -> &mut String) -> Function {
    let overload = Overload::new(id, true, &[resource_check(), Type::String], resource_check());
    Function::new(name).with(overload.shared(move |context, arguments| {
        let mut check: ResourceCheckValue = opaque::<ResourceCheckValue>(arguments, 0)?.clone();
        *field(&mut check.resource) = string(arguments, 1)?.to_owned();
        Ok(context.arena.opaque(check))
    }))
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
    Ok(context.arena.opaque(AuthorizerValue(CheckSubject {
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

fn non_blank(text: &str, parameter: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        Err(Fault::error(format!("{parameter} must not be empty")))
    } else {
        Ok(text.to_owned())
    }
}

fn decide<'a>(
    context: &Context<'a>,
    subject: &CheckSubject,
    verb: &str,
    target: Target<'_>,
) -> Evaluation<'a> {
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
            Err(Fault::unknown(UnknownValue::Check(question)))
        }
    }
}

#[cfg(test)]
mod tests;
