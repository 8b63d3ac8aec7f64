//! The subject of a request of a log.

use std::fmt::{self, Display, Formatter};

use pratique_report::{owner_of, uid_of};
use pratique_types::{AdmissionRequest, ObjectRef, Operation};
use serde::Serialize;

/// The subject of a request: user, operation, object and time.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestSubject {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) time: String,
    pub(crate) user: String,
    pub(crate) operation: Operation,
    resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    subresource: String,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    /// The UID of an object that was stored.
    #[serde(skip)]
    pub(crate) uid: String,
    /// The owner that controls the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) owner: String,
}

impl RequestSubject {
    /// The subject of a request that was made at a time.
    pub(crate) fn from_request(request: &AdmissionRequest<'_>, time: &str) -> Self {
        let object = if request.object.is_null() {
            &request.old_object
        } else {
            &request.object
        };
        RequestSubject {
            time: time.to_owned(),
            user: request.user_info.username.clone(),
            operation: request.operation,
            resource: request.resource.group_resource().to_string(),
            subresource: request.sub_resource.clone(),
            api_version: request.kind.api_version(),
            kind: request.kind.kind.clone(),
            namespace: request.namespace.clone(),
            name: match request.name.as_str() {
                "" => ObjectRef::new(object).name_or_prefix().to_owned(),
                name => name.to_owned(),
            },
            uid: uid_of(object).to_owned(),
            owner: owner_of(object),
        }
    }
}

/// `CREATE deployments.apps/scale shop/web by ann`
impl Display for RequestSubject {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} {}",
            self.operation,
            self.resource.trim_end_matches('.')
        )?;
        if !self.subresource.is_empty() {
            write!(formatter, "/{}", self.subresource)?;
        }
        formatter.write_str(" ")?;
        if !self.namespace.is_empty() && self.namespace != self.name {
            write!(formatter, "{}/", self.namespace)?;
        }
        formatter.write_str(&self.name)?;
        match self.user.as_str() {
            "" => Ok(()),
            user => write!(formatter, " by {user}"),
        }
    }
}
