//! The values that stand for an authorizer, a check and a decision in an expression.

use std::sync::Arc;

use crate::authorization::{Authorizer, AuthorizerDecision, ResourceCheck, User};
use crate::error::Fault;
use crate::value::{Opaque, Value};

pub(super) const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
pub(super) const PATH_CHECK: &str = "kubernetes.authorization.PathCheck";
pub(super) const GROUP_CHECK: &str = "kubernetes.authorization.GroupCheck";
pub(super) const RESOURCE_CHECK: &str = "kubernetes.authorization.ResourceCheck";
pub(super) const DECISION: &str = "kubernetes.authorization.Decision";

/// The user of a check, and the authorizer that answers it.
#[derive(Debug, Clone)]
pub(super) struct CheckSubject {
    pub(super) user: Arc<User>,
    pub(super) host: Arc<dyn Authorizer>,
}

#[derive(Debug)]
pub(super) struct AuthorizerValue(pub(super) CheckSubject);

#[derive(Debug)]
pub(super) struct PathCheckValue {
    pub(super) subject: CheckSubject,
    pub(super) path: String,
}

#[derive(Debug)]
pub(super) struct GroupCheckValue {
    pub(super) subject: CheckSubject,
    pub(super) group: String,
}

#[derive(Debug, Clone)]
pub(super) struct ResourceCheckValue {
    pub(super) subject: CheckSubject,
    pub(super) resource: ResourceCheck,
}

#[derive(Debug)]
pub(super) struct DecisionValue(pub(super) AuthorizerDecision);

/// None of these has a text, and none equals anything, not even itself.
macro_rules! receiver_only {
    ($($type:ty => $name:expr, $owned:expr;)*) => {
        $(impl Opaque for $type {
            fn type_name(&self) -> &'static str {
                $name
            }

            fn equal(&self, _: &Value<'_>) -> Result<bool, Fault> {
                Err(Fault::no_such_overload())
            }

            fn to_text(&self) -> String {
                String::new()
            }

            fn owned_bytes(&self) -> usize {
                let owned: fn(&$type) -> usize = $owned;
                owned(self)
            }
        })*
    };
}

receiver_only! {
    AuthorizerValue => AUTHORIZER, |_| 0;
    PathCheckValue => PATH_CHECK, |check| check.path.len();
    GroupCheckValue => GROUP_CHECK, |check| check.group.len();
    ResourceCheckValue => RESOURCE_CHECK, |check| check.resource.owned_bytes();
    DecisionValue => DECISION, |decision| decision.0.reason.len();
}
