//! How errors of fields are fixed: help for those whose text names a field only, and why there is none for others.

use pratique_types::field::{Error, ErrorKind};

/// What is said of an error beyond the server's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelpKind {
    /// What to write.
    Help(&'static str),
    /// The text of the server says what to write.
    InText,
    /// No manifest is the reason.
    OfServer,
}

/// The guidance for an error of a field.
pub(crate) fn guidance(error: &Error) -> HelpKind {
    let field = without_indices(&error.field);
    match error.kind {
        ErrorKind::Required => required(&field, &error.body),
        ErrorKind::NotSupported if field.ends_with(".reason") => HelpKind::Help(
            "the reason decides the code of the answer: Invalid (422), Forbidden (403), RequestEntityTooLarge (413); without it \
             that is Invalid",
        ),
        ErrorKind::Duplicate => HelpKind::Help("leave one of the two out, or give it another name"),
        ErrorKind::Internal => HelpKind::OfServer,
        _ => HelpKind::InText,
    }
}

/// The path of a field with its lists, but without places in them.
fn without_indices(field: &str) -> String {
    let mut text = String::new();
    for part in field.split('[') {
        match part.split_once(']') {
            Some((_, rest)) => text.push_str(rest),
            None => text.push_str(part),
        }
    }
    text
}

