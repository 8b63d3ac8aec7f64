//! The defaults of `admissionregistration.k8s.io/v1`.

use serde_json::{Map, Value as Json, json};

use crate::kind::Kind;

/// Fills in what a decoded object leaves out.
pub(crate) fn apply(kind: Kind, object: &mut Json) {
    match kind {
        Kind::ValidatingAdmissionPolicy | Kind::MutatingAdmissionPolicy => {
            if let Some(spec) = object.get_mut("spec").and_then(Json::as_object_mut) {
                set(spec, "failurePolicy", "Fail");
                match_resources(spec.get_mut("matchConstraints"));
            }
        }
        Kind::ValidatingAdmissionPolicyBinding | Kind::MutatingAdmissionPolicyBinding => {
            match_resources(object.pointer_mut("/spec/matchResources"));
        }
        Kind::ValidatingWebhookConfiguration => each(object.get_mut("webhooks"), webhook),
        Kind::MutatingWebhookConfiguration => each(object.get_mut("webhooks"), |hook| {
            webhook(hook);
            set(hook, "reinvocationPolicy", "Never");
        }),
    }
}

fn match_resources(resources: Option<&mut Json>) {
    let Some(resources) = resources.and_then(Json::as_object_mut) else {
        return;
    };
    set(resources, "matchPolicy", "Equivalent");
    set(resources, "namespaceSelector", json!({}));
    set(resources, "objectSelector", json!({}));
    each(resources.get_mut("resourceRules"), rule);
    each(resources.get_mut("excludeResourceRules"), rule);
}

fn webhook(hook: &mut Map<String, Json>) {
    set(hook, "failurePolicy", "Fail");
    set(hook, "matchPolicy", "Equivalent");
    set(hook, "namespaceSelector", json!({}));
    set(hook, "objectSelector", json!({}));
    set(hook, "timeoutSeconds", 10);
    let service = hook
        .get_mut("clientConfig")
        .and_then(|config| config.get_mut("service"));
    if let Some(service) = service.and_then(Json::as_object_mut) {
        set(service, "port", 443);
    }
    each(hook.get_mut("rules"), rule);
}

fn rule(rule: &mut Map<String, Json>) {
    set(rule, "scope", "*");
}

fn set(object: &mut Map<String, Json>, field: &str, value: impl Into<Json>) {
    if !object.contains_key(field) {
        object.insert(field.to_owned(), value.into());
    }
}

fn each(list: Option<&mut Json>, mut apply: impl FnMut(&mut Map<String, Json>)) {
    let items = list.and_then(Json::as_array_mut).into_iter().flatten();
    items.filter_map(Json::as_object_mut).for_each(&mut apply);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Kind, mut object: Json, expected: Json) {
        apply(kind, &mut object);
        assert_eq!(object, expected);
    }

    #[test]
    fn policies_and_bindings() {
        check(
            Kind::ValidatingAdmissionPolicy,
            json!({"spec": {"matchConstraints": {"resourceRules": [{}, {"scope": "Cluster"}]}}}),
            json!({"spec": {"failurePolicy": "Fail", "matchConstraints": {
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "resourceRules": [{"scope": "*"}, {"scope": "Cluster"}]}}}),
        );
        check(
            Kind::MutatingAdmissionPolicyBinding,
            json!({"spec": {}}),
            json!({"spec": {}}),
        );
    }

    #[test]
    fn webhooks() {
        check(
            Kind::MutatingWebhookConfiguration,
            json!({"webhooks": [{"clientConfig": {"service": {}}, "timeoutSeconds": 3, "failurePolicy": "Ignore"}]}),
            json!({"webhooks": [{
                "clientConfig": {"service": {"port": 443}}, "timeoutSeconds": 3, "failurePolicy": "Ignore",
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "reinvocationPolicy": "Never"}]}),
        );
    }
}
