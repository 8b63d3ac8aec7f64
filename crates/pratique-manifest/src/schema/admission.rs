//! The kinds of `admissionregistration.k8s.io`.

use super::meta::{API_VERSION, CONDITION, KIND, LABEL_SELECTOR, LIST_METADATA, METADATA};
use super::{Field, Package, Struct, TEXT, Type, omitted, optional, within, written};
use crate::kind::Kind;

/// The type of a kind's objects.
pub(crate) fn kind_type(kind: Kind) -> &'static Struct {
    match kind {
        Kind::ValidatingAdmissionPolicy => &VALIDATING_POLICY,
        Kind::ValidatingAdmissionPolicyBinding => &VALIDATING_BINDING,
        Kind::MutatingAdmissionPolicy => &MUTATING_POLICY,
        Kind::MutatingAdmissionPolicyBinding => &MUTATING_BINDING,
        Kind::ValidatingWebhookConfiguration => &VALIDATING_CONFIGURATION,
        Kind::MutatingWebhookConfiguration => &MUTATING_CONFIGURATION,
    }
}

/// The type of a kind's typed lists.
pub(crate) fn list_type(kind: Kind) -> &'static Struct {
    match kind {
        Kind::ValidatingAdmissionPolicy => &VALIDATING_POLICY_LIST,
        Kind::ValidatingAdmissionPolicyBinding => &VALIDATING_BINDING_LIST,
        Kind::MutatingAdmissionPolicy => &MUTATING_POLICY_LIST,
        Kind::MutatingAdmissionPolicyBinding => &MUTATING_BINDING_LIST,
        Kind::ValidatingWebhookConfiguration => &VALIDATING_CONFIGURATION_LIST,
        Kind::MutatingWebhookConfiguration => &MUTATING_CONFIGURATION_LIST,
    }
}

const fn api(name: &'static str, fields: &'static [Field]) -> Struct {
    Struct {
        name,
        package: Package::Api,
        fields,
    }
}

const fn list_of(name: &'static str, fields: &'static [Field]) -> Struct {
    api(name, fields)
}

const SELECTOR: Type = Type::Struct(&LABEL_SELECTOR);
const TEXTS: Type = Type::List(&TEXT);
const FAILURE_POLICY: Type = Type::Text("FailurePolicyType");
const MATCH_POLICY: Type = Type::Text("MatchPolicyType");
const REINVOCATION_POLICY: Type = Type::Text("ReinvocationPolicyType");

static VALIDATING_POLICY: Struct = api(
    "ValidatingAdmissionPolicy",
    &[
        KIND,
        API_VERSION,
        METADATA,
        written("spec", Type::Struct(&VALIDATING_POLICY_SPEC)),
        written("status", Type::Struct(&VALIDATING_POLICY_STATUS)),
    ],
);

static VALIDATING_POLICY_LIST: Struct = list_of(
    "ValidatingAdmissionPolicyList",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Struct(&VALIDATING_POLICY))),
    ],
);

static VALIDATING_POLICY_SPEC: Struct = api(
    "ValidatingAdmissionPolicySpec",
    &[
        optional("paramKind", Type::Struct(&PARAM_KIND)),
        optional("matchConstraints", Type::Struct(&MATCH_RESOURCES)),
        omitted("validations", Type::List(&Type::Struct(&VALIDATION))),
        optional("failurePolicy", FAILURE_POLICY),
        omitted("auditAnnotations", Type::List(&Type::Struct(&AUDIT_ANNOTATION))),
        omitted("matchConditions", Type::List(&Type::Struct(&MATCH_CONDITION))),
        omitted("variables", Type::List(&Type::Struct(&VARIABLE))),
    ],
);

static VALIDATING_POLICY_STATUS: Struct = api(
    "ValidatingAdmissionPolicyStatus",
    &[
        omitted("observedGeneration", Type::Int64),
        optional("typeChecking", Type::Struct(&TYPE_CHECKING)),
        omitted("conditions", Type::List(&Type::Struct(&CONDITION))),
    ],
);

static TYPE_CHECKING: Struct = api(
    "TypeChecking",
    &[omitted(
        "expressionWarnings",
        Type::List(&Type::Struct(&EXPRESSION_WARNING)),
    )],
);

static EXPRESSION_WARNING: Struct = api(
    "ExpressionWarning",
    &[written("fieldRef", TEXT), written("warning", TEXT)],
);

static PARAM_KIND: Struct = api("ParamKind", &[omitted("apiVersion", TEXT), omitted("kind", TEXT)]);