fn required(field: &str, body: &str) -> HelpKind {
    if body != REQUIRED {
        return HelpKind::InText;
    }
    let known = HELP_FOR_REQUIRED.iter().find(|(name, _)| {
        field
            .strip_suffix(name)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    known.map_or(HelpKind::InText, |(_, help)| HelpKind::Help(help))
}

/// A required field without more words.
const REQUIRED: &str = "Required value";

/// By the end of the path; longer ones first.
const HELP_FOR_REQUIRED: &[(&str, &str)] = &[
    (
        "paramRef.parameterNotFoundAction",
        "Deny treats requests by the failurePolicy where no param is found, Allow lets them pass without evaluation",
    ),
    (
        "paramKind.apiVersion",
        "the group and version of the params, as in v1 for a ConfigMap",
    ),
    ("paramKind.kind", "the kind of the params, as in ConfigMap"),
    ("policyName", "the metadata.name of the policy that is bound"),
    (
        "validationActions",
        "what becomes of requests for which a validation fails: Deny, Warn or Audit, or Audit with one of the others",
    ),
    (
        "reinvocationPolicy",
        "Never runs the policy once for a request, IfNeeded again if something after it has changed the object",
    ),
    (
        "patchType",
        "ApplyConfiguration, with applyConfiguration, or JSONPatch, with jsonPatch",
    ),
    (
        "jsonPatch.expression",
        "a list of operations: [JSONPatch{op: \"add\", path: \"/…\", value: …}]",
    ),
    (
        "applyConfiguration.expression",
        "an object with what is to be set: Object{spec: Object.spec{…}}",
    ),
    (
        "matchConditions.expression",
        "a CEL expression that is true for the requests that are evaluated",
    ),
    (
        "matchConditions.name",
        "any name of its own, which errors and metrics show",
    ),
    (
        "matchConstraints.resourceRules",
        "the requests that are evaluated: {apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}",
    ),
    (
        "matchConstraints",
        "the requests that are evaluated: resourceRules with apiGroups, apiVersions, resources and operations",
    ),
    (
        "failurePolicy",
        "Fail denies requests for which an expression fails, Ignore lets them pass",
    ),
    (
        "matchPolicy",
        "Equivalent also matches requests in other versions of the resource, Exact does not",
    ),
    ("namespaceSelector", "{} selects all namespaces"),
    ("objectSelector", "{} selects all objects"),
    (
        "operations",
        "one or more of CREATE, UPDATE, DELETE and CONNECT, or '*'",
    ),
    (
        "apiGroups",
        "one or more groups, as in apps; '' is that of Pods, '*' is all",
    ),
    ("apiVersions", "one or more versions, as in v1, or '*'"),
    (
        "resources",
        "one or more names in the plural, as in pods or pods/status; '*' is all without subresources",
    ),
    (
        "webhooks.name",
        "a domain of at least three segments, as in pods.policies.example.com",
    ),
    ("metadata.name", "a name of its own"),
    ("key", "the key of a label"),
    ("name", "a name"),
    ("namespace", "the namespace of the service"),
    ("path", "a path that begins with a slash"),
];

#[cfg(test)]
mod tests {
    use pratique_types::field::BadValue;

    use super::*;
    use crate::{LoadOptions, Loader, ManifestFile, Rule};

    fn error(kind: ErrorKind, field: &str, detail: &str) -> Error {
        Error::new(kind, field, &BadValue::from("a"), detail)
    }

    #[test]
    fn fields_have_their_help() {
        let help = |field: &str| guidance(&error(ErrorKind::Required, field, ""));
        assert!(
            matches!(help("spec.paramRef.parameterNotFoundAction"), HelpKind::Help(text) if text.starts_with("Deny treats"))
        );
        assert!(
            matches!(help("spec.matchConstraints.resourceRules[0].apiVersions[1]"), HelpKind::Help(text) if text.contains("versions"))
        );
        assert!(
            matches!(help("spec.matchConditions[2].name"), HelpKind::Help(text) if text.starts_with("any name"))
        );
        assert_eq!(
            guidance(&error(
                ErrorKind::Required,
                "webhooks[0].sideEffects",
                "must specify one of None"
            )),
            HelpKind::InText
        );
    }

    /// Every field that is required without more words: what is left out of manifests, and what the server says then.
    #[test]
    fn every_required_field_is_helped() {
        let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n  ";
        let mutating = policy.replace("Validating", "Mutating");
        let binding = policy.replace("Policy\n", "PolicyBinding\n");
        let hook = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks:\n- ";
        let rule = "matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}";
        let (mut helped, mut in_text) = (0, 0);
        for manifest in [
            format!("{policy}validations: [{{expression: 'true'}}]\n"),
            format!("{policy}matchConstraints: {{}}\n  validations: [{{expression: 'true'}}]\n"),
            format!(
                "{policy}matchConstraints: {{resourceRules: [{{}}]}}\n  validations: [{{expression: ''}}]\n"
            ),
            format!(
                "{policy}matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [''], resources: [''], operations: [CREATE]}}]}}\n  validations: [{{}}]\n"
            ),
            format!(
                "{policy}{rule}\n  paramKind: {{}}\n  matchConditions: [{{}}]\n  variables: [{{}}]\n  auditAnnotations: [{{}}]\n"
            ),
            format!("{policy}{rule}\n"),
            format!("{mutating}{rule}\n"),
            format!(
                "{mutating}{rule}\n  reinvocationPolicy: Never\n  mutations: [{{}}, {{patchType: JSONPatch}}, {{patchType: JSONPatch, jsonPatch: {{}}}}, {{patchType: ApplyConfiguration, applyConfiguration: {{}}}}]\n"
            ),
            format!("{binding}paramRef: {{}}\n"),
            format!("{binding}policyName: p\n  validationActions: [Deny]\n  paramRef: {{name: a}}\n"),
            format!("{hook}rules: [{{}}]\n"),
            format!(
                "{hook}name: a.b.c\n  clientConfig: {{service: {{}}}}\n  sideEffects: None\n  admissionReviewVersions: [v1]\n"
            ),
        ] {
            let file = ManifestFile {
                path: "a.yaml".to_owned(),
                content: manifest.clone().into_bytes(),
            };
            let Err(errors) = Loader::for_api(&LoadOptions::checked()).load_files(&[file]) else {
                panic!("{manifest}");
            };
            for problem in errors
                .problems()
                .filter(|problem| problem.rule == Rule::InvalidField)
            {
                let is_bare =
                    problem.message.contains(&format!("{REQUIRED},")) || problem.message.ends_with(REQUIRED);
                assert!(
                    problem.help.is_some() || !is_bare,
                    "{}\n{manifest}",
                    problem.message
                );
                helped += usize::from(problem.help.is_some());
                in_text += usize::from(problem.help.is_none());
            }
        }
        assert!(
            helped >= 25,
            "{helped} have help, and the text of {in_text} says it"
        );
    }
}
