//! OwnerReferencesPermissionEnforcement: owners are set by who may delete the object, and blocked by who may finalize
//! them.

use std::collections::HashMap;

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::{
    Access, AccessAnswer, MissingState, PluginContext, PluginSettings, Rejection, StateKind,
};
use pratique_schema::Release;
use pratique_types::{GroupVersionKind, Operation};

use crate::answer::forbidden;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, text};

// Upstream: plugin/pkg/admission/gc/gc_admission.go
pub(crate) struct OwnerReferencesPermissionEnforcement {
    release: &'static Release,
}

impl OwnerReferencesPermissionEnforcement {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        OwnerReferencesPermissionEnforcement {
            release: settings.feature_gates.release(),
        }
    }
}

const OWNERS: [&str; 2] = ["metadata", "ownerReferences"];

impl BuiltInPlugin for OwnerReferencesPermissionEnforcement {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let resource = &request.resource;
        let is_pod_status =
            resource.group.is_empty() && resource.resource == "pods" && request.sub_resource == "status";
        let new = elements(attributes.object, &OWNERS);
        let old = elements(&request.old_object, &OWNERS);
        if is_pod_status || attributes.object.is_null() || new == old {
            return Ok(());
        }
        if request.operation != Operation::Create {
            let delete = Access {
                user: &request.user_info,
                verb: "delete",
                group: &resource.group,
                version: &resource.version,
                resource: &resource.resource,
                subresource: &request.sub_resource,
                namespace: &request.namespace,
                name: &request.name,
            };
            // Whether a resource that was only assumed may be deleted says nothing.
            if request.assumes_resource {
                return Err(MissingState::Resource(request.kind.clone()).into());
            }
            if let Some(why) = refusal(context, &delete)? {
                let error = format!("cannot set an ownerRef on a resource you can't delete: {why}");
                return Err(forbidden(attributes, error));
            }
        }
        check_blocking(attributes, context, self.release, new, old)
    }
}

/// Checks that the user may finalize owners whose deletion is newly blocked.
fn check_blocking(
    attributes: &Attributes<'_>,
    context: &PluginContext<'_>,
    release: &'static Release,
    new: &[Value<'_>],
    old: &[Value<'_>],
) -> Result<(), Rejection> {
    // Of stored references with the same uid the last counts.
    // Upstream: plugin/pkg/admission/gc/gc_admission.go, newBlockingOwnerDeletionRefs
    let stored: HashMap<&str, bool> = old.iter().map(|owner| (uid(owner), blocks(owner))).collect();
    let was_blocking = |owner: &Value<'_>| stored.get(uid(owner)) == Some(&true);
    let blocking: Vec<&Value<'_>> = new
        .iter()
        .filter(|owner| blocks(owner) && !was_blocking(owner))
        .collect();
    let user = &attributes.request.user_info;
    let finalize_anything = Access {
        user,
        verb: "update",
        group: "*",
        version: "*",
        resource: "*",
        subresource: "finalizers",
        namespace: "",
        name: "*",
    };
    if blocking.is_empty() || refusal(context, &finalize_anything)?.is_none() {
        return Ok(());
    }
    for owner in blocking {
        let (api_version, kind) = (text(owner, &["apiVersion"]), text(owner, &["kind"]));
        let mapped = resource_of(context, release, api_version, kind)?.map_err(|error| {
            let error = format!(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion \
                 {api_version} Kind {kind}: {error}"
            );
            forbidden(attributes, error)
        })?;
        let finalize = Access {
            group: &mapped.group,
            version: &mapped.version,
            resource: &mapped.resource,
            namespace: if mapped.namespaced {
                &attributes.request.namespace
            } else {
                ""
            },
            name: text(owner, &["name"]),
            ..finalize_anything
        };
        if let Some(why) = refusal(context, &finalize)? {
            let error = format!(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers \
                 on: {why}"
            );
            return Err(forbidden(attributes, error));
        }
    }
    Ok(())
}

fn blocks(owner: &Value<'_>) -> bool {
    owner.get("blockOwnerDeletion").and_then(Value::as_bool) == Some(true)
}

fn uid<'a>(owner: &'a Value<'_>) -> &'a str {
    text(owner, &["uid"])
}

/// Why an access is denied: the reason and the error, as Go prints them; `None` where it is allowed.
fn refusal(context: &PluginContext<'_>, access: &Access<'_>) -> Result<Option<String>, Rejection> {
    match context.access.review(access) {
        AccessAnswer::Allowed => Ok(None),
        AccessAnswer::Denied { reason } => Ok(Some(format!("{reason}, <nil>"))),
        AccessAnswer::Failed { reason, error } => Ok(Some(format!("{reason}, {error}"))),
        AccessAnswer::Pending => Err(Rejection::Pending),
        AccessAnswer::Unknown => Err(MissingState::Access(Box::new(access.question())).into()),
    }
}

/// The resource of a kind.
struct MappedKind {
    group: String,
    version: String,
    resource: String,
    namespaced: bool,
}

/// Why an owner's kind has no resource.
#[derive(Debug, thiserror::Error)]
enum MappingError {
    #[error("unexpected GroupVersion string: {0}")]
    GroupVersion(String),
    #[error("no matches for kind {} in version {}", quote(kind), quote(api_version))]
    NoMatch { kind: String, api_version: String },
}

/// The resource of an owner's kind; undecided where custom resources are not known.
fn resource_of(
    context: &PluginContext<'_>,
    release: &'static Release,
    api_version: &str,
    kind: &str,
) -> Result<Result<MappedKind, MappingError>, Rejection> {
    let (group, version) = match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => {
            return Ok(Err(MappingError::GroupVersion(api_version.to_owned())));
        }
        Some(parts) => parts,
    };
    if let Some(served) = release
        .resources()
        .resource_of(&GroupVersionKind::new(group, version, kind))
    {
        return Ok(Ok(MappedKind {
            group: served.resource.group.clone(),
            version: served.resource.version.clone(),
            resource: served.resource.resource.clone(),
            namespaced: served.namespaced,
        }));
    }
    let is_built_in = !group.contains('.') || group.ends_with(".k8s.io");
    if !is_built_in {
        for definition in context
            .state
            .require_list(StateKind::CUSTOM_RESOURCE_DEFINITION, "")?
            .iter()
        {
            if text(definition, &["spec", "group"]) == group
                && text(definition, &["spec", "names", "kind"]) == kind
                && elements(definition, &["spec", "versions"])
                    .iter()
                    .any(|served| text(served, &["name"]) == version)
            {
                return Ok(Ok(MappedKind {
                    group: group.to_owned(),
                    version: version.to_owned(),
                    resource: text(definition, &["spec", "names", "plural"]).to_owned(),
                    namespaced: text(definition, &["spec", "scope"]) == "Namespaced",
                }));
            }
        }
    }
    Ok(Err(MappingError::NoMatch {
        kind: kind.to_owned(),
        api_version: api_version.to_owned(),
    }))
}