static VALIDATION: Struct = api(
    "Validation",
    &[
        written("expression", TEXT),
        omitted("message", TEXT),
        optional("reason", Type::Text("v1.StatusReason")),
        omitted("messageExpression", TEXT),
    ],
);

static VARIABLE: Struct = api("Variable", &[written("name", TEXT), written("expression", TEXT)]);

static AUDIT_ANNOTATION: Struct = api(
    "AuditAnnotation",
    &[written("key", TEXT), written("valueExpression", TEXT)],
);

static MATCH_CONDITION: Struct = api(
    "MatchCondition",
    &[written("name", TEXT), written("expression", TEXT)],
);

static VALIDATING_BINDING: Struct = api(
    "ValidatingAdmissionPolicyBinding",
    &[
        KIND,
        API_VERSION,
        METADATA,
        written("spec", Type::Struct(&VALIDATING_BINDING_SPEC)),
    ],
);

static VALIDATING_BINDING_LIST: Struct = list_of(
    "ValidatingAdmissionPolicyBindingList",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Struct(&VALIDATING_BINDING))),
    ],
);

static VALIDATING_BINDING_SPEC: Struct = api(
    "ValidatingAdmissionPolicyBindingSpec",
    &[
        omitted("policyName", TEXT),
        optional("paramRef", Type::Struct(&PARAM_REF)),
        optional("matchResources", Type::Struct(&MATCH_RESOURCES)),
        omitted("validationActions", Type::List(&Type::Text("ValidationAction"))),
    ],
);

static PARAM_REF: Struct = api(
    "ParamRef",
    &[
        omitted("name", TEXT),
        omitted("namespace", TEXT),
        optional("selector", SELECTOR),
        optional(
            "parameterNotFoundAction",
            Type::Text("ParameterNotFoundActionType"),
        ),
    ],
);

static MATCH_RESOURCES: Struct = api(
    "MatchResources",
    &[
        optional("namespaceSelector", SELECTOR),
        optional("objectSelector", SELECTOR),
        omitted("resourceRules", Type::List(&Type::Struct(&NAMED_RULE))),
        omitted("excludeResourceRules", Type::List(&Type::Struct(&NAMED_RULE))),
        optional("matchPolicy", MATCH_POLICY),
    ],
);

const RULE: &[&str] = &["Rule"];
const NAMED: &[&str] = &["RuleWithOperations"];
const NAMED_OF_RULE: &[&str] = &["RuleWithOperations", "Rule"];
const OPERATIONS: Field = omitted("operations", Type::List(&Type::Text("OperationType")));
const API_GROUPS: Field = omitted("apiGroups", TEXTS);
const API_VERSIONS: Field = omitted("apiVersions", TEXTS);
const RESOURCES: Field = omitted("resources", TEXTS);
const SCOPE: Field = optional("scope", Type::Text("ScopeType"));

static NAMED_RULE: Struct = api(
    "NamedRuleWithOperations",
    &[
        omitted("resourceNames", TEXTS),
        within(OPERATIONS, NAMED),
        within(API_GROUPS, NAMED_OF_RULE),
        within(API_VERSIONS, NAMED_OF_RULE),
        within(RESOURCES, NAMED_OF_RULE),
        within(SCOPE, NAMED_OF_RULE),
    ],
);

static RULE_WITH_OPERATIONS: Struct = api(
    "RuleWithOperations",
    &[
        OPERATIONS,
        within(API_GROUPS, RULE),
        within(API_VERSIONS, RULE),
        within(RESOURCES, RULE),
        within(SCOPE, RULE),
    ],
);

static MUTATING_POLICY: Struct = api(
    "MutatingAdmissionPolicy",
    &[
        KIND,
        API_VERSION,
        METADATA,
        written("spec", Type::Struct(&MUTATING_POLICY_SPEC)),
    ],
);

static MUTATING_POLICY_LIST: Struct = list_of(
    "MutatingAdmissionPolicyList",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Struct(&MUTATING_POLICY))),
    ],
);

static MUTATING_POLICY_SPEC: Struct = api(
    "MutatingAdmissionPolicySpec",
    &[
        optional("paramKind", Type::Struct(&PARAM_KIND)),
        optional("matchConstraints", Type::Struct(&MATCH_RESOURCES)),
        omitted("variables", Type::List(&Type::Struct(&VARIABLE))),
        omitted("mutations", Type::List(&Type::Struct(&MUTATION))),
        optional("failurePolicy", FAILURE_POLICY),
        omitted("matchConditions", Type::List(&Type::Struct(&MATCH_CONDITION))),
        omitted("reinvocationPolicy", REINVOCATION_POLICY),
    ],
);

