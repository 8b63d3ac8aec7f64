//! ServiceAccount: pods run as a service account that exists, and get its token and its pull secrets.

mod secrets;
mod token;

use pratique_core::Attributes;
use pratique_json::{Object, Value};
use pratique_plugin::{MutableAttributes, PluginContext, Rejection, StateKind};
use pratique_types::{AdmissionRequest, Operation};

use super::{MIRROR_POD, is_for_pods, is_pod};
use crate::answer::{forbidden, not_found_text};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{annotation, descend_mut, elements, has_annotation, name, text};

pub(crate) use secrets::references_config_maps;
pub(crate) use secrets::references_secrets;

// Upstream: plugin/pkg/admission/serviceaccount/admission.go
pub(crate) struct ServiceAccount;

/// The account of pods that name none.
const DEFAULT_ACCOUNT: &str = "default";

/// The annotation of accounts whose pods may use the secrets that the account lists, and no others.
const ENFORCE_MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";

impl BuiltInPlugin for ServiceAccount {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let request = attributes.request;
        if !concerns(request, attributes.object()) || request.operation != Operation::Create {
            return Ok(());
        }
        if has_annotation(attributes.object(), MIRROR_POD) {
            return check_mirror_pod(&attributes.as_attributes());
        }
        if text(attributes.object(), &["spec", "serviceAccountName"]).is_empty()
            && let Some(spec) = descend_mut(attributes.object_mut(), &["spec"])
        {
            spec.insert("serviceAccountName", DEFAULT_ACCOUNT);
            // The older name of the field follows.
            spec.insert("serviceAccount", DEFAULT_ACCOUNT);
        }
        let account = account_of(&attributes.as_attributes(), context)?;
        if automounts(account, attributes.object()) {
            token::mount(attributes, context.suffix);
        }
        add_pull_secrets(attributes, account);
        check_secrets(account, &attributes.as_attributes())
    }

    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        if concerns(attributes.request, attributes.object) {
            check_account(attributes, context)
        } else {
            Ok(())
        }
    }
}

// Upstream: plugin/pkg/admission/serviceaccount/admission.go, shouldIgnore
fn concerns(request: &AdmissionRequest<'_>, object: &Value<'_>) -> bool {
    matches!(request.sub_resource.as_str(), "" | "ephemeralcontainers")
        && is_for_pods(request)
        && is_pod(object)
}

// Upstream: plugin/pkg/admission/serviceaccount/admission.go, Validate
fn check_account(attributes: &Attributes<'_>, context: &PluginContext<'_>) -> Result<(), Rejection> {
    let request = attributes.request;
    let pod = attributes.object;
    if request.operation == Operation::Update && request.sub_resource == "ephemeralcontainers" {
        let account = account_of(attributes, context)?;
        return if enforces_mountable(account) {
            // Unlike those on creation, this error has no status.
            secrets::check_ephemeral(account, pod).map_err(|error| Rejection::Error(error.to_string()))
        } else {
            Ok(())
        };
    }
    if request.operation != Operation::Create {
        return Ok(());
    }
    if has_annotation(pod, MIRROR_POD) {
        return check_mirror_pod(attributes);
    }
    check_secrets(account_of(attributes, context)?, attributes)
}

/// Checks that a pod uses only secrets that its account lists, where that is enforced.
fn check_secrets(account: &Value<'_>, attributes: &Attributes<'_>) -> Result<(), Rejection> {
    if enforces_mountable(account) {
        secrets::check_secrets(account, attributes.object)
            .map_err(|error| forbidden(attributes, error.to_string()))
    } else {
        Ok(())
    }
}

fn check_mirror_pod(attributes: &Attributes<'_>) -> Result<(), Rejection> {
    let pod = attributes.object;
    if !text(pod, &["spec", "serviceAccountName"]).is_empty() {
        return Err(forbidden(
            attributes,
            "a mirror pod may not reference service accounts",
        ));
    }
    if references_secrets(pod) {
        return Err(forbidden(attributes, "a mirror pod may not reference secrets"));
    }
    let sources = elements(pod, &["spec", "volumes"])
        .iter()
        .flat_map(|volume| elements(volume, &["projected", "sources"]));
    if sources
        .into_iter()
        .any(|source| source.get("serviceAccountToken").is_some())
    {
        Err(forbidden(
            attributes,
            "a mirror pod may not use ServiceAccountToken volume projections",
        ))
    } else {
        Ok(())
    }
}

/// The account that a pod names.
fn account_of<'s>(
    attributes: &Attributes<'_>,
    context: &PluginContext<'s>,
) -> Result<&'s Value<'s>, Rejection> {
    let namespace = &attributes.request.namespace;
    let account = text(attributes.object, &["spec", "serviceAccountName"]);
    if account.is_empty() {
        let pod = name(attributes.object);
        return Err(forbidden(
            attributes,
            format!("no service account specified for pod {namespace}/{pod}"),
        ));
    }
    let stored_account = context
        .state
        .find(StateKind::SERVICE_ACCOUNT, namespace, account)?;
    stored_account.ok_or_else(|| {
        let reason = not_found_text("", "serviceaccount", account);
        forbidden(
            attributes,
            format!("error looking up service account {namespace}/{account}: {reason}"),
        )
    })
}

// Upstream: plugin/pkg/admission/serviceaccount/admission.go, shouldAutomount
fn automounts(account: &Value<'_>, pod: &Value<'_>) -> bool {
    let of_pod = pod.at(&["spec", "automountServiceAccountToken"]);
    let of_account = account.get("automountServiceAccountToken");
    let wanted = of_pod.and_then(Value::as_bool);
    wanted
        .or_else(|| of_account.and_then(Value::as_bool))
        .unwrap_or(true)
}

// Upstream: plugin/pkg/admission/serviceaccount/admission.go, enforceMountableSecrets
fn enforces_mountable(account: &Value<'_>) -> bool {
    let value = annotation(account, ENFORCE_MOUNTABLE);
    // As strconv.ParseBool reads it.
    matches!(value, Some("1" | "t" | "T" | "TRUE" | "true" | "True"))
}

fn add_pull_secrets(attributes: &mut MutableAttributes<'_, '_>, account: &Value<'_>) {
    let of_account = elements(account, &["imagePullSecrets"]);
    if of_account.is_empty() || !elements(attributes.object(), &["spec", "imagePullSecrets"]).is_empty() {
        return;
    }
    let references = of_account.iter().map(|secret| {
        let mut reference = Object::new();
        match text(secret, &["name"]) {
            "" => {}
            name => {
                reference.insert("name", name.to_owned());
            }
        }
        Value::Object(reference)
    });
    let references: Vec<Value<'static>> = references.collect();
    if let Some(spec) = descend_mut(attributes.object_mut(), &["spec"]) {
        spec.insert("imagePullSecrets", references);
    }
}