static MUTATION: Struct = api(
    "Mutation",
    &[
        written("patchType", Type::Text("PatchType")),
        optional("applyConfiguration", Type::Struct(&APPLY_CONFIGURATION)),
        optional("jsonPatch", Type::Struct(&JSON_PATCH)),
    ],
);

static APPLY_CONFIGURATION: Struct = api("ApplyConfiguration", &[omitted("expression", TEXT)]);

static JSON_PATCH: Struct = api("JSONPatch", &[omitted("expression", TEXT)]);

static MUTATING_BINDING: Struct = api(
    "MutatingAdmissionPolicyBinding",
    &[
        KIND,
        API_VERSION,
        METADATA,
        written("spec", Type::Struct(&MUTATING_BINDING_SPEC)),
    ],
);

static MUTATING_BINDING_LIST: Struct = list_of(
    "MutatingAdmissionPolicyBindingList",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Struct(&MUTATING_BINDING))),
    ],
);

static MUTATING_BINDING_SPEC: Struct = api(
    "MutatingAdmissionPolicyBindingSpec",
    &[
        omitted("policyName", TEXT),
        optional("paramRef", Type::Struct(&PARAM_REF)),
        optional("matchResources", Type::Struct(&MATCH_RESOURCES)),
    ],
);

static VALIDATING_CONFIGURATION: Struct = api(
    "ValidatingWebhookConfiguration",
    &[
        KIND,
        API_VERSION,
        METADATA,
        omitted("webhooks", Type::List(&Type::Struct(&VALIDATING_WEBHOOK))),
    ],
);

static VALIDATING_CONFIGURATION_LIST: Struct = list_of(
    "ValidatingWebhookConfigurationList",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Struct(&VALIDATING_CONFIGURATION))),
    ],
);

static MUTATING_CONFIGURATION: Struct = api(
    "MutatingWebhookConfiguration",
    &[
        KIND,
        API_VERSION,
        METADATA,
        omitted("webhooks", Type::List(&Type::Struct(&MUTATING_WEBHOOK))),
    ],
);

static MUTATING_CONFIGURATION_LIST: Struct = list_of(
    "MutatingWebhookConfigurationList",
    &[
        KIND,
        API_VERSION,
        LIST_METADATA,
        written("items", Type::List(&Type::Struct(&MUTATING_CONFIGURATION))),
    ],
);

const HOOK_NAME: Field = written("name", TEXT);
const CLIENT_CONFIG: Field = written("clientConfig", Type::Struct(&WEBHOOK_CLIENT_CONFIG));
const HOOK_RULE: Type = Type::Struct(&RULE_WITH_OPERATIONS);
const SIDE_EFFECTS: Field = written("sideEffects", Type::Text("SideEffectClass"));
const REVIEW_VERSIONS: Field = written("admissionReviewVersions", TEXTS);

static VALIDATING_WEBHOOK: Struct = api(
    "ValidatingWebhook",
    &[
        HOOK_NAME,
        CLIENT_CONFIG,
        omitted("rules", Type::List(&HOOK_RULE)),
        optional("failurePolicy", FAILURE_POLICY),
        optional("matchPolicy", MATCH_POLICY),
        optional("namespaceSelector", SELECTOR),
        optional("objectSelector", SELECTOR),
        SIDE_EFFECTS,
        optional("timeoutSeconds", Type::Int32),
        REVIEW_VERSIONS,
        omitted("matchConditions", Type::List(&Type::Struct(&MATCH_CONDITION))),
    ],
);

static MUTATING_WEBHOOK: Struct = api(
    "MutatingWebhook",
    &[
        HOOK_NAME,
        CLIENT_CONFIG,
        omitted("rules", Type::List(&HOOK_RULE)),
        optional("failurePolicy", FAILURE_POLICY),
        optional("matchPolicy", MATCH_POLICY),
        optional("namespaceSelector", SELECTOR),
        optional("objectSelector", SELECTOR),
        SIDE_EFFECTS,
        optional("timeoutSeconds", Type::Int32),
        REVIEW_VERSIONS,
        optional("reinvocationPolicy", REINVOCATION_POLICY),
        omitted("matchConditions", Type::List(&Type::Struct(&MATCH_CONDITION))),
    ],
);

static WEBHOOK_CLIENT_CONFIG: Struct = api(
    "WebhookClientConfig",
    &[
        optional("url", TEXT),
        optional("service", Type::Struct(&SERVICE_REFERENCE)),
        omitted("caBundle", Type::Bytes),
    ],
);

static SERVICE_REFERENCE: Struct = api(
    "ServiceReference",
    &[
        written("namespace", TEXT),
        written("name", TEXT),
        optional("path", TEXT),
        optional("port", Type::Int32),
    ],
);
